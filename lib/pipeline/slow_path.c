/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <netfc.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "checksum.h"
#include "frame.h"
#include "kernel_groups.h"
#include "bytes.h"
#include "slots.h"
#include "slow_path.h"

/* ---- a request, wherever its segments end ---------------------------------------------------- */

#define STATUS_OFFSET ((uint32_t)offsetof(struct netfc_hdr, status))
#define CHECKSUM_OFFSET ((uint32_t)offsetof(struct rte_udp_hdr, dgram_cksum))
/* The shortest payload whose status byte can be answered in. */
#define ANSWERABLE_BYTES (STATUS_OFFSET + 1)

/* A request on the slow path. */
struct request {
	struct rte_mbuf *mbuf;
	struct frame *frame;
	uint32_t offset; /* of the NetFC header */
	uint32_t udp_offset;
	uint32_t count;   /* lanes */
	uint32_t words;   /* of 16 bits, of x, and so of y and z: half of one a lane, one, or two */
	uint64_t changes; /* of the checksum so far */
	uint16_t checksum; /* UDP's, as received */
	uint8_t op;
	uint8_t format;
	uint8_t before; /* the status byte as received */
	uint8_t flags;  /* exception flags of the lanes so far */
};

enum request_operand {
	REQUEST_X,
	REQUEST_Y,
	REQUEST_Z
};

static bool
is_arithmetic(uint8_t op)
{
	return op >= NETFC_ADD && op <= NETFC_DIV;
}

static bool
is_op(uint8_t op, const struct groups *groups)
{
	return is_arithmetic(op) || op == NETFC_OP_QUERY || op == NETFC_OP_NAME ||
		groups_have(groups, op);
}

static bool
is_loaded(const struct netfc_hdr *header, const struct groups *groups)
{
	/* What a query asks for is answered in one format, whose table set must be there. */
	if (header->op == NETFC_OP_QUERY)
		return header->format == NETFC_FP16 &&
			groups_number(groups, NETFC_FP16, NETFC_ADD) != 0;
	/* Every format of 8 or 16 bits has operations with names, as min needs no table. */
	if (header->op == NETFC_OP_NAME)
		return groups_number(groups, header->format, NETFC_MIN) != 0;
	return groups_number(groups, header->format, header->op) != 0;
}

/* The header's fields in the order in which the protocol has them checked. */
static enum netfc_status
check_header(const struct netfc_hdr *header, uint32_t payload_length, const struct groups *groups)
{
	uint32_t count = rte_be_to_cpu_16(header->count);

	if (header->version != NETFC_WIRE_VERSION)
		return NETFC_STATUS_VERSION;
	if (!is_op(header->op, groups))
		return NETFC_STATUS_OP;
	if (!is_loaded(header, groups))
		return NETFC_STATUS_FORMAT;
	if (payload_length < sizeof(*header) || count == 0 ||
		payload_length < sizeof(*header) +
				3 * netfc_wire_operand_bytes(header->op, header->format, count))
		return NETFC_STATUS_LENGTH;
	if (header->op == NETFC_OP_NAME && count != NETFC_NAME_LANES)
		return NETFC_STATUS_LENGTH;
	if (header->op == NETFC_OP_QUERY)
		return NETFC_STATUS_QUERY;
	return NETFC_STATUS_OK;
}

/* The header; what the datagram is too short for is zero. */
static struct netfc_hdr
read_header(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const uint32_t length =
		RTE_MIN((uint32_t)frame->payload_length, (uint32_t)sizeof(struct netfc_hdr));
	struct netfc_hdr header = {0};
	const void *bytes = rte_pktmbuf_read(mbuf, frame_payload_offset(frame), length, &header);

	if (bytes != &header)
		memcpy(&header, bytes, length);
	return header;
}

static uint16_t
read_checksum(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const struct rte_udp_hdr *udp;
	struct rte_udp_hdr copy;

	udp = rte_pktmbuf_read(mbuf, frame->udp_offset, sizeof(*udp), &copy);
	return udp->dgram_cksum;
}

static void
fill(struct rte_mbuf *mbuf, struct frame *frame, const struct netfc_hdr *header,
	struct request *request)
{
	*request = (struct request){
		.mbuf = mbuf,
		.frame = frame,
		.offset = frame_payload_offset(frame),
		.udp_offset = frame->udp_offset,
		.count = rte_be_to_cpu_16(header->count),
		.words = netfc_wire_operand_bytes(
				 header->op, header->format, rte_be_to_cpu_16(header->count)) /
			(uint32_t)sizeof(uint16_t),
		.checksum = read_checksum(mbuf, frame),
		.op = header->op,
		.format = header->format,
		.before = header->status,
	};
}

/* Fill in a request that a packet is known to be, if only by its first bytes. */
static void
request_open(struct rte_mbuf *mbuf, struct frame *frame, struct request *request)
{
	const struct netfc_hdr header = read_header(mbuf, frame);

	fill(mbuf, frame, &header, request);
}

/* Whether a packet is a request; its header. */
static bool
read_request(const struct rte_mbuf *mbuf, const struct frame *frame, struct netfc_hdr *header)
{
	if (!frame->to_netfc_port || frame->payload_length < ANSWERABLE_BYTES)
		return false;
	*header = read_header(mbuf, frame);
	return header->magic == RTE_BE16(NETFC_MAGIC) && (header->status & NETFC_STATUS_REPLY) == 0;
}

/*
 * Look for a request. Returns the status code of its reply, or -1 if the packet is not to be
 * touched: no NetFC, or computed by another switch.
 */
static int
request_parse(struct rte_mbuf *mbuf, struct frame *frame, const struct groups *groups,
	struct request *request)
{
	struct netfc_hdr header;

	if (!read_request(mbuf, frame, &header))
		return -1;
	fill(mbuf, frame, &header, request);
	return (int)check_header(&header, frame->payload_length, groups);
}

static uint32_t
word_offset(const struct request *request, enum request_operand operand, uint32_t first)
{
	return request->offset + (uint32_t)sizeof(struct netfc_hdr) +
		(operand * request->words + first) * (uint32_t)sizeof(uint16_t);
}

/* Read slots as words: a lane of 32 bits is two, two of 8 bits are one. */
static void
request_read(const struct request *request, enum request_operand operand, uint32_t first,
	uint16_t *to, unsigned int count)
{
	const uint32_t bytes = count * (uint32_t)sizeof(*to);
	const void *slots =
		rte_pktmbuf_read(request->mbuf, word_offset(request, operand, first), bytes, to);

	if (slots != to)
		memcpy(to, slots, bytes);
}

/* Replace slots by others. Returns the changes of a checksum over them. */
static uint32_t
replace(slot16 *to, const uint16_t *by, unsigned int count)
{
	uint32_t changes = 0;

	for (unsigned int l = 0; l < count; l++) {
		changes += checksum_change(to[l], by[l]);
		to[l] = by[l];
	}
	return changes;
}

/* Results into slots that lie across segments. */
static uint32_t
replace_across_segments(struct rte_mbuf *mbuf, uint32_t offset, const uint16_t *z, uint32_t count)
{
	uint32_t bytes = count * (uint32_t)sizeof(*z), changes;
	uint16_t copy[NETFC_BATCH];

	memcpy(copy, rte_pktmbuf_read(mbuf, offset, bytes, copy), bytes);
	changes = replace(copy, z, count);
	mbuf_write(mbuf, offset, copy, bytes);
	return changes;
}

static void
write_slots(struct request *request, uint32_t offset, const uint16_t *values, unsigned int count)
{
	void *slots = mbuf_bytes(request->mbuf, offset, count * (uint32_t)sizeof(*values));

	if (likely(slots != NULL))
		request->changes += replace(slots, values, count);
	else
		request->changes += replace_across_segments(request->mbuf, offset, values, count);
}

/* Write words of z, up to NETFC_BATCH, and collect the checksum's changes. */
static void
request_write(struct request *request, uint32_t first, const uint16_t *z, unsigned int count)
{
	write_slots(request, word_offset(request, REQUEST_Z, first), z, count);
}

/* What stands in a query's answer after the header, x and y. */
struct query_answer {
	rte_be16_t ratio;
	rte_be32_t connections;
	rte_be64_t bytes;
} __attribute__((packed, aligned(2)));

/* Write a query's answer: z and, where the datagram has space, the counters after it. */
static void
request_write_answer(struct request *request, const struct pipeline_answer *facts)
{
	const struct query_answer answer = {
		.ratio = rte_cpu_to_be_16(facts->ratio),
		.connections = rte_cpu_to_be_32(facts->connections),
		.bytes = rte_cpu_to_be_64(facts->bytes),
	};
	const uint32_t offset = word_offset(request, REQUEST_Z, 0);
	const uint32_t end = request->offset + request->frame->payload_length;
	uint16_t values[sizeof(answer) / sizeof(uint16_t)];
	bool space = offset + sizeof(answer) <= end;

	memcpy(values, &answer, sizeof(answer));
	write_slots(request, offset, values, space ? RTE_DIM(values) : 1);
}

/* Write what has changed, wherever it is. */
static void
reply_across_segments(const struct request *request, uint8_t status, uint16_t checksum)
{
	mbuf_write(request->mbuf, request->offset + STATUS_OFFSET, &status, sizeof(status));
	mbuf_write(
		request->mbuf, request->udp_offset + CHECKSUM_OFFSET, &checksum, sizeof(checksum));
}

/* Write the status and update the checksum: the packet is a reply from now on. */
static void
request_finish(struct request *request, enum netfc_status code)
{
	uint8_t status =
		(uint8_t)(NETFC_STATUS_REPLY | code << NETFC_STATUS_CODE_SHIFT | request->flags);
	uint8_t *udp = mbuf_bytes(request->mbuf, request->udp_offset,
		(uint32_t)sizeof(struct rte_udp_hdr) + ANSWERABLE_BYTES);
	uint16_t checksum = request->checksum;

	/* The status is the low byte of the word that it shares with the format. */
	request->changes +=
		checksum_change(rte_cpu_to_be_16(request->before), rte_cpu_to_be_16(status));
	/* Only over IPv4 may a datagram have none. */
	if (likely(checksum != 0 || request->frame->network != FRAME_IPV4))
		checksum = checksum_update(checksum, request->changes);
	request->frame->checksum = request->checksum;
	if (unlikely(udp == NULL)) {
		reply_across_segments(request, status, checksum);
		return;
	}
	udp[sizeof(struct rte_udp_hdr) + STATUS_OFFSET] = status;
	*(slot16 *)(udp + CHECKSUM_OFFSET) = checksum;
}

/* ---- the slow path --------------------------------------------------------------------------- */

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

bool
slow_path_is_request(
	const struct slow_path *slow_path, const struct rte_mbuf *mbuf, struct frame *frame)
{
	struct netfc_hdr header;

	frame->to_netfc_port = frame->udp && frame->udp_port == slow_path->udp_port;
	return read_request(mbuf, frame, &header);
}

struct slow_path_result
slow_path_run(const struct slow_path *slow_path, struct rte_mbuf *mbuf, struct frame *frame)
{
	struct slow_path_result result = {.code = NETFC_STATUS_OK};
	struct request request;
	int code;

	frame->to_netfc_port = frame->udp && frame->udp_port == slow_path->udp_port;
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

void
slow_path_answer_query(
	struct rte_mbuf *mbuf, struct frame *frame, const struct pipeline_answer *answer)
{
	struct request request;

	request_open(mbuf, frame, &request);
	request_write_answer(&request, answer);
	frame->query = false;
	frame->answered = true;
	request_finish(&request, NETFC_STATUS_OK);
}
