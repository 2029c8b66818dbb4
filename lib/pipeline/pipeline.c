/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_malloc.h>

#include "internal.h"
#include "reply.h"
#include "slots.h"
#include "template.h"

struct pipeline_worker {
	struct pipeline_counters counters;
	const struct pipeline *pipeline;
	struct template template;
	struct classified classified;
	struct batches batches;
} __rte_cache_aligned;

struct pipeline_worker *
pipeline_worker_create(const struct pipeline *pipeline, int socket_id)
{
	struct pipeline_worker *worker;

	worker = rte_zmalloc_socket(
		"pipeline_worker", sizeof(*worker), RTE_CACHE_LINE_SIZE, socket_id);
	if (worker == NULL)
		return NULL;
	worker->pipeline = pipeline;
	template_clear(&worker->template);
	batch_clear(&worker->batches);
	return worker;
}

void
pipeline_worker_free(struct pipeline_worker *worker)
{
	rte_free(worker);
}

const struct pipeline_counters *
pipeline_worker_counters(const struct pipeline_worker *worker)
{
	return &worker->counters;
}

static struct batch_plan
make_plan(const struct pipeline *pipeline, const struct gathered *gathered)
{
	const unsigned int differ = gathered_differ(gathered);
	/* An upper bound of the groups in this burst. */
	const unsigned int groups =
		RTE_MIN(1u << __builtin_popcount(differ), pipeline->gathered_groups);

	if (differ == 0)
		return (struct batch_plan){NULL, BATCH_ALONE};
	if (pipeline->mixed != NULL && gathered->lanes <= groups * pipeline->group_lanes)
		return (struct batch_plan){pipeline->mixed, 0};
	return (struct batch_plan){NULL, differ & 1 ? pipeline->part_bits : BATCH_ALONE};
}

/* Requests of few lanes, gathered. Returns their exceptions. */
static uint64_t
compute_gathered(struct pipeline_worker *worker, struct classified *classified)
{
	const struct pipeline *pipeline = worker->pipeline;
	const struct batch_plan plan = make_plan(pipeline, &classified->gathered);

	return pipeline->compute_gathered(
		&worker->batches, classified, &pipeline->groups, plan, &worker->counters.lanes);
}

/* Whether a gate lets a request in; if not, its frame says so. */
static bool
is_admitted(const struct pipeline_gate *gate, struct rte_mbuf *mbuf, struct frame *frame)
{
	if (gate->admit(gate->context, mbuf, frame))
		return true;
	frame->answered = false;
	frame->refused = true;
	return false;
}

/* Take the requests of a class that the gate does not let in off its list. */
static void
admit_class(const struct pipeline_gate *gate, struct rte_mbuf **mbufs, struct frame *frames,
	struct classified *classified, enum packet_class class)
{
	const unsigned int count = classified->count[class];
	uint8_t *packet = classified->packet[class];
	unsigned int kept = 0;

	for (unsigned int p = 0; p < count; p++) {
		if (is_admitted(gate, mbufs[packet[p]], &frames[packet[p]]))
			packet[kept++] = packet[p];
	}
	classified->count[class] = kept;
	/* What is known of all that are gathered still holds; but they are not the first ones. */
	if (kept < count)
		classified->uniform = 0;
}

static __rte_noinline void
admit(const struct pipeline_gate *gate, struct rte_mbuf **mbufs, struct frame *frames,
	struct classified *classified)
{
	for (enum packet_class class = CLASS_SINGLE; class < CLASSES; class ++)
		admit_class(gate, mbufs, frames, classified, class);
}

/* The packets that the fast path cannot handle. Returns their exceptions. */
static uint64_t
run_slow_path(struct pipeline_worker *worker, const struct pipeline_gate *gate,
	struct rte_mbuf **mbufs, struct frame *frames, const struct classified *classified)
{
	struct pipeline_counters *counters = &worker->counters;
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[CLASS_SLOW]; p++) {
		const unsigned int packet = classified->packet[CLASS_SLOW][p];
		struct slow_path_result result;

		frame_parse(mbufs[packet], &frames[packet]);
		if (gate != NULL &&
			slow_path_is_request(
				&worker->pipeline->slow_path, mbufs[packet], &frames[packet]) &&
			!is_admitted(gate, mbufs[packet], &frames[packet]))
			continue;
		result =
			slow_path_run(&worker->pipeline->slow_path, mbufs[packet], &frames[packet]);
		if (!result.answered)
			continue;
		counters->netfc_packets++;
		counters->errors[result.code]++;
		counters->lanes += result.lanes;
		if (result.lanes > 0 && result.op > NETFC_DIV)
			counters->extended[result.op]++;
		exceptions += flags_spread(result.flags);
	}
	return exceptions;
}

static void
count_exceptions(struct pipeline_counters *counters, uint64_t exceptions)
{
	for (unsigned int bit = 0; bit < RTE_DIM(counters->exceptions); bit++)
		counters->exceptions[bit] += exceptions >> 16 * bit & UINT16_MAX;
}

void
pipeline_process(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	pipeline_process_admitted(worker, NULL, mbufs, frames, count);
}

void
pipeline_process_admitted(struct pipeline_worker *worker, const struct pipeline_gate *gate,
	struct rte_mbuf **mbufs, struct frame *frames, uint16_t count)
{
	struct pipeline_counters *counters = &worker->counters;
	struct classified *classified = &worker->classified;
	uint64_t exceptions = 0;
	unsigned int gathered, in_place;

	template_classify(
		&worker->template, &worker->pipeline->classifier, mbufs, frames, count, classified);
	if (gate != NULL)
		admit(gate, mbufs, frames, classified);
	gathered = classified->count[CLASS_SINGLE] + classified->count[CLASS_LANES_8] +
		classified->count[CLASS_LANES_16];
	in_place = classified->count[CLASS_IN_PLACE];
	counters->netfc_packets += gathered + in_place;
	counters->errors[NETFC_STATUS_OK] += gathered + in_place;
	if (gathered > 0)
		exceptions = compute_gathered(worker, classified);
	if (in_place > 0)
		exceptions += in_place_run(&worker->pipeline->groups, classified, frames, counters);
	exceptions += run_slow_path(worker, gate, mbufs, frames, classified);
	count_exceptions(counters, exceptions);
}

uint32_t
pipeline_query_destination(struct rte_mbuf *mbuf, const struct frame *frame)
{
	const uint32_t offset = frame_payload_offset(frame) + (uint32_t)sizeof(struct netfc_hdr);
	const slot16 *address;
	uint16_t copy[2];

	/* x holds the high half, y the low one. */
	address = rte_pktmbuf_read(mbuf, offset, sizeof(copy), copy);
	return (uint32_t)rte_be_to_cpu_16(address[0]) << 16 | rte_be_to_cpu_16(address[1]);
}

void
pipeline_answer_query(struct pipeline_worker *worker, struct rte_mbuf *mbuf, struct frame *frame,
	const struct pipeline_answer *answer)
{
	slow_path_answer_query(mbuf, frame, answer);
	worker->counters.netfc_packets++;
	worker->counters.errors[NETFC_STATUS_OK]++;
}
