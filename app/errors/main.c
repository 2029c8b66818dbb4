/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of table sets over all pairs of operands, for scripts/evaluate. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "output.h"
#include "tally.h"

/*
 * A sweep over all pairs of operands, a row for each x. Every result of every set is computed from
 * its tables and compared with the correctly rounded one.
 */

/* Maximum number of sets in a sweep. */
#define MAX_SETS 4

/* Input and results of a sweep. */
struct sweep {
	const struct number_table *numbers;
	enum netfc_op op;
	uint32_t step; /* 1: every x; n: every n-th */
	/*
	 * Every n-th expected result of a row is compared with netfc_exact(), starting at another
	 * one in each row. In every n-th row of sums the differences are compared, too.
	 */
	uint32_t check;
	unsigned set_count;
	struct netfc_set *set[MAX_SETS]; /* all for the format of `numbers` */
	unsigned threads;
	bool progress;           /* whether to show it on stderr */
	struct kind_count kinds; /* of all pairs */
	struct tally tally[MAX_SETS][POPULATIONS];
	uint64_t unexpected; /* expected results that differ from netfc_exact(); must be 0 */
	uint64_t unlike;     /* differences x - y that differ from x + -y; must be 0 */
};

/* A thread's share: every `threads`-th row, and what it counts. */
struct share {
	pthread_t thread;
	struct sweep *sweep;
	uint32_t first;
	struct reference reference;
	struct row row;
	uint16_t z[ENCODINGS], difference[ENCODINGS];
	struct kind_count kinds;
	uint64_t unexpected, unlike;
	struct misses misses[MAX_SETS];
};

static void
check_expected(struct share *share, uint32_t number)
{
	const struct sweep *sweep = share->sweep;
	const struct row *row = &share->row;

	for (uint32_t y = number % sweep->check; y < ENCODINGS; y += sweep->check)
		share->unexpected += row->expected[y] !=
			netfc_exact(sweep->numbers->format, sweep->op, row->x[y], (uint16_t)y).z;
}

/* Over all pairs, differences are the same as sums if x - y equals x + -y. */
static void
check_differences(struct share *share, const struct netfc_set *set)
{
	const struct row *row = &share->row;

	netfc_compute(set, NETFC_SUB, row->x, row->y, share->difference, NULL, ENCODINGS);
	for (uint32_t y = 0; y < ENCODINGS; y++) {
		uint16_t negated = netfc_negate(share->sweep->numbers->format, (uint16_t)y);

		share->unlike += share->difference[y] != share->z[negated];
	}
}

static void
run_row(struct share *share, uint16_t x, uint32_t number)
{
	const struct sweep *sweep = share->sweep;
	struct row *row = &share->row;

	row_fill(row, &share->reference, x, &share->kinds);
	check_expected(share, number);
	for (unsigned s = 0; s < sweep->set_count; s++) {
		netfc_compute(sweep->set[s], sweep->op, row->x, row->y, share->z, NULL, ENCODINGS);
		misses_count(&share->misses[s], row, share->z);
		if (sweep->op == NETFC_ADD && number % sweep->check == 0)
			check_differences(share, sweep->set[s]);
	}
}

static void
show_progress(const struct share *share, uint32_t x)
{
	if (share->sweep->progress && share->first == 0)
		fprintf(stderr, "%u %%\n", 100 * x / ENCODINGS);
}

static void *
run_share(void *arg)
{
	struct share *share = arg;
	const struct sweep *sweep = share->sweep;
	uint32_t number = 0;

	for (uint32_t x = 0; x < ENCODINGS; x += sweep->step, number++) {
		if (number % sweep->threads != share->first)
			continue;
		run_row(share, (uint16_t)x, number);
		if (number % 128 == 0)
			show_progress(share, x);
	}
	for (unsigned s = 0; s < sweep->set_count; s++)
		misses_finish(&share->misses[s]);
	return NULL;
}

static void
merge(struct sweep *sweep, const struct share *share)
{
	for (unsigned s = 0; s < sweep->set_count; s++) {
		for (unsigned p = 0; p < POPULATIONS; p++)
			tally_merge(&sweep->tally[s][p], &share->misses[s].tally[p]);
	}
	kind_count_merge(&sweep->kinds, &share->kinds);
	sweep->unexpected += share->unexpected;
	sweep->unlike += share->unlike;
}

static void
start_share(struct share *share, struct sweep *sweep, const struct miss_losses *losses)
{
	share->sweep = sweep;
	reference_init(&share->reference, sweep->numbers, sweep->op);
	for (unsigned s = 0; s < sweep->set_count; s++) {
		share->misses[s].numbers = sweep->numbers;
		share->misses[s].losses = losses;
	}
}

static int
run_shares(struct sweep *sweep, struct share *share, const struct miss_losses *losses)
{
	unsigned started = 0;

	for (; started < sweep->threads; started++) {
		start_share(&share[started], sweep, losses);
		share[started].first = started;
		if (pthread_create(&share[started].thread, NULL, run_share, &share[started]) != 0)
			break;
	}
	for (unsigned t = 0; t < started; t++) {
		pthread_join(share[t].thread, NULL);
		merge(sweep, &share[t]);
	}
	return started == sweep->threads ? 0 : -1;
}

/* Run the sweep. 0, or -1 if memory or a thread could not be had. */
static int
sweep_run(struct sweep *sweep)
{
	struct share *share = calloc(sweep->threads, sizeof(*share));
	struct miss_losses *losses = calloc(1, sizeof(*losses));
	int error = -1;

	if (share != NULL && losses != NULL) {
		miss_losses_fill(losses, sweep->numbers);
		error = run_shares(sweep, share, losses);
	}
	free(losses);
	free(share);
	return error;
}

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
		return fail(2, "cannot write to standard output", strerror(errno));
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

static int
run_program(int argc, char **argv)
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

int
main(int argc, char **argv)
{
	output_start();
	return output_finish(PROGRAM, run_program(argc, argv));
}
