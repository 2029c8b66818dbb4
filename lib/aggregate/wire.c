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

static size_t
value_bytes(const struct aggregate_message *message)
{
	return (size_t)message->count * aggregate_value_bytes(message->format);
}

/* What a reply says of a worker whose values are missing, as far as it has room for it. */
static void
read_absence(struct aggregate_message *message)
{
	if (message->values == NULL) {
		message->absence = message->count >> 8;
		message->detail = message->count & 0xff;
		return;
	}
	message->absence = message->values[0];
	message->detail = value_bytes(message) > 1 ? message->values[1] : 0;
}

static void
read_join(const uint8_t *payload, struct aggregate_message *message)
{
	struct aggregate_join_wire join;

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
sends_values(const struct aggregate_message *request)
{
	return aggregate_is_chunk(request->op) && request->count != 0 &&
		aggregate_sends_values(request->op, request->owner, request->worker);
}

static bool
fits_request(const struct aggregate_message *request, size_t length)
{
	if (request->op == AGGREGATE_COPY && !sends_values(request))
		return length == AGGREGATE_HEADER_BYTES;
	return aggregate_is_reduction(request->op) ==
		(request->count != 0 && request->op != AGGREGATE_COPY) &&
		length >= aggregate_message_bytes(request);
}

/* Bytes of values in a result; SIZE_MAX: it is of no kind that there is. */
static size_t
result_bytes(const struct aggregate_message *result)
{
	switch (result->reason) {
	case AGGREGATE_ROUNDED:
		return result->count != 0
			? (size_t)result->count * aggregate_result_value_bytes(result->format)
			: SIZE_MAX;
	case AGGREGATE_SUMS:
		return aggregate_sums_has(result->format) && result->count != 0 &&
				(result->op == AGGREGATE_SUM || result->op == AGGREGATE_MEAN)
			? (size_t)result->count * AGGREGATE_SUMS_BYTES
			: SIZE_MAX;
	case AGGREGATE_ACKNOWLEDGED:
		return 0;
	default:
		return SIZE_MAX;
	}
}

/* Bytes of values in a reply to a chunk; one that refuses has what the request had. */
static size_t
reply_bytes(const struct aggregate_message *reply, size_t length)
{
	if (reply->code == NETFC_STATUS_OK)
		return result_bytes(reply);
	if (reply->op == AGGREGATE_COPY && length == AGGREGATE_HEADER_BYTES)
		return 0;
	return reply->count != 0 ? value_bytes(reply) : SIZE_MAX;
}

/* Read what is behind a reply's header. Returns whether it is there. */
static bool
read_reply(const uint8_t *payload, size_t length, struct aggregate_message *reply)
{
	size_t left = length - AGGREGATE_HEADER_BYTES, bytes;

	if (!aggregate_is_chunk(reply->op)) {
		if (reply->count != 0 || length < aggregate_message_bytes(reply))
			return false;
		if (reply->op == AGGREGATE_JOIN)
			read_join(payload, reply);
		return true;
	}
	bytes = reply_bytes(reply, length);
	if (bytes > left)
		return false;
	reply->values = bytes > 0 ? payload + AGGREGATE_HEADER_BYTES : NULL;
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason >= AGGREGATE_MISSING)
		read_absence(reply);
	return true;
}

static int
check_header(const struct aggregate_hdr *hdr)
{
	bool is_chunk = aggregate_is_chunk(hdr->op);

	if (hdr->version != NETFC_WIRE_VERSION)
		return NETFC_STATUS_VERSION;
	if (!is_chunk && hdr->op != AGGREGATE_JOIN && hdr->op != AGGREGATE_LEAVE)
		return NETFC_STATUS_OP;
	if (is_chunk && !aggregate_has_format(hdr->op, hdr->format))
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
	if (aggregate_is_chunk(message->op))
		message->owner = message->reason;
	if (!aggregate_is_owner(message->owner))
		return NETFC_STATUS_OP;
	if (!fits_request(message, length))
		return NETFC_STATUS_LENGTH;
	message->code = message->flags = 0;
	if (message->op != AGGREGATE_LEAVE)
		message->reason = 0;
	if (sends_values(message))
		message->values = payload + AGGREGATE_HEADER_BYTES;
	if (message->op == AGGREGATE_JOIN)
		read_join(payload, message);
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
	if ((message->code == NETFC_STATUS_OK || message->code == AGGREGATE_STATUS_CODE) &&
		(check_header(&hdr) != NETFC_STATUS_OK || !read_reply(payload, length, message)))
		return AGGREGATE_NOT_OURS;
	return 0;
}

size_t
aggregate_message_bytes(const struct aggregate_message *message)
{
	if (message->op == AGGREGATE_JOIN)
		return AGGREGATE_HEADER_BYTES + sizeof(struct aggregate_join_wire);
	return AGGREGATE_HEADER_BYTES + (sends_values(message) ? value_bytes(message) : 0);
}

static void
write_header(uint8_t *payload, const struct aggregate_message *message, uint8_t worker,
	uint8_t status, uint8_t reason)
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
		.reason = reason,
		.token = htobe64(message->token),
	};

	memcpy(payload, &hdr, sizeof(hdr));
}

void
aggregate_build_request(uint8_t *payload, const struct aggregate_message *message)
{
	write_header(payload, message, message->worker, 0,
		message->op == AGGREGATE_LEAVE ? message->reason : message->owner);
	if (message->op == AGGREGATE_JOIN)
		aggregate_write_join(payload, &message->join);
}

void
aggregate_accept(uint8_t *payload, uint8_t flags)
{
	payload[offsetof(struct aggregate_hdr, status)] = NETFC_STATUS_REPLY | flags;
	payload[offsetof(struct aggregate_hdr, reason)] = AGGREGATE_ROUNDED;
}

void
aggregate_acknowledge(uint8_t *payload, uint8_t flags)
{
	payload[offsetof(struct aggregate_hdr, status)] = NETFC_STATUS_REPLY | flags;
	payload[offsetof(struct aggregate_hdr, reason)] = AGGREGATE_ACKNOWLEDGED;
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
	size_t at = bytes > 0 ? AGGREGATE_HEADER_BYTES : offsetof(struct aggregate_hdr, count);

	payload[at] = (uint8_t)absence;
	if (bytes != 1)
		payload[at + 1] = detail;
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
	write_header(payload, request, worker, NETFC_STATUS_REPLY | flags,
		bytes > 0 ? AGGREGATE_ROUNDED : AGGREGATE_ACKNOWLEDGED);
	if (bytes > 0)
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
