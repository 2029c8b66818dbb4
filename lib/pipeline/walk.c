/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

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

/* The lanes of a further group: a batch, which holds whole ones, is a packet of its own. */
static void
compute_further(const struct further_kernel *kernel, struct request *request)
{
	const uint32_t words_a_lane = request->words / request->count;
	uint16_t slots[3 * NETFC_BATCH];

	for (uint32_t first = 0; first < request->words; first += NETFC_BATCH) {
		const uint32_t count = RTE_MIN(request->words - first, (uint32_t)NETFC_BATCH);
		struct vector_packet batch = {
			.slots = (uint8_t *)slots, .count = count / words_a_lane};

		request_read_lanes(request, first, slots, slots + count, count);
		request_read_results(request, first, slots + 2 * count, count);
		further_run(kernel, &batch);
		request_write_results(request, first, slots + 2 * count, count);
		request->flags |= batch.flags;
	}
}

_Static_assert(NETFC_NAME_LANES * 2 * sizeof(uint16_t) == NETFC_FUNCTION_NAME_SIZE,
	"a name fits into x and y");

/* The number of the operation that is named, in the first z; the code of the reply. */
static enum netfc_status
answer_name(const struct further_groups *further, struct request *request)
{
	uint16_t x[NETFC_NAME_LANES], y[NETFC_NAME_LANES];
	char name[NETFC_FUNCTION_NAME_SIZE];
	uint8_t number;
	rte_be16_t z;

	request_read_lanes(request, 0, x, y, NETFC_NAME_LANES);
	memcpy(name, x, sizeof(x));
	memcpy(name + sizeof(x), y, sizeof(y));
	number = further_find(further, name);
	if (number == 0)
		return NETFC_STATUS_OP;
	if (further_group(further, request->format, number) == 0)
		return NETFC_STATUS_FORMAT;
	z = rte_cpu_to_be_16(number);
	request_write_results(request, 0, &z, 1);
	return NETFC_STATUS_OK;
}

/* Requests that are right. Returns how many lanes have been computed. */
static uint32_t
compute_any(const struct walk *walk, struct request *request, struct netfc_lanes *lanes)
{
	const uint16_t group = further_group(&walk->further, request->format, request->op);

	if (group == 0)
		compute(walk, request, lanes);
	else
		compute_further(walk->further.kernel[group - GROUPS], request);
	return request->count;
}

struct walked
walk_packet(const struct walk *walk, struct rte_mbuf *mbuf, struct frame *frame,
	struct netfc_lanes *lanes)
{
	struct walked walked = {.code = NETFC_STATUS_OK};
	struct request request;
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
	if (code == NETFC_STATUS_OK && request.op == NETFC_OP_NAME)
		walked.code = answer_name(&walk->further, &request);
	else if (code == NETFC_STATUS_OK)
		walked.lanes = compute_any(walk, &request, lanes);
	walked.flags = request.flags;
	request_finish(&request, walked.code);
	return walked;
}
