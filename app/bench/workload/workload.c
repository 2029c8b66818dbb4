/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "bench.h"
#include "encoding.h"
#include "workload/workload.h"

/* Requests made of random operands; fewer if they are so long that they would take too much memory.
 */
#define REQUESTS 4096
#define DRAWN_BYTES (UINT64_C(64) << 20)
#define MAX_BYTES (UINT64_C(1) << 30)

/* Frame and reply of a request are on cache lines of their own. */
static size_t
frame_bytes(const struct workload *workload)
{
	return RTE_ALIGN_CEIL(workload->frame_length, RTE_CACHE_LINE_SIZE);
}

static size_t
bytes_per_request(const struct workload *workload)
{
	return frame_bytes(workload) +
		RTE_ALIGN_CEIL(workload->payload_length, RTE_CACHE_LINE_SIZE);
}

static void
choose_sizes(struct workload *workload, const struct options *options, const struct netfc_set *set)
{
	const unsigned int format = netfc_format_id(netfc_set_format(set));

	workload->slot_bytes = netfc_wire_slot_bytes(options->op, format);
	workload->operand_bytes = netfc_wire_operand_bytes(options->op, format, options->lanes);
	workload->flow = options->flow;
	workload->lanes = options->lanes;
	workload->payload_offset = flow_payload_offset(&options->flow);
	workload->payload_length = (uint32_t)sizeof(struct netfc_hdr) + 3 * workload->operand_bytes;
	workload->frame_length = workload->payload_offset + workload->payload_length;
}

static unsigned int
op_count(const struct options *options)
{
	return options->op != 0 ? 1u : NETFC_DIV;
}

/* How many pairs to draw: each is used with every operation. */
static size_t
pairs_wanted(const struct workload *workload, const struct options *options)
{
	size_t requests = RTE_MIN((size_t)REQUESTS, DRAWN_BYTES / bytes_per_request(workload));

	return RTE_MAX(requests / op_count(options), 1u) * workload->lanes;
}

static int
allocate(struct workload *workload, const struct operands *operands, unsigned int ops)
{
	uint64_t groups = (operands->count + workload->lanes - 1) / workload->lanes;
	uint64_t requests = groups * ops, bytes = requests * bytes_per_request(workload);

	if (bytes > MAX_BYTES)
		return REPORT("%zu pairs of operands are too many: %" PRIu64
			      " MiB of packets, %" PRIu64 " at most\n",
			operands->count, bytes >> 20, MAX_BYTES >> 20);
	workload->count = (uint32_t)requests;
	workload->requests = calloc(requests, sizeof(*workload->requests));
	workload->bytes = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	if (workload->requests == NULL || workload->bytes == NULL)
		return REPORT("no memory for %" PRIu64 " requests\n", requests);
	memset(workload->bytes, 0, bytes);
	return 0;
}

/* The lanes of one request, while it is made. */
struct scratch {
	uint32_t *x, *y, *z;
};

static int
scratch_allocate(struct scratch *scratch, uint32_t lanes)
{
	scratch->x = calloc(3 * (size_t)lanes, sizeof(*scratch->x));
	if (scratch->x == NULL)
		return REPORT("out of memory\n");
	scratch->y = scratch->x + lanes;
	scratch->z = scratch->y + lanes;
	return 0;
}

static void
write_slots(const struct workload *workload, uint8_t *slots, const uint32_t *values, uint32_t flip)
{
	const uint32_t width = workload->slot_bytes;

	for (uint32_t l = 0; l < workload->lanes; l++) {
		rte_be32_t value = rte_cpu_to_be_32((values[l] ^ flip) << (32 - 8 * width));

		memcpy(slots + (size_t)l * width, &value, width);
	}
}

static void
write_payload(const struct workload *workload, uint8_t *payload, uint8_t op, uint8_t status,
	const struct scratch *scratch, uint32_t flip_z)
{
	uint32_t lanes = workload->lanes;
	const struct netfc_hdr header = {
		.magic = RTE_BE16(NETFC_MAGIC),
		.version = NETFC_WIRE_VERSION,
		.op = op,
		.format = (uint8_t)netfc_format_id(netfc_set_format(workload->set)),
		.status = status,
		.count = rte_cpu_to_be_16((uint16_t)lanes),
	};
	const size_t slots_bytes = workload->operand_bytes;
	uint8_t *slots = payload + sizeof(header);

	memcpy(payload, &header, sizeof(header));
	write_slots(workload, slots, scratch->x, 0);
	write_slots(workload, slots + slots_bytes, scratch->y, 0);
	write_slots(workload, slots + 2 * slots_bytes, scratch->z, flip_z);
}

/* By the tables; returns the flags of all lanes. */
static uint8_t
compute_by_tables(const struct workload *workload, enum netfc_op op, const struct scratch *scratch)
{
	struct netfc_result answers[NETFC_BATCH];
	uint8_t flags = 0;

	for (uint32_t first = 0; first < workload->lanes; first += NETFC_BATCH) {
		const uint32_t count = RTE_MIN(workload->lanes - first, (uint32_t)NETFC_BATCH);

		compute_lanes(
			workload->set, op, scratch->x + first, scratch->y + first, answers, count);
		for (uint32_t l = 0; l < count; l++) {
			scratch->z[first + l] = answers[l].z;
			flags |= answers[l].flags;
		}
	}
	return flags;
}

/* Of min, max and compare, or a function. */
static struct netfc_result
compute_extended(const struct workload *workload, uint8_t op, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = netfc_set_format(workload->set);
	const struct function_table *function = workload->function;
	struct netfc_result result = {0};

	if (function == NULL)
		return netfc_extra(format, op, x, y, 0);
	if (function->wide == NULL)
		return (struct netfc_result){function->z[x], function->flags[x]};
	netfc_function_lanes(function->wide, format, &x, &result.z, &result.flags, 1);
	return result;
}

/* What z must be; returns the flags of all lanes. */
static uint8_t
compute_reply(const struct workload *workload, uint8_t op, const struct scratch *scratch)
{
	uint8_t flags = 0;

	if (op <= NETFC_DIV)
		return compute_by_tables(workload, (enum netfc_op)op, scratch);
	for (uint32_t l = 0; l < workload->lanes; l++) {
		const struct netfc_result result =
			compute_extended(workload, op, scratch->x[l], scratch->y[l]);

		scratch->z[l] = result.z;
		flags |= result.flags;
	}
	return flags;
}

/* Write the headers before the payload. Returns the sum of what the UDP checksum covers. */
static uint16_t
write_headers(const struct workload *workload, uint8_t *frame, uint16_t port_offset)
{
	const uint16_t length = (uint16_t)workload->payload_length;
	const uint8_t *payload = frame + workload->payload_offset;

	flow_write_headers(
		&workload->flow, frame, port_offset, length, rte_raw_cksum(payload, length));
	return (uint16_t)~((const struct rte_udp_hdr *)payload)[-1].dgram_cksum;
}

/* All z of a request are wrong, so that a lane that was not computed is noticed. */
static void
make_request(struct workload *workload, struct request *request, uint16_t port_offset,
	const struct scratch *scratch)
{
	uint8_t *frame = request->frame, *payload = frame + workload->payload_offset;
	uint8_t flags = compute_reply(workload, request->op, scratch);
	uint8_t status = NETFC_STATUS_REPLY | flags;

	write_payload(workload, payload, request->op, status, scratch, 0);
	request->reply_sum = write_headers(workload, frame, port_offset);
	memcpy(request->reply, payload, workload->payload_length);
	write_payload(workload, payload, request->op, 0, scratch, UINT32_MAX);
	request->frame_sum = write_headers(workload, frame, port_offset);
}

static void
make_all_requests(struct workload *workload, const struct options *options,
	const struct operands *operands, const struct scratch *scratch)
{
	unsigned int ops = op_count(options);
	size_t pair = 0;

	for (uint32_t c = 0; c < workload->count; c++) {
		struct request *request = &workload->requests[c];

		if (c % ops == 0) {
			for (uint32_t l = 0; l < workload->lanes; l++) {
				scratch->x[l] = operands->pairs[pair].x;
				scratch->y[l] = operands->pairs[pair].y;
				pair = pair + 1 < operands->count ? pair + 1 : 0;
			}
		}
		request->op = (uint8_t)(options->op != 0 ? options->op : NETFC_ADD + c % ops);
		request->frame = workload->bytes + c * bytes_per_request(workload);
		request->reply = request->frame + frame_bytes(workload);
		make_request(workload, request, (uint16_t)(c % options->flows), scratch);
	}
}

int
workload_get_operands(
	const struct options *options, const struct netfc_set *set, struct operands *operands)
{
	struct workload workload = {0};

	choose_sizes(&workload, options, set);
	return operands_get(
		options, netfc_set_format(set), pairs_wanted(&workload, options), operands);
}

int
workload_create(const struct options *options, const struct netfc_set *set,
	const struct function_table *function, const struct operands *operands,
	struct workload *workload)
{
	struct scratch scratch;

	workload->set = set;
	workload->function = function;
	choose_sizes(workload, options, set);
	if (allocate(workload, operands, op_count(options)) != 0 ||
		scratch_allocate(&scratch, workload->lanes) != 0)
		return -1;
	make_all_requests(workload, options, operands, &scratch);
	free(scratch.x);
	return 0;
}

void
workload_free(struct workload *workload)
{
	free(workload->requests);
	free(workload->bytes);
	*workload = (struct workload){0};
}
