/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "slow_path.h"

/* A batch of whole lanes at a time, which is a packet of its own. */
static void
compute(const struct group *group, struct request *request)
{
	const uint32_t slot_bytes = netfc_wire_slot_bytes(request->op, request->format);
	uint32_t lanes = request->count;
	uint16_t slots[3 * NETFC_BATCH];

	for (uint32_t first = 0; first < request->words; first += NETFC_BATCH) {
		const uint32_t words = RTE_MIN(request->words - first, (uint32_t)NETFC_BATCH);
		const uint32_t space = words * (uint32_t)sizeof(*slots) / slot_bytes;
		struct vector_packet batch = {
			.slots = (uint8_t *)slots, .count = RTE_MIN(lanes, space)};

		request_read(request, REQUEST_X, first, slots, words);
		request_read(request, REQUEST_Y, first, slots + words, words);
		request_read(request, REQUEST_Z, first, slots + 2 * words, words);
		vector_run_packets(group->kernel, group->op, &batch, 1);
		request_write(request, first, slots + 2 * words, words);
		request->flags |= batch.flags;
		lanes -= batch.count;
	}
}

_Static_assert(NETFC_NAME_LANES * 2 * sizeof(uint16_t) == NETFC_FUNCTION_NAME_SIZE,
	"a name fits into x and y");

/* The number of the operation that is named, in the first z; the code of the reply. */
static enum netfc_status
answer_name(const struct groups *groups, struct request *request)
{
	uint16_t words[2 * NETFC_NAME_LANES];
	char name[NETFC_FUNCTION_NAME_SIZE];
	uint8_t op;
	rte_be16_t z;

	request_read(request, REQUEST_X, 0, words, NETFC_NAME_LANES);
	request_read(request, REQUEST_Y, 0, words + NETFC_NAME_LANES, NETFC_NAME_LANES);
	memcpy(name, words, sizeof(name));
	op = groups_find(groups, name);
	if (op == 0)
		return NETFC_STATUS_OP;
	if (groups_number(groups, request->format, op) == 0)
		return NETFC_STATUS_FORMAT;
	z = rte_cpu_to_be_16(op);
	request_write(request, 0, &z, 1);
	return NETFC_STATUS_OK;
}

/* A request without an error; returns the code of its reply. */
static enum netfc_status
answer(const struct groups *groups, struct request *request, uint32_t *lanes)
{
	const uint16_t number = groups_number(groups, request->format, request->op);

	if (request->op == NETFC_OP_NAME)
		return answer_name(groups, request);
	compute(&groups->group[number], request);
	*lanes = request->count;
	return NETFC_STATUS_OK;
}

struct slow_path_result
slow_path_run(const struct slow_path *slow_path, struct rte_mbuf *mbuf, struct frame *frame)
{
	struct slow_path_result result = {.code = NETFC_STATUS_OK};
	struct request request;
	int code;

	frame_parse(mbuf, frame);
	frame->netfc_port = frame->udp && frame->udp_port == slow_path->udp_port;
	code = request_parse(mbuf, frame, slow_path->groups, &request);
	if (code < 0)
		return result;
	if (code == NETFC_STATUS_QUERY && slow_path->queries && request.count == 1) {
		frame->query = true;
		return result;
	}
	frame->answered = result.answered = true;
	result.code = (enum netfc_status)code;
	result.op = request.op;
	if (code == NETFC_STATUS_OK)
		result.code = answer(slow_path->groups, &request, &result.lanes);
	result.flags = request.flags;
	request_finish(&request, result.code);
	return result;
}
