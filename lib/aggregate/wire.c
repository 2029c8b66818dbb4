/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_sums.h"
#include "aggregate_wire.h"

/* With fewer bytes there is no status to answer in. */
#define LEAST_BYTES 6

static struct aggregate_hdr
read_header(const uint8_t *payload)
{
	struct aggregate_hdr hdr;

	memcpy(&hdr, payload, sizeof(hdr));
	return hdr;
}

static bool
has_magic(const uint8_t *payload, size_t length)
{
	return length >= LEAST_BYTES && payload[0] == NETFC_MAGIC >> 8 &&
		payload[1] == (NETFC_MAGIC & 0xff);
}

static bool
is_reply(const uint8_t *payload)
{
	return (payload[offsetof(struct aggregate_hdr, status)] & NETFC_STATUS_REPLY) != 0;
}

static void
read_message(const uint8_t *payload, struct aggregate_message *message)
{
	const struct aggregate_hdr hdr = read_header(payload);

	*message = (struct aggregate_message){
		.op = hdr.op,
		.format = hdr.format,
		.worker = hdr.worker,
		.reason = hdr.reason,
		.code = hdr.status >> NETFC_STATUS_CODE_SHIFT & 7,
		.flags = hdr.status & 0xf,
		.count = be16toh(hdr.count),
		.job = be16toh(hdr.job),
		.id = be32toh(hdr.id),
		.token = be64toh(hdr.token),
	};
}

/* What a reply says of a worker whose values are missing, as far as it has room for it. */
static void
read_absence(struct aggregate_message *message)
{
	size_t bytes = (size_t)message->count * aggregate_value_bytes(message->format);

	message->absence = message->values[0];
	message->detail = bytes > 1 ? message->values[1] : 0;
}

static void
read_body(const uint8_t *payload, struct aggregate_message *message)
{
	struct aggregate_join_wire join;

	if (aggregate_is_reduction(message->op))
		message->values = payload + AGGREGATE_HEADER_BYTES;
	if (message->values != NULL && message->code == AGGREGATE_STATUS_CODE &&
		message->reason >= AGGREGATE_MISSING)
		read_absence(message);
	if (message->op != AGGREGATE_JOIN)
		return;
	memcpy(&join, payload + AGGREGATE_HEADER_BYTES, sizeof(join));
	message->join = (struct aggregate_join){
		.workers = join.workers,
		.shards = join.shards,
		.slots = be16toh(join.slots),
		.bytes = be16toh(join.bytes),
		.least = be16toh(join.least),
		.cookie = be64toh(join.cookie),
	};
}

static bool
fits_message(const struct aggregate_message *message, size_t length)
{
	return aggregate_is_reduction(message->op) == (message->count != 0) &&
		length >= aggregate_message_bytes(message);
}

/* A result of a kind that there is, and all of it. */
static bool
fits_result(const struct aggregate_message *message, size_t length)
{
	if (message->reason == AGGREGATE_ROUNDED || !aggregate_is_reduction(message->op))
		return fits_message(message, length);
	return message->reason == AGGREGATE_SUMS && aggregate_sums_has(message->format) &&
		(message->op == AGGREGATE_SUM || message->op == AGGREGATE_MEAN) &&
		message->count != 0 &&
		length >= AGGREGATE_HEADER_BYTES + (size_t)message->count * AGGREGATE_SUMS_BYTES;
}

static int
check_header(const struct aggregate_hdr *hdr)
{
	bool reduces = aggregate_is_reduction(hdr->op);

	if (hdr->version != NETFC_WIRE_VERSION)
		return NETFC_STATUS_VERSION;
	if (!reduces && hdr->op != AGGREGATE_JOIN && hdr->op != AGGREGATE_LEAVE)
		return NETFC_STATUS_OP;
	if (reduces && !aggregate_is_format(hdr->format))
		return NETFC_STATUS_FORMAT;
	return NETFC_STATUS_OK;
}

/* What stands where, as far as `length` goes; 0 behind. */
static struct aggregate_hdr
read_start(const uint8_t *payload, size_t length)
{
	struct aggregate_hdr hdr = {0};

	memcpy(&hdr, payload, length < sizeof(hdr) ? length : sizeof(hdr));
	return hdr;
}

int
aggregate_parse_request(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	struct aggregate_hdr start;
	int code;

	if (!has_magic(payload, length) || is_reply(payload))
		return AGGREGATE_NOT_OURS;
	if (length < sizeof(struct netfc_hdr))
		return NETFC_STATUS_LENGTH;
	start = read_start(payload, length);
	code = check_header(&start);
	if (code != NETFC_STATUS_OK)
		return code;
	if (length < AGGREGATE_HEADER_BYTES)
		return NETFC_STATUS_LENGTH;
	read_message(payload, message);
	if (!fits_message(message, length))
		return NETFC_STATUS_LENGTH;
	message->code = message->flags = 0;
	if (message->op != AGGREGATE_LEAVE)
		message->reason = 0;
	read_body(payload, message);
	return 0;
}

int
aggregate_parse_reply(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	struct aggregate_hdr hdr;

	if (!has_magic(payload, length) || !is_reply(payload) || length < AGGREGATE_HEADER_BYTES)
		return AGGREGATE_NOT_OURS;
	hdr = read_header(payload);
	read_message(payload, message);
	if (message->code == NETFC_STATUS_OK || message->code == AGGREGATE_STATUS_CODE) {
		bool fits = message->code == NETFC_STATUS_OK ? fits_result(message, length)
							     : fits_message(message, length);

		if (check_header(&hdr) != NETFC_STATUS_OK || !fits)
			return AGGREGATE_NOT_OURS;
		read_body(payload, message);
	}
	return 0;
}

size_t
aggregate_message_bytes(const struct aggregate_message *message)
{
	if (message->op == AGGREGATE_JOIN)
		return AGGREGATE_HEADER_BYTES + sizeof(struct aggregate_join_wire);
	if (!aggregate_is_reduction(message->op))
		return AGGREGATE_HEADER_BYTES;
	return AGGREGATE_HEADER_BYTES +
		(size_t)message->count * aggregate_value_bytes(message->format);
}

static void
write_header(
	uint8_t *payload, const struct aggregate_message *message, uint8_t worker, uint8_t status)
{
	const struct aggregate_hdr hdr = {
		.magic = htobe16(NETFC_MAGIC),
		.version = NETFC_WIRE_VERSION,
		.op = message->op,
		.format = message->format,
		.status = status,
		.count = htobe16(message->count),
		.id = htobe32(message->id),
		.job = htobe16(message->job),
		.worker = worker,
		.reason = message->op == AGGREGATE_LEAVE ? message->reason : 0,
		.token = htobe64(message->token),
	};

	memcpy(payload, &hdr, sizeof(hdr));
}

void
aggregate_build_request(uint8_t *payload, const struct aggregate_message *message)
{
	write_header(payload, message, message->worker, 0);
	if (message->op == AGGREGATE_JOIN)
		aggregate_write_join(payload, &message->join);
}

void
aggregate_accept(uint8_t *payload, uint8_t flags)
{
	payload[offsetof(struct aggregate_hdr, status)] = NETFC_STATUS_REPLY | flags;
	payload[offsetof(struct aggregate_hdr, reason)] = AGGREGATE_REASON_NONE;
}

void
aggregate_refuse(uint8_t *payload, size_t length, uint8_t code, uint8_t reason)
{
	payload[offsetof(struct aggregate_hdr, status)] =
		(uint8_t)(NETFC_STATUS_REPLY | code << NETFC_STATUS_CODE_SHIFT);
	if (code == AGGREGATE_STATUS_CODE && length > offsetof(struct aggregate_hdr, reason))
		payload[offsetof(struct aggregate_hdr, reason)] = reason;
}

void
aggregate_write_absence(
	uint8_t *payload, size_t bytes, enum aggregate_absence absence, uint8_t detail)
{
	payload[AGGREGATE_HEADER_BYTES] = (uint8_t)absence;
	if (bytes > 1)
		payload[AGGREGATE_HEADER_BYTES + 1] = detail;
}

void
aggregate_write_join(uint8_t *payload, const struct aggregate_join *join)
{
	const struct aggregate_join_wire wire = {
		.workers = join->workers,
		.shards = join->shards,
		.slots = htobe16(join->slots),
		.bytes = htobe16(join->bytes),
		.least = htobe16(join->least),
		.cookie = htobe64(join->cookie),
	};

	memcpy(payload + AGGREGATE_HEADER_BYTES, &wire, sizeof(wire));
}

void
aggregate_build_result(uint8_t *payload, const struct aggregate_message *request, uint8_t worker,
	uint8_t flags, const uint8_t *values, size_t bytes)
{
	write_header(payload, request, worker, NETFC_STATUS_REPLY | flags);
	memmove(payload + AGGREGATE_HEADER_BYTES, values, bytes);
}

const char *
aggregate_reason_name(unsigned int reason)
{
	switch (reason) {
#define REASON_NAME_(symbol, value, name, meaning) \
	case value:                                \
		return name;
		AGGREGATE_REASONS(REASON_NAME_)
#undef REASON_NAME_
	default:
		return reason >= AGGREGATE_MISSING &&
				reason < AGGREGATE_MISSING + AGGREGATE_MAX_WORKERS
			? "missing"
			: NULL;
	}
}

const char *
aggregate_absence_name(unsigned int absence)
{
	static const char *const names[AGGREGATE_ABSENCE_COUNT] = {
#define ABSENCE_NAME_(symbol, value, name, meaning) [value] = (name),
		AGGREGATE_ABSENCES(ABSENCE_NAME_)
#undef ABSENCE_NAME_
	};

	return absence < AGGREGATE_ABSENCE_COUNT ? names[absence] : NULL;
}
