/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of table sets over all pairs of operands, for scripts/evaluate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "tally.h"

#define PROGRAM "netfc-errors"
#define MAX_THREADS 256

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

#define FIELD(field) OPTION_FIELD(struct sweep, field)

static const struct option_row rows[] = {
	{"step", FIELD(step), OPTION_RANGE(1, ENCODINGS, 1), .value = "N",
		.meaning = "every N-th x only, with every y"},
	{"check", FIELD(check), OPTION_RANGE(1, ENCODINGS, 97), .value = "N",
		.meaning = "the sample: every N-th pair; 1: all of them"},
	{"threads", FIELD(threads), OPTION_RANGE(1, MAX_THREADS, 0), .value = "N",
		.meaning = "default: one for each CPU that there is"},
	{"progress", FIELD(progress), .meaning = "print the progress on stderr"},
};

static enum options_result
parse_options(int argc, char **argv, struct sweep *sweep, int *operands)
{
	static const struct option_table table = {rows, sizeof(rows) / sizeof(rows[0]), 0};
	uint64_t given;
	const struct command_line line = {
		.program = PROGRAM,
		.summary =
			"Usage: " PROGRAM " [OPTION...] OP SET...\n"
			"Compare the results of table sets, all for one format, with the "
			"correctly rounded\n"
			"ones for all 2^32 pairs of operands, and print what was counted as "
			"JSON. OP is add,\n"
			"sub, mul or div. At the most 4 sets.\n"
			"\n"
			"What is correct the CPU's binary64 arithmetic says, and for a sample of "
			"the pairs\n"
			"netfc_exact(), too. Of add, a sample of x - y is compared with x + "
			"-y.\n\n",
		.notes = "Exit status: 0 done, 1 wrong usage, 2 failure.\n",
		.tables = &table,
		.table_count = 1,
		.options = sweep,
		.given = &given,
	};
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	enum options_result result = command_line_parse_plain(&line, argc, argv, operands);

	if (sweep->threads == 0)
		sweep->threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
	return result;
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
	static struct sweep sweep;
	enum options_result parsed;
	int status, operands;

	parsed = parse_options(argc, argv, &sweep, &operands);
	if (parsed != OPTIONS_RUN)
		return (int)options_exit_status(parsed);
	argc -= operands;
	argv += operands;
	if (argc < 2 || argc > 1 + MAX_SETS) {
		fprintf(stderr,
			"Usage: " PROGRAM " [OPTION...] OP SET..., 1 to 4 sets; see --help\n");
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
