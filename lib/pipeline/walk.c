/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "walk.h"

/* Compute a request's lanes, a batch at a time. */
static void
compute(const struct walk *walk, struct request *request, struct netfc_lanes *lanes)
{
	const struct group *group = &walk->group[group_index(request->format, request->op)];
	uint16_t x[NETFC_BATCH], y[NETFC_BATCH], z[NETFC_BATCH];
	uint8_t flags[NETFC_BATCH];

	for (uint32_t first = 0; first < request->count; first += NETFC_BATCH) {
		const uint32_t count = RTE_MIN(request->count - first, (uint32_t)NETFC_BATCH);

		request_read_lanes(request, first, x, y, count);
		group_run(group, lanes, x, y, z, flags, count);
		request_write_lanes(request, first, z, flags, count);
	}
}

/* The lanes of a further operation: a batch is a packet of its own. */
static void
compute_further(const struct further_kernel *kernel, struct request *request)
{
	uint16_t slots[3 * NETFC_BATCH];

	for (uint32_t first = 0; first < request->count; first += NETFC_BATCH) {
		const uint32_t count = RTE_MIN(request->count - first, (uint32_t)NETFC_BATCH);
		struct vector_packet batch = {.slots = (uint8_t *)slots, .count = count};

		request_read_lanes(request, first, slots, slots + count, count);
		request_read_results(request, first, slots + 2 * count, count);
		further_run(kernel, &batch);
		request_write_results(request, first, slots + 2 * count, count);
		request->flags |= batch.flags;
	}
}

struct walked
walk_packet(const struct walk *walk, struct rte_mbuf *mbuf, struct frame *frame,
	struct netfc_lanes *lanes)
{
	struct walked walked = {.code = NETFC_STATUS_OK};
	struct request request;
	uint16_t group;
	int code;

	frame_parse(mbuf, frame);
	frame->netfc_port = frame->udp && frame->udp_port == walk->udp_port;
	code = request_parse(mbuf, frame, walk->udp_port, walk->loaded, &walk->further, &request);
	if (code < 0)
		return walked;
	if (code == NETFC_STATUS_QUERY && walk->queries && request.count == 1) {
		frame->query = true;
		return walked;
	}
	frame->answered = walked.answered = true;
	walked.code = (enum netfc_status)code;
	walked.op = request.op;
	if (code == NETFC_STATUS_OK) {
		group = further_group(&walk->further, request.format, request.op);
		if (group == 0)
			compute(walk, &request, lanes);
		else
			compute_further(walk->further.kernel[group - GROUPS], &request);
		walked.lanes = request.count;
		walked.flags = request.flags;
	}
	request_finish(&request, walked.code);
	return walked;
}
