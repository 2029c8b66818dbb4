/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of table sets over all pairs of operands, for scripts/evaluate. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep.h"

#define PROGRAM "netfc-errors"
#define MAX_THREADS 256

static const char usage[] =
	"Usage: " PROGRAM " [OPTION...] OP SET...\n"
	"Compare the results of table sets, all for one format, with the correctly rounded\n"
	"ones for all 2^32 pairs of operands, and print what was counted as JSON. OP is add,\n"
	"sub, mul or div. At the most 4 sets.\n"
	"\n"
	"What is correct the CPU's binary64 arithmetic says, and for a sample of the pairs\n"
	"netfc_exact(), too. Of add, a sample of x - y is compared with x + -y.\n"
	"\n"
	"      --step N     every N-th x only, with every y\n"
	"      --check N    the sample: every N-th pair (default 97; 1: all of them)\n"
	"      --threads N  default: one for each CPU that there is\n"
	"      --progress   show on stderr how far it is\n"
	"  -h, --help       print this\n"
	"\n"
	"Exit status: 0 done, 1 wrong usage, 2 failure.\n";

static int
fail(int status, const char *what, const char *why)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
	return status;
}

static enum netfc_op
op_by_name(const char *name)
{
	enum netfc_op op = NETFC_ADD;

	while (netfc_op_name(op) != NULL && strcmp(netfc_op_name(op), name) != 0)
		op++;
	return op;
}

/* A number from 1 to the greatest; 0 if the text is none. */
static uint32_t
parse_count(const char *text, uint32_t greatest)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end != '\0' || value < 1 || value > (long)greatest ? 0 : (uint32_t)value;
}

/* The exit status if the program is to end here, else -1. */
static int
parse_options(int argc, char **argv, struct sweep *sweep)
{
	static const struct option options[] = {
		{"step", required_argument, NULL, 's'},
		{"check", required_argument, NULL, 'c'},
		{"threads", required_argument, NULL, 't'},
		{"progress", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 's')
			sweep->step = parse_count(optarg, ENCODINGS);
		else if (option == 'c')
			sweep->check = parse_count(optarg, ENCODINGS);
		else if (option == 't')
			sweep->threads = parse_count(optarg, MAX_THREADS);
		else if (option == 'p')
			sweep->progress = true;
		else if (option != 'h')
			return 1;
		else
			return fputs(usage, stdout) < 0 ? 2 : 0;
	}
	if (sweep->step == 0)
		return fail(1, "--step", "expected 1 to 65536");
	if (sweep->check == 0)
		return fail(1, "--check", "expected 1 to 65536");
	return sweep->threads == 0 ? fail(1, "--threads", "expected 1 to 256") : -1;
}

static int
build_sets(struct sweep *sweep, char **names, unsigned count)
{
	for (unsigned s = 0; s < count; s++) {
		struct netfc_set *set;
		int error = netfc_set_build(names[s], &set);

		if (error != NETFC_OK)
			return fail(1, names[s], netfc_strerror(error));
		sweep->set[sweep->set_count++] = set;
		if (netfc_format_width(netfc_set_format(set)) != 16)
			return fail(1, names[s], "has too many encodings to take all pairs");
		if (netfc_set_format(set) != netfc_set_format(sweep->set[0]))
			return fail(1, names[s], "not for the first set's format");
	}
	return 0;
}

static void
free_sets(struct sweep *sweep)
{
	for (unsigned s = 0; s < sweep->set_count; s++)
		netfc_set_free(sweep->set[s]);
}

static json_t *
set_json(const struct sweep *sweep, unsigned set)
{
	static struct tally all;
	static struct kind_count kinds;
	const struct netfc_set *table_set = sweep->set[set];
	json_t *decimals = tally_json(
		&sweep->tally[set][DECIMALS], sweep->kinds.pairs[DECIMALS], table_set, sweep->op);

	memset(&all, 0, sizeof(all));
	memset(&kinds, 0, sizeof(kinds));
	for (unsigned p = 0; p < POPULATIONS; p++) {
		tally_merge(&all, &sweep->tally[set][p]);
		for (unsigned k = 0; k < KINDS; k++)
			kinds.pairs[0][k] += sweep->kinds.pairs[p][k];
	}
	return json_pack("{s:s, s:o, s:o}", "set", netfc_set_name(table_set), "all",
		tally_json(&all, kinds.pairs[0], table_set, sweep->op), "decimals", decimals);
}

static int
print_report(const struct sweep *sweep)
{
	json_t *sets = json_array(), *report;
	int written;

	for (unsigned s = 0; s < sweep->set_count; s++)
		json_array_append_new(sets, set_json(sweep, s));
	report = json_pack("{s:s, s:s, s:i, s:i, s:o}", "format",
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) sweep_run() has set them */
		netfc_format_name(sweep->numbers->format), "op", netfc_op_name(sweep->op), "step",
		(int)sweep->step, "check", (int)sweep->check, "sets", sets);
	written = report != NULL ? json_dumpf(report, stdout, JSON_COMPACT) : -1;
	json_decref(report);
	if (written != 0 || putchar('\n') == EOF || fflush(stdout) != 0)
		return fail(2, "output", "not written");
	return 0;
}

static int
run(struct sweep *sweep)
{
	static struct number_table numbers;

	number_table_fill(&numbers, netfc_set_format(sweep->set[0]));
	sweep->numbers = &numbers;
	if (sweep_run(sweep) != 0)
		return fail(2, "sweep", "no memory or thread");
	if (sweep->unexpected != 0)
		return fail(2, "sweep", "netfc_exact() has other results than the CPU");
	if (sweep->unlike != 0)
		return fail(2, "sweep", "results of x - y are not those of x + -y");
	return print_report(sweep);
}

int
main(int argc, char **argv)
{
	static struct sweep sweep = {.step = 1, .check = 97};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int status;

	sweep.threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
	status = parse_options(argc, argv, &sweep);
	if (status >= 0)
		return status;
	argc -= optind;
	argv += optind;
	if (argc < 2 || argc > 1 + MAX_SETS) {
		fputs(usage, stderr);
		return 1;
	}
	sweep.op = op_by_name(argv[0]);
	if (netfc_op_name(sweep.op) == NULL)
		return fail(1, argv[0], "expected add, sub, mul or div");
	status = build_sets(&sweep, argv + 1, (unsigned)argc - 1);
	if (status == 0)
		status = run(&sweep);
	free_sets(&sweep);
	return status;
}
