/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the pipeline, on the packets of a capture. */
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "classify.h"
#include "dpdk/eal.h"
#include "dpdk/reflect.h"
#include "embedded.h"
#include "json.h"
#include "timing.h"

/* ---- whole packets --------------------------------------------------------------------------- */

/* Cycles of one pass. */
struct packet_cycles {
	uint64_t classify; /* what pipeline_process() begins with */
	uint64_t pipeline; /* pipeline_process(), classification included */
	uint64_t reflect;  /* addresses swapped */
};

/* A burst as it came, written just now, as by a device that puts packets into the cache. */
static void
restore(const struct parts *parts, uint32_t first, uint16_t count)
{
	const struct capture *capture = parts->capture;

	for (uint16_t p = 0; p < count; p++) {
		const uint16_t length = capture->length[first + p];

		rte_pktmbuf_reset(parts->burst[p]);
		memcpy(rte_pktmbuf_append(parts->burst[p], length),
			capture_frame(capture, first + p), length);
	}
}

static uint64_t
measure_classify(const struct parts *parts, uint16_t count)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	struct classified classified;
	uint64_t start;

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	start = rte_rdtsc_precise();
	classified_clear(&classified);
	classify(pipeline_classifier(parts->pipeline), mbufs, frames, 0, count, &classified);
	return rte_rdtsc_precise() - start;
}

static uint16_t
burst_size(const struct parts *parts, uint32_t first)
{
	return (uint16_t)RTE_MIN(parts->capture->packets - first, (uint32_t)PIPELINE_BURST);
}

static struct packet_cycles
measure_packets(const struct parts *parts)
{
	struct packet_cycles cycles = {0, 0, 0};
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	for (uint32_t first = 0; first < parts->capture->packets; first += PIPELINE_BURST) {
		const uint16_t count = burst_size(parts, first);
		uint64_t start, computed;

		restore(parts, first, count);
		cycles.classify += measure_classify(parts, count);
		restore(parts, first, count);
		start = rte_rdtsc_precise();
		pipeline_process(parts->worker, mbufs, frames, count);
		computed = rte_rdtsc_precise();
		reflect(mbufs, frames, count);
		cycles.pipeline += computed - start;
		cycles.reflect += rte_rdtsc_precise() - computed;
	}
	return cycles;
}

/* What must be computed: the table set's result, or, without tables, the correctly rounded one. */
static uint32_t
expected(const struct parts *parts, size_t lane)
{
	const struct capture *capture = parts->capture;
	const enum netfc_op op = (enum netfc_op)capture->op;
	const uint32_t x = capture->x[lane], y = capture->y[lane];

	if (parts->has_stages)
		return netfc_calc(parts->set, op, x, y).z;
	return netfc_exact(netfc_set_format(parts->set), op, x, y).z;
}

/* The status and the lanes of a packet that has been through the pipeline. */
static bool
is_computed(const struct parts *parts, uint32_t packet, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint32_t lanes = parts->capture->lanes;

	if (capture_status(frame) >> NETFC_STATUS_CODE_SHIFT !=
		NETFC_STATUS_REPLY >> NETFC_STATUS_CODE_SHIFT)
		return false;
	for (uint32_t l = 0; l < lanes; l++)
		if (capture_result(parts->capture, frame, l) !=
			expected(parts, (size_t)packet * lanes + l))
			return false;
	return true;
}

static int
check_results(const struct parts *parts)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	for (uint32_t first = 0; first < parts->capture->packets; first += PIPELINE_BURST) {
		const uint16_t count = burst_size(parts, first);

		restore(parts, first, count);
		pipeline_process(parts->worker, mbufs, frames, count);
		for (uint16_t p = 0; p < count; p++) {
			if (is_computed(parts, first + p, mbufs[p]))
				continue;
			return REPORT("--time: the pipeline computes other results than it "
				      "must\n");
		}
	}
	return 0;
}

/* Make buffers, and see that results are right. */
static int
packets_create(struct parts *parts)
{
	parts->worker = pipeline_worker_create(parts->pipeline, SOCKET_ID_ANY);
	parts->pool = ethdev_pool_create("packets", 2 * MBUF_CACHE,
		RTE_PKTMBUF_HEADROOM + CAPTURE_FRAME_BYTES, rte_socket_id());
	if (parts->worker == NULL || parts->pool == NULL ||
		rte_pktmbuf_alloc_bulk(parts->pool, parts->burst, PIPELINE_BURST) != 0)
		return REPORT("--time: no memory; give the EAL more (-m MB)\n");
	return parts->set != NULL ? check_results(parts) : 0;
}

static void
packets_free(struct parts *parts)
{
	if (parts->burst[0] != NULL)
		rte_pktmbuf_free_bulk(parts->burst, PIPELINE_BURST);
	rte_mempool_free(parts->pool);
	pipeline_worker_free(parts->worker);
}

/* ---- all that can be measured ---------------------------------------------------------------- */

/* Arrays of JSON with a number for each round; those that are not measured stay empty. */
struct measured {
	json_t *classify, *pipeline, *reflect, *bare, *look_ups;
	json_t *step[NETFC_MAX_STEPS];
};

static const char *
kernel_of(const struct parts *parts)
{
	return parts->set != NULL
		? pipeline_describe_kernel(parts->pipeline, parts->capture->format)
		: NULL;
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
time_capture(const struct timing_options *options, const struct capture *capture)
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
