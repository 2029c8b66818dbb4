/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the switch, timed alone, for scripts/bench. */
#include <stdio.h>
#include <string.h>

#include "dpdk/eal.h"
#include "json.h"
#include "output.h"
#include "set_option.h"
#include "timing.h"

/* What is timed: bits, as options say for which of them they are. */
enum part {
	IN_MEMORY = 1,
	OF_CAPTURE = 2
};

#define FIELD(field) OPTION_FIELD(struct timing_options, field)

static const struct option_row rows[] = {
	{"time", FIELD(time), .value = "sums|tags|FILE", .scope = IN_MEMORY | OF_CAPTURE,
		.meaning = "exact sums or the tags of packets, in memory, as --aggregate says; or "
			   "the parts of the pipeline on the packets of a capture, in TSC cycles, "
			   "as JSON"},
	{"aggregate", FIELD(aggregate), .value = "[KEY=VALUE[,...]]",
		OPTION_KEYS(bench_aggregate_keys), .scope = IN_MEMORY,
		.meaning = "what is timed in memory: workers, slots (accumulators), bytes, format, "
			   "into, op, data. Keys, as netfc-bench has them:"},
	{"seconds", FIELD(seconds), OPTION_REAL_RANGE(1e-3, 3600, 0.05), .value = "S",
		.scope = IN_MEMORY, .meaning = "seconds of each measurement (default 0.05)"},
	{"match", FIELD(match), .value = "lpm|hash|direct|fpu", .preset = MATCH_LPM,
		.parse = option_match, .scope = OF_CAPTURE,
		.meaning = "match engine (default lpm)"},
	{"tables", FIELD(tables), .value = "NAME[,NAME...]", .preset_text = "fp16_k1024",
		.scope = OF_CAPTURE, .meaning = "table sets, one per format"},
	{"functions", FIELD(functions), .value = "NAME[,NAME...]", .scope = OF_CAPTURE,
		.meaning = "functions"},
	{"rounds", FIELD(rounds), OPTION_RANGE(1, 100000, 21), .value = "N", .scope = OF_CAPTURE,
		.meaning = "number of rounds, each with a number for each part"},
};

static bool
is_in_memory(const struct timing_options *options)
{
	return strcmp(options->time, TIME_SUMS) == 0 || strcmp(options->time, TIME_TAGS) == 0;
}

static int
check(const struct timing_options *options, uint64_t given)
{
	if (options->time == NULL)
		return REPORT("--time: give what is to be timed\n");
	for (unsigned int r = 0; r < RTE_DIM(rows); r++) {
		if ((given >> r & 1) != 0 &&
			(rows[r].scope & (is_in_memory(options) ? IN_MEMORY : OF_CAPTURE)) == 0)
			return REPORT("--%s: not with --time %s\n", rows[r].name, options->time);
	}
	return bench_aggregate_check(&options->aggregate);
}

static enum exit_status
time_file(const struct timing_options *options, int eal_argc, char **argv)
{
	enum exit_status status = EXIT_CONFIGURATION;
	struct capture capture;
	json_t *object;

	if (capture_read(options->time, &capture) == 0 && eal_start(eal_argc, argv) == 0) {
		object = time_capture(options, &capture);
		status = object == NULL || json_dumpf(object, stdout, JSON_INDENT(2)) != 0
			? EXIT_RUNNING
			: EXIT_DONE;
		json_decref(object);
		eal_end();
	}
	capture_free(&capture);
	return status;
}

static int
run(int argc, char **argv)
{
	static const struct option_table table = {rows, RTE_DIM(rows), 0};
	struct timing_options options = {0};
	uint64_t given;
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.summary = "Usage: " PROGRAM " [EAL options] -- --time WHAT [options]\n"
			   "Times parts of the switch alone; nothing is sent.\n\n",
		.notes = "Exit status: 0 done, 1 wrong usage or configuration, 2 a failure.\n",
		.tables = &table,
		.table_count = 1,
		.options = &options,
		.given = &given,
	};
	int eal_argc;
	enum options_result result = command_line_parse(&line, argc, argv, &eal_argc);

	if (result != OPTIONS_RUN)
		return (int)options_exit_status(result);
	if (check(&options, given) != 0)
		return EXIT_CONFIGURATION;
	if (!is_in_memory(&options))
		return (int)time_file(&options, eal_argc, argv);
	if (strcmp(options.time, TIME_TAGS) == 0)
		return time_tags(&options) == 0 ? EXIT_DONE : EXIT_RUNNING;
	return time_sums(&options) == 0 ? EXIT_DONE : EXIT_RUNNING;
}

int
main(int argc, char **argv)
{
	output_start();
	return output_finish(PROGRAM, run(argc, argv));
}
