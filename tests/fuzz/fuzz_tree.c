/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch between others: packets of its members, with values and with parts of digits, and what
 * comes from its parent, or claims to.
 *
 * Input: a byte that chooses the number of members; then steps, each a byte that says what happens
 * and its operands. Payloads lie in memory of exactly their size. Checked: every reply and every
 * packet upwards can be read, sums that go up are parts that make up their chunk, and each packet
 * is counted once.
 */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "fuzz.h"

#define BYTES 320
#define SLOTS 4
#define STALL 1000
#define JOB 3
#define TOKEN UINT64_C(0x0102030405060708)
#define PARENT_SESSION UINT64_C(0x1112131415161718)
#define PARENT_PORT 20040
#define MAX_PAYLOAD (AGGREGATE_HEADER_BYTES + BYTES)

static struct aggregate_limits limits;
static void *memory;
static struct aggregate_table *table;
static struct aggregate_shard *shard;
static uint64_t now, packets, packet_count, session;
static uint8_t members;
static struct aggregate_message asked; /* the latest join or leave that went up */

static void
note(enum aggregate_action action)
{
	FUZZ_CHECK(action < AGGREGATE_ACTION_COUNT);
	packets++;
}

/* The bytes in memory of their own, to be freed. */
static uint8_t *
own(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length > 0 ? length : 1);

	FUZZ_CHECK(copy != NULL);
	memcpy(copy, bytes, length);
	return copy;
}

/* Parts make up the whole chunk, in whatever order they are sent. */
static void
check_upwards(const struct aggregate_outcome *outcome)
{
	unsigned int count = aggregate_leaf_packets(shard, outcome), parts = 0, lanes = 0;
	unsigned int first[AGGREGATE_MAX_PARTS] = {0}, has[AGGREGATE_MAX_PARTS] = {0};
	struct aggregate_message request;

	FUZZ_CHECK(count >= 1 && count <= AGGREGATE_MAX_PARTS);
	for (unsigned int p = 0; p < count; p++) {
		uint8_t payload[MAX_PAYLOAD];
		size_t length = aggregate_leaf_write(shard, outcome, p, payload);

		FUZZ_CHECK(length <= sizeof(payload));
		FUZZ_CHECK(aggregate_parse_request(payload, length, &request) == 0);
		FUZZ_CHECK(aggregate_message_bytes(&request) == length);
		FUZZ_CHECK(request.job == JOB && request.id == outcome->entry->chunk);
		FUZZ_CHECK(request.zeros == outcome->entry->zero && (!request.zeros || count == 1));
		if (!aggregate_has_digits(&request))
			continue;
		FUZZ_CHECK(request.part.number < count && request.part.parts == count);
		FUZZ_CHECK(request.part.lanes > 0 && has[request.part.number] == 0);
		first[request.part.number] = request.part.first;
		has[request.part.number] = request.part.lanes;
		parts++;
	}
	for (unsigned int p = 0; p < parts; p++) {
		FUZZ_CHECK(first[p] == lanes);
		lanes += has[p];
	}
	FUZZ_CHECK(parts == 0 || (parts == count && lanes == request.count));
}

static void
check_reply(const uint8_t *payload, size_t length, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome)
{
	const size_t room = MAX_PAYLOAD + length;
	uint8_t *bytes = malloc(room);
	struct aggregate_message reply;

	FUZZ_CHECK(bytes != NULL);
	memcpy(bytes, payload, length);
	length = aggregate_write_reply(bytes, length, outcome);
	FUZZ_CHECK(length <= room && aggregate_parse_reply(bytes, length, &reply) == 0);
	FUZZ_CHECK(reply.op == request->op && reply.id == request->id);
	FUZZ_CHECK(reply.code == NETFC_STATUS_OK || reply.reason == outcome->reason);
	FUZZ_CHECK(reply.code != NETFC_STATUS_OK || !aggregate_is_chunk(reply.op) ||
		outcome->action == AGGREGATE_REPEATED);
	free(bytes);
}

/* What is sent for a packet. */
static void
check(const uint8_t *payload, size_t length, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome)
{
	switch (aggregate_action_send(outcome->action)) {
	case AGGREGATE_SEND_UPWARDS:
		check_upwards(outcome);
		break;
	case AGGREGATE_SEND_REPLY:
	case AGGREGATE_SEND_RESULT:
		check_reply(payload, length, request, outcome);
		break;
	case AGGREGATE_SEND_RESULTS:
		FUZZ_CHECK(outcome->entry->state == AGGREGATE_COMPLETE);
		break;
	case AGGREGATE_SEND_NOTHING:
		break;
	}
}

/* One packet of a member. Returns its cookie, if it is answered with one. */
static uint64_t
take(const uint8_t *bytes, size_t length, uint8_t host)
{
	const struct aggregate_sender sender = {.address = {[15] = host}, .port = 5000};
	uint8_t *payload = own(bytes, length);
	struct aggregate_message request;
	struct aggregate_outcome outcome = {.action = AGGREGATE_DUPLICATE};

	packet_count++;
	if (aggregate_parse_request(payload, length, &request) == 0) {
		aggregate_shard_packet(shard, &request, &sender, now, &outcome);
		note(outcome.action);
		check(payload, length, &request, &outcome);
		if (outcome.action == AGGREGATE_JOINED)
			session = outcome.join.session;
	}
	free(payload);
	return outcome.action == AGGREGATE_COOKIE ? outcome.join.cookie : 0;
}

static void
step_join(struct fuzz_input *input)
{
	const uint8_t worker = fuzz_byte(input) % members, how = fuzz_byte(input);
	struct aggregate_message message = {.op = AGGREGATE_JOIN,
		.job = JOB,
		.worker = worker,
		.token = TOKEN,
		.join = {.workers = members,
			.slots = SLOTS,
			.bytes = BYTES,
			.incarnation = 1,
			.place = {.levels = 1, .workers = 100, .below = 1, .level = {{4, 1}}}}};
	uint8_t payload[MAX_PAYLOAD];

	message.join.place.levels = (uint8_t)(how >= 0xf0 ? how & 7 : 1);
	message.join.features = how >= 0xe0 ? how : how & AGGREGATE_FEATURE_ZEROS;
	message.join.incarnation = how >= 0xc0 ? how & 3 : 1;
	message.join.place.below = how >= 0xb0 ? how : 1;
	message.join.place.level[0].index = (uint8_t)(how >= 0xd0 ? how & 7 : 1);
	for (unsigned int i = 0; i < 2; i++) {
		aggregate_build_request(payload, &message);
		message.join.cookie = take(payload, aggregate_message_bytes(&message), worker);
	}
}

/* A chunk's header, and whatever the input has after it, or nothing: zeros. */
static void
step_chunk(struct fuzz_input *input)
{
	const uint8_t how = fuzz_byte(input), worker = fuzz_byte(input);
	const uint8_t more = fuzz_byte(input);
	size_t length = 64u + more;
	uint8_t payload[MAX_PAYLOAD] = {0};
	struct aggregate_message message = {.op = (uint8_t)(AGGREGATE_SUM + how % 5),
		.format = (uint8_t)(1 + (how >> 3) % (AGGREGATE_FORMAT_END - 1)),
		.worker = worker % members,
		.job = JOB,
		.id = worker >> 4,
		.session = session};
	const uint8_t *bytes = fuzz_bytes(input, &length);

	message.count = message.op == AGGREGATE_COPY ? 0 : 1 + (how >> 6);
	message.zeros = more >= 0xe0 && message.op != AGGREGATE_COPY;
	message.part.parts = worker >= 0x80 && message.op <= AGGREGATE_MEAN && !message.zeros;
	aggregate_build_request(payload, &message);
	memcpy(payload + AGGREGATE_HEADER_BYTES, bytes, length);
	take(payload,
		message.op == AGGREGATE_COPY || message.zeros ? AGGREGATE_HEADER_BYTES
							      : sizeof(payload),
		message.worker);
}

/* A chunk as one part, whose first digits the input has. */
static void
step_part(struct fuzz_input *input)
{
	const uint8_t how = fuzz_byte(input), worker = fuzz_byte(input), parts = fuzz_byte(input);
	const uint8_t lanes = 1 + (how >> 5), number = parts % 4, all = 1 + (parts >> 2) % 3;
	const uint8_t each = lanes / all;
	uint8_t payload[MAX_PAYLOAD] = {0};
	const uint8_t part[AGGREGATE_PART_BYTES] = {0, (uint8_t)(number * each), 0,
		number + 1 == all ? (uint8_t)(lanes - number * each) : each, number, all, how & 3,
		1};
	struct aggregate_message message = {.op = (uint8_t)(AGGREGATE_SUM + (how >> 2) % 2),
		.format = (uint8_t)(1 + (how >> 3) % 4),
		.worker = worker % members,
		.count = lanes,
		.job = JOB,
		.id = worker >> 4,
		.session = session,
		.part.parts = 1};
	size_t length = 4;
	const uint8_t *bytes = fuzz_bytes(input, &length);

	aggregate_build_request(payload, &message);
	memcpy(payload + AGGREGATE_HEADER_BYTES, part, sizeof(part));
	memcpy(payload + AGGREGATE_HEADER_BYTES + sizeof(part), bytes, length);
	take(payload, AGGREGATE_HEADER_BYTES + sizeof(part) + 4u * part[3], message.worker);
}

static void
step_bytes(struct fuzz_input *input)
{
	const uint8_t host = fuzz_byte(input);
	size_t length = fuzz_byte(input);
	const uint8_t *bytes = fuzz_bytes(input, &length);

	take(bytes, length, host % members);
}

/* A refusal for all members says what the parent said, and can be read. */
static void
check_refusal(const struct aggregate_message *refusal, const struct aggregate_outcome *outcome)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES];
	struct aggregate_message read;

	FUZZ_CHECK(outcome->entry->state == AGGREGATE_ABOVE && outcome->workers == members);
	FUZZ_CHECK(aggregate_result_bytes(outcome->entry, 0) == 0);
	aggregate_build_result(payload, refusal, 0, AGGREGATE_ACKNOWLEDGED, 0, NULL, 0);
	FUZZ_CHECK(aggregate_parse_reply(payload, sizeof(payload), &read) == 0);
	FUZZ_CHECK(read.code == AGGREGATE_STATUS_CODE && read.reason == refusal->reason &&
		read.session == session && read.id == outcome->entry->chunk);
	FUZZ_CHECK(read.reason < AGGREGATE_MISSING ||
		(read.level == refusal->level && read.detail == refusal->detail));
}

/* Whence a reply comes. */
enum source {
	FROM_PARENT,
	FROM_ANOTHER_HOST,
	FROM_ANOTHER_PORT,
	FROM_SECOND_SHARD,
	SOURCES
};

/* What comes from the parent, or nearly. It may have a second shard. */
static void
hear(const uint8_t *bytes, size_t length, enum source source)
{
	const struct aggregate_sender sender = {
		.address = {[14] = 1, [15] = source == FROM_ANOTHER_HOST},
		.port = (uint16_t)(PARENT_PORT - (source == FROM_ANOTHER_PORT) +
			(source == FROM_SECOND_SHARD))};
	uint8_t *payload = own(bytes, length);
	struct aggregate_message reply;
	struct aggregate_outcome outcome;

	packet_count++;
	if (aggregate_leaf_read(shard, payload, length, &reply) == 0) {
		aggregate_leaf_reply(shard, &reply, &sender, now, &outcome);
		note(outcome.action);
		FUZZ_CHECK(source == FROM_PARENT || source == FROM_SECOND_SHARD ||
			outcome.action == AGGREGATE_FORGED_REPLY ||
			outcome.action == AGGREGATE_STRAY_REPLY);
		if (outcome.action == AGGREGATE_HANDED_DOWN)
			FUZZ_CHECK(outcome.entry->state == AGGREGATE_COMPLETE &&
				reply.session == session && outcome.workers == members);
		if (outcome.action == AGGREGATE_REFUSAL_DOWN)
			check_refusal(&reply, &outcome);
	}
	free(payload);
}

/* What is to be sent upwards is noted: replies are made of it. */
static void
step_poll(void)
{
	struct aggregate_message message, request;
	uint8_t payload[MAX_PAYLOAD];

	for (unsigned int i = 0; i < 8 && aggregate_leaf_poll(shard, now, &message); i++) {
		const size_t length = aggregate_leaf_build(shard, &message, payload);

		FUZZ_CHECK(aggregate_parse_request(payload, length, &request) == 0);
		FUZZ_CHECK(request.op != AGGREGATE_JOIN || aggregate_place_is_good(&request.join));
		asked = request;
	}
}

/* To the latest join or leave, for one of a few reasons. */
static void
step_answer(struct fuzz_input *input)
{
	const uint8_t how = fuzz_byte(input);
	uint8_t payload[MAX_PAYLOAD];
	struct aggregate_message message = asked;

	if (asked.op != AGGREGATE_JOIN && asked.op != AGGREGATE_LEAVE)
		return;
	message.id += how >= 0xf0;
	message.join.shards = how >= 0xe0 ? how : 1 + (how & 1);
	message.join.slots = how >= 0xd0 ? how : 1u << (how & 3);
	message.join.bytes = how >= 0xc0 ? how : BYTES;
	message.join.place.decided = how < 0xb0;
	message.join.session = how >= 0xa0 ? how : PARENT_SESSION;
	aggregate_build_request(payload, &message);
	if ((how & 0x30) == 0)
		aggregate_refuse(payload, sizeof(payload), AGGREGATE_STATUS_CODE, how & 15);
	else
		aggregate_accept(payload, message.join.features, 0);
	hear(payload, aggregate_message_bytes(&message),
		(how & 0x38) == 0x38 ? FROM_ANOTHER_HOST : FROM_PARENT);
}

/* A result, or a refusal, of a chunk that may be there. */
static void
step_result(struct fuzz_input *input)
{
	const uint8_t how = fuzz_byte(input), what = fuzz_byte(input);
	uint8_t payload[MAX_PAYLOAD];
	struct aggregate_message message = {.op = (uint8_t)(AGGREGATE_SUM + how % 5),
		.format = (uint8_t)(1 + (how >> 3) % (AGGREGATE_FORMAT_END - 1)),
		.worker = 1,
		.count = 1 + (what >> 5),
		.job = JOB,
		.id = what & 15,
		.session = PARENT_SESSION};

	memset(payload, what, sizeof(payload));
	if (message.op == AGGREGATE_COPY)
		message.count = 0;
	aggregate_build_request(payload, &message);
	aggregate_accept(payload,
		message.op == AGGREGATE_COPY ? AGGREGATE_ACKNOWLEDGED
			: (how & 7) == 7     ? AGGREGATE_ZEROS
					     : AGGREGATE_ROUNDED,
		0);
	if ((what & 16) != 0)
		aggregate_refuse(payload, sizeof(payload), AGGREGATE_STATUS_CODE, how);
	hear(payload, (how & 7) == 7 ? AGGREGATE_HEADER_BYTES : sizeof(payload),
		(enum source)((how >> 4 & 2) | (how >> 6 & 1)));
}

static void
step_raw_reply(struct fuzz_input *input)
{
	const enum source source = (enum source)(fuzz_byte(input) % SOURCES);
	size_t length = fuzz_byte(input);
	const uint8_t *bytes = fuzz_bytes(input, &length);

	hear(bytes, length, source);
}

static void
step_leave(struct fuzz_input *input)
{
	const uint8_t how = fuzz_byte(input);
	const struct aggregate_message message = {.op = AGGREGATE_LEAVE,
		.job = JOB,
		.worker = how % members,
		.reason = how >> 1,
		.session = session};
	uint8_t payload[MAX_PAYLOAD];

	aggregate_build_request(payload, &message);
	take(payload, AGGREGATE_HEADER_BYTES, message.worker);
}

static void
step_time(struct fuzz_input *input)
{
	now += UINT64_C(1) << (fuzz_byte(input) & 15);
	aggregate_table_poll(table, now);
	aggregate_shard_quiescent(shard);
}

static void
check_counters(void)
{
	struct aggregate_counters counters;
	uint64_t counted = 0;

	aggregate_shard_counters(shard, &counters);
	for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		counted += counters.actions[a];
	FUZZ_CHECK(counted == packets);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	limits = (struct aggregate_limits){.shards = 1,
		.jobs = 2,
		.slots = SLOTS,
		.workers = 4,
		.bytes = BYTES,
		.formats = AGGREGATE_ALL_FORMATS,
		.digits = AGGREGATE_ALL_FORMATS,
		.parent = {.address = {[14] = 1}, .port = PARENT_PORT, .retry = 100, .repeat = 10},
		.isa = aggregate_isa_best(),
		.per_address = 2,
		.idle = 10 * STALL,
		.half_open = 5 * STALL,
		.stall = STALL,
		.cookie_period = 5 * STALL,
		.key = "sixteen bytes..."};
	memory = aligned_alloc(AGGREGATE_ALIGN, aggregate_table_bytes(&limits));
	FUZZ_CHECK(memory != NULL);
	fuzz_count_at_exit("frames", &packet_count);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};

	table = aggregate_table_init(memory, &limits);
	shard = aggregate_table_shard(table, 0);
	members = 1 + fuzz_byte(&input) % 3;
	now = 1000000;
	packets = session = 0;
	asked = (struct aggregate_message){0};
	while (input.left > 0) {
		switch (fuzz_byte(&input) % 10) {
		case 0:
			step_join(&input);
			break;
		case 1:
			step_chunk(&input);
			break;
		case 2:
			step_part(&input);
			break;
		case 3:
			step_bytes(&input);
			break;
		case 4:
			step_poll();
			break;
		case 5:
			step_answer(&input);
			break;
		case 6:
			step_result(&input);
			break;
		case 7:
			step_raw_reply(&input);
			break;
		case 8:
			step_leave(&input);
			break;
		default:
			step_time(&input);
			break;
		}
	}
	check_counters();
	return 0;
}
