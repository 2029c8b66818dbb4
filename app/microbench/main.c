/* SPDX-License-Identifier: BSD-3-Clause */
/* Match engines, steps and packets timed on their own, for scripts/bench. */
#include <stdio.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "command_line.h"
#include "dpdk/eal.h"
#include "json/json_value.h"
#include "measure.h"
#include "mix.h"
#include "option_value.h"

#define MAX_ROUNDS 100000u

struct options {
	const char *capture; /* of requests that are alike, for this table set; or NULL */
	const char *set;
	const char *mix; /* of anything, for these table sets; or NULL */
	const char *tables;
	const char *functions; /* or NULL */
	enum match_kind kind;
	uint32_t rounds;
};

enum option_id {
	OPTION_SET = OPTION_OWN,
	OPTION_CAPTURE,
	OPTION_MIX,
	OPTION_TABLES,
	OPTION_FUNCTIONS,
	OPTION_MATCH,
	OPTION_ROUNDS,
};

static const struct option long_options[] = {
	{"set", required_argument, NULL, OPTION_SET},
	{"capture", required_argument, NULL, OPTION_CAPTURE},
	{"mix", required_argument, NULL, OPTION_MIX},
	{"tables", required_argument, NULL, OPTION_TABLES},
	{"functions", required_argument, NULL, OPTION_FUNCTIONS},
	{"match", required_argument, NULL, OPTION_MATCH},
	{"rounds", required_argument, NULL, OPTION_ROUNDS},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static void
print_usage(FILE *out)
{
	fprintf(out,
		"Usage: " PROGRAM " [EAL options] -- --set NAME --capture FILE [options]\n"
		"       " PROGRAM " [EAL options] -- --tables NAME[,NAME...] --mix FILE [options]\n"
		"Time, in TSC cycles for all packets of a capture, one number a round: the look-ups\n"
		"of a match engine, the same by DPDK's library alone, each step of the program, and\n"
		"whole packets through the pipeline; of packets that differ: their classification\n"
		"alone, all of the pipeline, and the swap of addresses. Prints JSON.\n"
		"\n"
		"  --set NAME      table set, for the capture's format\n"
		"  --capture FILE  requests alike but for their operands, over IPv4\n"
		"  --tables NAMES  table sets, one a format, joined by commas\n"
		"  --mix FILE      any packets\n"
		"  --functions NAMES  functions for them (netfc-tables list --functions)\n"
		"  --match ENGINE  match engine: lpm (default), hash, direct or fpu\n"
		"  --rounds N      rounds (default 21)\n"
		"  --help, --version\n"
		"\n"
		"Exit status: 0 done, 1 wrong usage, 2 a failure or a wrong result.\n");
}

static int
take_option(int id, const char *text, void *arg)
{
	struct options *options = arg;

	switch (id) {
	case OPTION_SET:
		return option_set(stderr, text, &options->set);
	case OPTION_CAPTURE:
		return option_text(stderr, "capture", text, &options->capture);
	case OPTION_MIX:
		return option_text(stderr, "mix", text, &options->mix);
	case OPTION_TABLES:
		return option_text(stderr, "tables", text, &options->tables);
	case OPTION_FUNCTIONS:
		return option_text(stderr, "functions", text, &options->functions);
	case OPTION_MATCH:
		return option_match(stderr, text, false, &options->kind);
	case OPTION_ROUNDS:
		return option_u32(stderr, "rounds", text, 1, MAX_ROUNDS, &options->rounds);
	default:
		return -1;
	}
}

/* Open what the options name, and find what is measured in it. */
static int
prepare(struct microbench *bench, const struct options *options, struct netfc_set *set)
{
	bench->kind = options->kind;
	bench->set = set;
	bench->lanes = bench->capture.packets * bench->capture.lanes;
	bench->program = netfc_set_op_program(set, bench->capture.op);
	if (netfc_format_id(netfc_set_format(set)) != bench->capture.format) {
		fprintf(stderr, PROGRAM ": --set '%s': not for the capture's format\n",
			options->set);
		return -1;
	}
	return look_ups_create(bench) != 0 ? -1 : packets_create(bench);
}

/* What is measured, as arrays of JSON with a number for each round. */
struct measured {
	json_t *bare, *look_ups, *packets;
	json_t *step[NETFC_MAX_STEPS];
};

/*
 * One round of all that can be measured. Each is run twice and timed once, as what ran before it
 * has filled the caches.
 */
static void
measure_round(struct microbench *bench, struct measured *measured)
{
	struct step_cycles cycles;

	if (can_measure_bare(bench)) {
		measure_bare(bench);
		json_array_append_new(measured->bare, json_count(measure_bare(bench)));
	}
	if (bench->has_stages) {
		measure_look_ups(bench);
		json_array_append_new(measured->look_ups, json_count(measure_look_ups(bench)));
	}
	if (bench->has_stages && packets_kernel(bench) == NULL) {
		measure_steps(bench, &cycles);
		measure_steps(bench, &cycles);
		for (unsigned int s = 0; s < bench->program->step_count; s++)
			json_array_append_new(measured->step[s], json_count(cycles.step[s]));
	}
	measure_packets(bench);
	json_array_append_new(measured->packets, json_count(measure_packets(bench)));
}

static json_t *
steps_array(const struct netfc_program *program, json_t *const *cycles)
{
	json_t *steps = json_array();

	for (unsigned int s = 0; s < program->step_count; s++)
		json_array_append_new(steps,
			json_pack("{s:s, s:b, s:o}", "what", program->step[s].what, "look_up",
				program->step[s].kind == NETFC_STEP_LOOKUP, "cycles", cycles[s]));
	return steps;
}

static json_t *
measure(struct microbench *bench, uint32_t rounds)
{
	struct measured measured = {json_array(), json_array(), json_array(), {NULL}};

	for (unsigned int s = 0; s < bench->program->step_count; s++)
		measured.step[s] = json_array();
	for (uint32_t round = 0; round < rounds; round++)
		measure_round(bench, &measured);
	return json_pack("{s:f, s:i, s:i, s:s?, s:o, s:o, s:o, s:o}", "tsc_hz",
		(double)rte_get_tsc_hz(), "packet_count", bench->capture.packets, "lanes",
		bench->lanes, "kernel", packets_kernel(bench), "bare", measured.bare, "look_ups",
		measured.look_ups, "packets", measured.packets, "steps",
		steps_array(bench->program, measured.step));
}

static enum exit_status
print(json_t *object)
{
	bool printed = object != NULL && json_dumpf(object, stdout, JSON_INDENT(2)) == 0 &&
		putchar('\n') != EOF && fflush(stdout) == 0;

	json_decref(object);
	return printed ? EXIT_DONE : EXIT_RUNNING;
}

static enum exit_status
run_capture(const struct options *options, struct microbench *bench, struct netfc_set *set)
{
	enum exit_status status = EXIT_RUNNING;

	if (prepare(bench, options, set) == 0)
		status = print(measure(bench, options->rounds));
	packets_free(bench);
	look_ups_free(bench);
	return status;
}

static json_t *
measure_mix(struct mix *mix, uint32_t rounds)
{
	json_t *classify = json_array(), *pipeline = json_array(), *reflect = json_array();

	mix_measure(mix);
	for (uint32_t round = 0; round < rounds; round++) {
		struct mix_cycles cycles = mix_measure(mix);

		json_array_append_new(classify, json_count(cycles.classify));
		json_array_append_new(pipeline, json_count(cycles.pipeline));
		json_array_append_new(reflect, json_count(cycles.reflect));
	}
	return json_pack("{s:f, s:i, s:o, s:o, s:o}", "tsc_hz", (double)rte_get_tsc_hz(),
		"packet_count", mix->packet_count, "classify", classify, "pipeline", pipeline,
		"reflect", reflect);
}

static enum exit_status
run_mix(const struct options *options)
{
	enum exit_status status = EXIT_CONFIGURATION;
	struct mix mix;

	if (mix_create(&mix, options->mix, options->tables, options->functions, options->kind) == 0)
		status = print(measure_mix(&mix, options->rounds));
	mix_free(&mix);
	return status;
}

static int
check_options(const struct options *options)
{
	bool capture = options->capture != NULL && options->set != NULL;
	bool mix = options->mix != NULL && options->tables != NULL;

	if (capture != mix)
		return 0;
	fprintf(stderr,
		PROGRAM ": either --set and --capture are needed, or --tables and --mix; try "
			"--help\n");
	return -1;
}

/* What can be wrong with a capture is said before the EAL starts. */
static int
open_inputs(const struct options *options, struct capture *capture, struct netfc_set **set)
{
	if (check_options(options) != 0)
		return -1;
	if (options->mix != NULL)
		return 0;
	if (option_build_set(stderr, options->set, set) != 0)
		return -1;
	return capture_read(options->capture, capture);
}

int
main(int argc, char **argv)
{
	struct options options = {.kind = MATCH_LPM, .rounds = 21};
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.options = long_options,
		.print_usage = print_usage,
		.take = take_option,
		.arg = &options,
	};
	enum exit_status status = EXIT_CONFIGURATION;
	struct microbench bench = {0};
	struct netfc_set *set = NULL;
	enum options_result parsed;
	int eal_argc;

	parsed = command_line_parse(&line, argc, argv, &eal_argc);
	if (parsed != OPTIONS_RUN)
		return options_exit_status(parsed);
	if (open_inputs(&options, &bench.capture, &set) == 0 &&
		eal_start(PROGRAM, eal_argc, argv) == 0) {
		status = options.mix != NULL ? run_mix(&options)
					     : run_capture(&options, &bench, set);
		rte_eal_cleanup();
	}
	capture_free(&bench.capture);
	netfc_set_free(set);
	return status;
}
