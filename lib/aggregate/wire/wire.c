/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_registers.h"
#include "aggregate_wire.h"

/* With fewer bytes there is no status to answer in. */
#define MIN_BYTES 6

/* What stands where, as far as `length` goes; 0 after. */
static struct aggregate_hdr
read_header(const uint8_t *payload, size_t length)
{
	struct aggregate_hdr hdr = {0};

	memcpy(&hdr, payload, length < sizeof(hdr) ? length : sizeof(hdr));
	return hdr;
}

static bool
has_magic(const uint8_t *payload, size_t length)
{
	return length >= MIN_BYTES && payload[0] == NETFC_MAGIC >> 8 &&
		payload[1] == (NETFC_MAGIC & 0xff);
}

static bool
is_reply(const uint8_t *payload)
{
	return (payload[offsetof(struct aggregate_hdr, status)] & NETFC_STATUS_REPLY) != 0;
}

static void
read_message(const struct aggregate_hdr *hdr, struct aggregate_message *message)
{
	*message = (struct aggregate_message){
		.op = hdr->op,
		.format = hdr->format,
		.worker = hdr->worker,
		.reason = hdr->reason,
		.code = hdr->status >> NETFC_STATUS_CODE_SHIFT & 7,
		.flags = hdr->status & 0xf,
		.count = be16toh(hdr->count),
		.job = be16toh(hdr->job),
		.id = be32toh(hdr->id),
		.token = be64toh(hdr->token),
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
	uint8_t absence = (uint8_t)(message->count >> 8), detail = message->count & 0xff;

	if (message->values != NULL) {
		absence = message->values[0];
		detail = value_bytes(message) > 1 ? message->values[1] : 0;
	}
	message->absence = absence % AGGREGATE_ABSENCE_LEVEL;
	message->level = absence / AGGREGATE_ABSENCE_LEVEL;
	message->detail = detail;
}

static size_t
place_bytes(const struct aggregate_place *place)
{
	const unsigned int levels = place->levels <= AGGREGATE_MAX_LEVELS ? place->levels : 0;

	return aggregate_place_is_there(place)
		? sizeof(struct aggregate_place_wire) + levels * sizeof(struct aggregate_level)
		: 0;
}

/* What is after a join's other things, if there is anything. Returns whether all of it is. */
static bool
read_place(const uint8_t *bytes, size_t length, struct aggregate_place *place)
{
	struct aggregate_place_wire wire;

	if (length < sizeof(wire))
		return true;
	memcpy(&wire, bytes, sizeof(wire));
	place->levels = wire.levels;
	place->decided = wire.decided;
	place->workers = be32toh(wire.workers);
	place->below = be32toh(wire.below);
	if (place->levels > AGGREGATE_MAX_LEVELS)
		return true;
	if (length - sizeof(wire) < place->levels * sizeof(place->level[0]))
		return false;
	memcpy(place->level, bytes + sizeof(wire), place->levels * sizeof(place->level[0]));
	return true;
}

bool
aggregate_place_is_good(const struct aggregate_join *join)
{
	const struct aggregate_place *place = &join->place;
	uint32_t least = join->workers;

	if (!aggregate_place_is_there(place))
		return true;
	if (place->levels > AGGREGATE_MAX_LEVELS)
		return false;
	for (unsigned int l = 0; l < place->levels; l++) {
		const struct aggregate_level level = place->level[l];

		if (level.members == 0 || level.members > AGGREGATE_MAX_WORKERS ||
			level.index >= level.members)
			return false;
		/* Each of the others stands for a worker or more. */
		least += level.members - 1u;
	}
	return place->workers >= least && place->workers <= AGGREGATE_MAX_TREE_WORKERS;
}

static bool
read_join(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	const size_t fixed = AGGREGATE_HEADER_BYTES + sizeof(struct aggregate_join_wire);
	struct aggregate_join_wire join;

	memcpy(&join, payload + AGGREGATE_HEADER_BYTES, sizeof(join));
	message->join = (struct aggregate_join){
		.workers = join.workers,
		.shards = join.shards,
		.slots = be16toh(join.slots),
		.bytes = be16toh(join.bytes),
		.least = be16toh(join.least),
		.features = message->code == NETFC_STATUS_OK ? message->reason : 0,
		.cookie = be64toh(join.cookie),
		.incarnation = be64toh(join.incarnation),
	};
	return read_place(payload + fixed, length - fixed, &message->join.place);
}

static bool
sends_values(const struct aggregate_message *request)
{
	return aggregate_is_chunk(request->op) && request->count != 0 && !request->zeros &&
		!aggregate_has_digits(request) &&
		aggregate_sends_values(request->op, request->owner, request->worker);
}

/* What has a label is a copy of nothing, without an owner, and the label. */
static bool
read_label(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	if (message->op != AGGREGATE_COPY || message->count != 0 || message->owner != 0 ||
		length != AGGREGATE_HEADER_BYTES + AGGREGATE_LABEL_BYTES)
		return false;
	memcpy(&message->label, payload + AGGREGATE_HEADER_BYTES, sizeof(message->label));
	message->label = be32toh(message->label);
	return message->label != 0;
}

/* What is of zeros would have values, and is a header alone. */
static bool
read_zeros(size_t length, struct aggregate_message *message)
{
	if (!sends_values(message) || length != AGGREGATE_HEADER_BYTES)
		return false;
	message->zeros = true;
	return true;
}

/* What a request's status says. Returns whether that can be. */
static bool
read_status(
	const uint8_t *payload, size_t length, uint8_t status, struct aggregate_message *message)
{
	if (!aggregate_is_chunk(message->op))
		return true;
	if ((status & AGGREGATE_OF_ZEROS) != 0 && !read_zeros(length, message))
		return false;
	return (status & AGGREGATE_LABELLED) == 0 || read_label(payload, length, message);
}

static bool
fits_request(const struct aggregate_message *request, size_t length)
{
	if (request->op == AGGREGATE_COPY && !sends_values(request))
		return length == aggregate_message_bytes(request);
	return aggregate_is_reduction(request->op) ==
		(request->count != 0 && request->op != AGGREGATE_COPY) &&
		length >= aggregate_message_bytes(request);
}

/* Whether it is such that its values may be sums: a part, or registers. */
static bool
may_have_sums(const struct aggregate_message *chunk)
{
	return chunk->op == AGGREGATE_SUM || chunk->op == AGGREGATE_MEAN;
}

/* Whether a result of zeros is what one has to be. */
static bool
are_zeros(const struct aggregate_message *result, size_t length)
{
	return result->count != 0 && result->flags == 0 && length == AGGREGATE_HEADER_BYTES;
}

/* Bytes of values in a result; SIZE_MAX: it is of no kind that there is. */
static size_t
result_bytes(const struct aggregate_message *result, size_t length)
{
	if (result->reason == AGGREGATE_ACKNOWLEDGED)
		return 0;
	if (result->reason == AGGREGATE_ZEROS)
		return are_zeros(result, length) ? 0 : SIZE_MAX;
	if (result->reason == AGGREGATE_ROUNDED && result->count != 0)
		return (size_t)result->count * aggregate_result_value_bytes(result->format);
	if (result->reason == AGGREGATE_SUMS && result->count != 0 && may_have_sums(result) &&
		aggregate_registers_has(result->format))
		return result->count * aggregate_registers_bytes(result->format);
	return SIZE_MAX;
}

/*
 * Bytes of values in a reply to a chunk; one that refuses has what the request had, and none if
 * that was a part.
 */
static size_t
reply_bytes(const struct aggregate_message *reply, size_t length)
{
	if (reply->code == NETFC_STATUS_OK)
		return result_bytes(reply, length);
	if (length == AGGREGATE_HEADER_BYTES)
		return 0;
	return reply->count != 0 ? value_bytes(reply) : SIZE_MAX;
}

/* Read what is after a reply's header. Returns whether it is there. */
static bool
read_reply(const uint8_t *payload, size_t length, struct aggregate_message *reply)
{
	size_t left = length - AGGREGATE_HEADER_BYTES, bytes;

	if (!aggregate_is_chunk(reply->op)) {
		if (reply->count != 0 || length < aggregate_message_bytes(reply))
			return false;
		return reply->op != AGGREGATE_JOIN || read_join(payload, length, reply);
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

/* A part that fits its chunk, and nothing after it: what refuses it is a header alone. */
static bool
read_part(const uint8_t *bytes, size_t length, struct aggregate_message *message)
{
	return aggregate_part_read(bytes, length, &message->part) == 0 &&
		aggregate_part_bytes(&message->part) == length &&
		(message->part.divisor == 0 || message->op == AGGREGATE_MEAN) &&
		aggregate_part_fits(&message->part, message->format, message->count);
}

/* What a chunk's byte 15 says. Returns a code. */
static int
read_chunk_kind(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	const bool digits = (message->reason & AGGREGATE_DIGITS) != 0;

	message->owner = message->reason % AGGREGATE_DIGITS;
	if (!aggregate_is_owner(message->owner) || (digits && !may_have_sums(message)))
		return NETFC_STATUS_OP;
	if (digits &&
		!read_part(
			payload + AGGREGATE_HEADER_BYTES, length - AGGREGATE_HEADER_BYTES, message))
		return NETFC_STATUS_LENGTH;
	return NETFC_STATUS_OK;
}

int
aggregate_parse_request(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	struct aggregate_hdr hdr;
	int code;

	if (!has_magic(payload, length) || is_reply(payload))
		return AGGREGATE_NOT_OURS;
	if (length < sizeof(struct netfc_hdr))
		return NETFC_STATUS_LENGTH;
	hdr = read_header(payload, length);
	code = check_header(&hdr);
	if (code != NETFC_STATUS_OK)
		return code;
	if (length < AGGREGATE_HEADER_BYTES)
		return NETFC_STATUS_LENGTH;
	read_message(&hdr, message);
	if (aggregate_is_chunk(message->op))
		code = read_chunk_kind(payload, length, message);
	if (code != NETFC_STATUS_OK)
		return code;
	if (!read_status(payload, length, hdr.status, message) || !fits_request(message, length))
		return NETFC_STATUS_LENGTH;
	message->code = message->flags = 0;
	if (message->op == AGGREGATE_JOIN && !read_join(payload, length, message))
		return NETFC_STATUS_LENGTH;
	if (message->op != AGGREGATE_LEAVE)
		message->reason = 0;
	if (sends_values(message))
		message->values = payload + AGGREGATE_HEADER_BYTES;
	return 0;
}

int
aggregate_parse_reply(const uint8_t *payload, size_t length, struct aggregate_message *message)
{
	struct aggregate_hdr hdr;

	if (!has_magic(payload, length) || !is_reply(payload) || length < AGGREGATE_HEADER_BYTES)
		return AGGREGATE_NOT_OURS;
	hdr = read_header(payload, length);
	read_message(&hdr, message);
	if ((message->code == NETFC_STATUS_OK || message->code == AGGREGATE_STATUS_CODE) &&
		(check_header(&hdr) != NETFC_STATUS_OK || !read_reply(payload, length, message)))
		return AGGREGATE_NOT_OURS;
	return 0;
}

size_t
aggregate_message_bytes(const struct aggregate_message *message)
{
	if (message->op == AGGREGATE_JOIN)
		return AGGREGATE_HEADER_BYTES + sizeof(struct aggregate_join_wire) +
			place_bytes(&message->join.place);
	if (message->label != 0)
		return AGGREGATE_HEADER_BYTES + AGGREGATE_LABEL_BYTES;
	if (aggregate_has_digits(message))
		return AGGREGATE_HEADER_BYTES + aggregate_part_bytes(&message->part);
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

static uint8_t
status_of(const struct aggregate_message *request)
{
	if (request->label != 0)
		return AGGREGATE_LABELLED;
	return request->zeros ? AGGREGATE_OF_ZEROS : 0;
}

/* Byte 15 of a request. */
static uint8_t
reason_of(const struct aggregate_message *request)
{
	if (request->op == AGGREGATE_LEAVE)
		return request->reason;
	if (request->op == AGGREGATE_JOIN)
		return request->join.features;
	return request->owner | (aggregate_has_digits(request) ? AGGREGATE_DIGITS : 0);
}

void
aggregate_build_request(uint8_t *payload, const struct aggregate_message *message)
{
	const uint32_t label = htobe32(message->label);

	write_header(payload, message, message->worker, status_of(message), reason_of(message));
	if (label != 0)
		memcpy(payload + AGGREGATE_HEADER_BYTES, &label, sizeof(label));
	if (message->op == AGGREGATE_JOIN)
		aggregate_write_join(payload, &message->join);
}

void
aggregate_accept(uint8_t *payload, uint8_t kind, uint8_t flags)
{
	payload[offsetof(struct aggregate_hdr, status)] = NETFC_STATUS_REPLY | flags;
	payload[offsetof(struct aggregate_hdr, reason)] = kind;
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
	uint8_t *payload, size_t bytes, uint8_t absence, uint8_t level, uint8_t detail)
{
	size_t at = bytes > 0 ? AGGREGATE_HEADER_BYTES : offsetof(struct aggregate_hdr, count);

	payload[at] = (uint8_t)(absence + level * AGGREGATE_ABSENCE_LEVEL);
	if (bytes != 1)
		payload[at + 1] = detail;
}

static void
write_place(uint8_t *bytes, const struct aggregate_place *place)
{
	const struct aggregate_place_wire wire = {
		.levels = place->levels,
		.decided = place->decided,
		.workers = htobe32(place->workers),
		.below = htobe32(place->below),
	};

	memcpy(bytes, &wire, sizeof(wire));
	memcpy(bytes + sizeof(wire), place->level, place_bytes(place) - sizeof(wire));
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
		.incarnation = htobe64(join->incarnation),
	};

	payload += AGGREGATE_HEADER_BYTES;
	memcpy(payload, &wire, sizeof(wire));
	if (aggregate_place_is_there(&join->place))
		write_place(payload + sizeof(wire), &join->place);
}

void
aggregate_build_result(uint8_t *payload, const struct aggregate_message *request, uint8_t worker,
	uint8_t kind, uint8_t flags, const uint8_t *values, size_t bytes)
{
	write_header(payload, request, worker, NETFC_STATUS_REPLY | flags, kind);
	if (request->code != NETFC_STATUS_OK)
		aggregate_refuse(payload, AGGREGATE_HEADER_BYTES, request->code, request->reason);
	if (request->code != NETFC_STATUS_OK && request->reason >= AGGREGATE_MISSING)
		aggregate_write_absence(
			payload, 0, request->absence, request->level, request->detail);
	if (bytes > 0)
		memmove(payload + AGGREGATE_HEADER_BYTES, values, bytes);
}

const char *
aggregate_reason_name(unsigned int reason)
{
	static const char *const names[AGGREGATE_MISSING] = {
#define REASON_NAME_(symbol, value, name, meaning) [value] = (name),
		AGGREGATE_REASONS(REASON_NAME_)
#undef REASON_NAME_
	};

	if (reason < AGGREGATE_MISSING)
		return names[reason];
	return reason < AGGREGATE_MISSING + AGGREGATE_MAX_WORKERS ? "missing" : NULL;
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
