/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include <rte_byteorder.h>
#include <rte_udp.h>

#include "checksum.h"
#include "mbuf_bytes.h"
#include "request.h"
#include "slots.h"

#define STATUS_OFFSET ((uint32_t)offsetof(struct netfc_hdr, status))
#define CHECKSUM_OFFSET ((uint32_t)offsetof(struct rte_udp_hdr, dgram_cksum))
/* The shortest payload whose status byte can be answered in. */
#define ANSWERABLE_BYTES (STATUS_OFFSET + 1)

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
	/* Every format of 16 bits has operations with names, as min needs no table. */
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

void
request_open(struct rte_mbuf *mbuf, struct frame *frame, struct request *request)
{
	const struct netfc_hdr header = read_header(mbuf, frame);

	fill(mbuf, frame, &header, request);
}

int
request_parse(struct rte_mbuf *mbuf, struct frame *frame, const struct groups *groups,
	struct request *request)
{
	struct netfc_hdr header;

	if (!frame->netfc_port || frame->payload_length < ANSWERABLE_BYTES)
		return -1;
	header = read_header(mbuf, frame);
	if (header.magic != RTE_BE16(NETFC_MAGIC) || (header.status & NETFC_STATUS_REPLY) != 0)
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

void
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

void
request_write(struct request *request, uint32_t first, const uint16_t *z, unsigned int count)
{
	write_slots(request, word_offset(request, REQUEST_Z, first), z, count);
}

/* What stands in a query's answer behind the header, x and y. */
struct query_answer {
	rte_be16_t ratio;
	rte_be32_t connections;
	rte_be64_t bytes;
} __attribute__((packed, aligned(2)));

void
request_write_answer(struct request *request, uint16_t ratio, uint32_t connections, uint64_t bytes)
{
	const struct query_answer answer = {
		.ratio = rte_cpu_to_be_16(ratio),
		.connections = rte_cpu_to_be_32(connections),
		.bytes = rte_cpu_to_be_64(bytes),
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

void
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
