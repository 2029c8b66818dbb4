/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <time.h>

#include <rte_cycles.h>

#include "bench.h"
#include "json.h"
#include "timing/timing.h"

#define MEASUREMENTS 20
/* Between two readings of the clock. */
#define TURNS 64

/* Of this thread: time in which others had the core does not count. */
static double
seconds_of_work(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double
time_best(time_work work, void *arg, double seconds)
{
	double best = 0;

	for (unsigned int m = 0; m < MEASUREMENTS; m++) {
		double start = seconds_of_work(), spent;
		unsigned int turns = 0;

		do {
			for (unsigned int t = 0; t < TURNS; t++)
				work(arg, turns++);
			spent = seconds_of_work() - start;
		} while (spent * MEASUREMENTS < seconds);
		spent /= turns;
		best = m == 0 || spent < best ? spent : best;
	}
	return best;
}

/* Arrays of JSON with a number for each round; those that are not measured stay empty. */
struct measured {
	json_t *classify, *pipeline, *reflect, *bare, *look_ups;
	json_t *step[NETFC_MAX_STEPS];
};

static const char *
kernel_of(const struct parts *parts)
{
	return parts->set != NULL ? pipeline_kernel(parts->pipeline, parts->capture->format) : NULL;
}

static void
measure_lanes(const struct parts *parts, struct measured *measured)
{
	struct step_cycles cycles;

	if (can_measure_bare(parts)) {
		measure_bare(parts);
		json_array_append_new(measured->bare, json_count(measure_bare(parts)));
	}
	measure_look_ups(parts);
	json_array_append_new(measured->look_ups, json_count(measure_look_ups(parts)));
	if (kernel_of(parts) != NULL)
		return;
	measure_steps(parts, &cycles);
	measure_steps(parts, &cycles);
	for (unsigned int s = 0; s < parts->program->step_count; s++)
		json_array_append_new(measured->step[s], json_count(cycles.step[s]));
}

/*
 * One round of all that can be measured. Each is run twice and timed once, as what ran before it
 * has filled the caches.
 */
static void
measure_round(const struct parts *parts, struct measured *measured)
{
	struct packet_cycles cycles;

	if (parts->set != NULL && parts->has_stages)
		measure_lanes(parts, measured);
	measure_packets(parts);
	cycles = measure_packets(parts);
	json_array_append_new(measured->classify, json_count(cycles.classify));
	json_array_append_new(measured->pipeline, json_count(cycles.pipeline));
	json_array_append_new(measured->reflect, json_count(cycles.reflect));
}

static unsigned int
step_count(const struct parts *parts)
{
	return parts->set != NULL ? parts->program->step_count : 0;
}

static json_t *
steps_array(const struct parts *parts, json_t *const *cycles)
{
	json_t *steps = json_array();

	for (unsigned int s = 0; s < step_count(parts); s++) {
		const struct netfc_step *step = &parts->program->step[s];

		json_array_append_new(steps,
			json_pack("{s:s, s:b, s:o}", "what", step->what, "look_up",
				step->kind == NETFC_STEP_LOOKUP, "cycles", cycles[s]));
	}
	return steps;
}

static json_t *
measure(const struct parts *parts, uint32_t rounds)
{
	struct measured measured = {
		json_array(), json_array(), json_array(), json_array(), json_array(), {NULL}};

	for (unsigned int s = 0; s < step_count(parts); s++)
		measured.step[s] = json_array();
	for (uint32_t round = 0; round < rounds; round++)
		measure_round(parts, &measured);
	return json_pack("{s:f, s:i, s:i, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}", "tsc_hz",
		(double)rte_get_tsc_hz(), "packet_count", parts->capture->packets, "lanes",
		parts->lanes, "kernel", kernel_of(parts), "classify", measured.classify, "pipeline",
		measured.pipeline, "reflect", measured.reflect, "bare", measured.bare, "look_ups",
		measured.look_ups, "steps", steps_array(parts, measured.step));
}

/* Of uniform requests, if their format has a table set: what is measured of their lanes. */
static int
prepare_lanes(struct parts *parts, const struct embedded *embedded)
{
	const struct capture *capture = parts->capture;

	if (!capture->uniform || capture->format >= NETFC_SET_FORMAT_END)
		return 0;
	parts->set = embedded_set(embedded, capture->format);
	if (parts->set == NULL)
		return 0;
	parts->program = netfc_set_op_program(parts->set, (enum netfc_op)capture->op);
	parts->lanes = capture->packets * capture->lanes;
	return look_ups_create(parts);
}

json_t *
time_capture(const struct options *options, const struct capture *capture)
{
	const struct embedded_config config = {
		.tables = options->tables,
		.functions = options->functions,
		.match = options->match,
		.udp_port = NETFC_UDP_PORT,
	};
	struct parts parts = {.kind = options->match, .capture = capture};
	struct embedded *embedded;
	json_t *object = NULL;

	if (embedded_load(&config, &embedded) == 0 && embedded_create_pipeline(embedded) == 0) {
		parts.pipeline = embedded_pipeline(embedded);
		if (prepare_lanes(&parts, embedded) == 0 && packets_create(&parts) == 0)
			object = measure(&parts, options->rounds);
		packets_free(&parts);
		look_ups_free(&parts);
	}
	embedded_free(embedded);
	return object;
}
