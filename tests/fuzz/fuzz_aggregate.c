/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of several workers through parser, table of jobs, slots and accumulators, beside a model.
 *
 * Input: a byte that chooses instruction set, shards, and whether there is a cluster's key; then
 * steps, each a byte that says what happens and its operands: a packet that is well-formed, one
 * whose payload is the input's, or time that passes. Payloads lie in memory of exactly their size.
 * Checked: every result is the exact sum of what was added; every reply can be read, and its tag is
 * good; each packet is counted once. Kinds to reach: those of outcomes.h.
 */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>
#include <aggregate_registers.h>

#include "exact.h"
#include "fuzz.h"
#include "model.h"
#include "outcomes.h"
#include "reached.h"

#define MAX_SHARDS 2
#define SLOTS 8
#define JOB_NUMBERS 4
#define STALL 1000
#define TOKEN UINT64_C(0x0102030405060708)
#define MAX_PAYLOAD 128 /* of random bytes */
#define MAX_MESSAGE 192 /* header, 16 values of 8 bytes, tag */
#define KEYED 0xC0      /* of the first byte, from there on: with a cluster's key */
#define DRAIN 0xFF      /* of time: from there on no job begins */
#define FORGERS 0xF0    /* of hosts, from there on: theirs is another key */

static const uint8_t cluster_key[AGGREGATE_CLUSTER_KEY_BYTES] = "thirty-two bytes, of one cluster";
static struct aggregate_secret *secret_of_switch, *secret_of_workers; /* each with its engine */
static struct aggregate_limits limits;
static void *memory;
static struct aggregate_table *table;
static uint64_t now, packets;
static uint64_t sessions[JOB_NUMBERS]; /* as granted last */
static uint64_t packet_count;          /* of all inputs */

/* ---- packets --------------------------------------------------------------------------------- */

static void
make_key(const struct aggregate_message *message, enum aggregate_direction direction,
	struct aggregate_tag_key *key)
{
	if (message->op == AGGREGATE_JOIN)
		aggregate_tag_join_key(secret_of_workers, direction, key);
	else
		aggregate_tag_session_key(
			secret_of_workers, message->job, message->session, direction, key);
}

/* A reply ends in a tag if there is a key; returns the bytes before it. */
static size_t
check_tag(uint8_t *payload, size_t length, const struct aggregate_message *request,
	const struct aggregate_seal *seal)
{
	struct aggregate_tag_key key;

	if (limits.secret == NULL)
		return length;
	aggregate_seal_reply(seal, payload, length);
	make_key(request, AGGREGATE_TO_WORKERS, &key);
	FUZZ_CHECK(aggregate_tag_is_good(&key, payload, length, 0));
	return length - AGGREGATE_TAG_BYTES;
}

/* A copy of the request in just as much memory as its reply needs. */
static uint8_t *
room_for_reply(const uint8_t *payload, size_t length, const struct aggregate_outcome *outcome)
{
	bool is_result = aggregate_action_send(outcome->action) == AGGREGATE_SEND_RESULT;
	size_t room = is_result ? aggregate_result_bytes(outcome->entry, outcome->worker) : 0;
	uint8_t *bytes;

	room += AGGREGATE_HEADER_BYTES + (limits.secret != NULL ? AGGREGATE_TAG_BYTES : 0);
	bytes = malloc(room > length ? room : length);
	FUZZ_CHECK(bytes != NULL);
	memcpy(bytes, payload, length);
	return bytes;
}

/* What is sent to the sender is a reply that a client reads, of the packet's length. */
static void
check_reply(uint8_t *payload, size_t length, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, const struct aggregate_seal *seal)
{
	enum aggregate_send send = aggregate_action_send(outcome->action);
	struct aggregate_message reply;
	uint8_t *bytes;

	if (send != AGGREGATE_SEND_REPLY && send != AGGREGATE_SEND_RESULT)
		return;
	bytes = room_for_reply(payload, length, outcome);
	length = aggregate_write_reply(bytes, length, outcome);
	length = check_tag(bytes, length, request, seal);
	FUZZ_CHECK(aggregate_parse_reply(bytes, length, &reply) == 0);
	FUZZ_CHECK(reply.op == request->op && reply.job == request->job &&
		reply.id == request->id && reply.worker == request->worker);
	FUZZ_CHECK(reply.code == NETFC_STATUS_OK || aggregate_reason_name(reply.reason) != NULL);
	if (send == AGGREGATE_SEND_RESULT)
		model_check_result(&reply);
	else
		FUZZ_CHECK(reply.reason ==
				(outcome->action == AGGREGATE_JOINED ? outcome->join.features
								     : outcome->reason) &&
			(reply.code != NETFC_STATUS_OK || !aggregate_is_chunk(reply.op)));
	free(bytes);
}

static struct aggregate_sender
sender_of(uint8_t host)
{
	return (struct aggregate_sender){.address = {[10] = 0xff, [11] = 0xff, 10, 0, 0, host & 7},
		.port = (uint16_t)(5000 + host)};
}

/* What is no request is refused by its code, in as many bytes as there are; what is forged, by
 * none. */
static void
refuse(uint8_t *payload, size_t length, int code)
{
	struct aggregate_message reply;

	if (code == AGGREGATE_NOT_OURS)
		return;
	if (code == AGGREGATE_FORGED) {
		packets++;
		outcomes_action(AGGREGATE_BAD_TAG);
		return;
	}
	FUZZ_CHECK(limits.secret == NULL);
	outcomes_refused((uint8_t)code);
	aggregate_refuse(payload, length, (uint8_t)code, 0);
	FUZZ_CHECK((aggregate_parse_reply(payload, length, &reply) == 0) ==
		(length >= AGGREGATE_HEADER_BYTES));
	FUZZ_CHECK(length < AGGREGATE_HEADER_BYTES || reply.code == code);
}

/* One packet, to a shard from a host; returns the cookie that it is answered with, or 0. */
static uint64_t
take(uint8_t *payload, size_t length, uint32_t shard, uint8_t host)
{
	struct aggregate_shard *machine = aggregate_table_shard(table, shard);
	struct aggregate_sender sender = sender_of(host);
	struct aggregate_message request;
	struct aggregate_outcome outcome;
	struct aggregate_seal seal;
	int code = aggregate_shard_read(machine, payload, length, &request, &seal);

	packet_count++;
	if (code != 0) {
		refuse(payload, length, code);
		return 0;
	}
	FUZZ_CHECK(limits.secret == NULL || host < FORGERS);
	packets++;
	aggregate_shard_packet(machine, &request, &sender, now, &outcome);
	FUZZ_CHECK(outcome.action < AGGREGATE_ACTION_COUNT);
	outcomes_action(outcome.action);
	model_follow(&request, &outcome);
	check_reply(payload, length, &request, &outcome, &seal);
	if (outcome.action == AGGREGATE_JOINED)
		sessions[request.job % JOB_NUMBERS] = outcome.join.session;
	return outcome.action == AGGREGATE_COOKIE ? outcome.join.cookie : 0;
}

/* Whatever comes to a worker, it reads no value past the end. */
static void
read_as_worker(const uint8_t *payload, size_t length)
{
	struct aggregate_message reply;
	size_t value;

	if (aggregate_parse_reply(payload, length, &reply) != 0 || reply.values == NULL)
		return;
	value = reply.code != NETFC_STATUS_OK    ? aggregate_value_bytes(reply.format)
		: reply.reason == AGGREGATE_SUMS ? aggregate_registers_bytes(reply.format)
						 : aggregate_result_value_bytes(reply.format);
	FUZZ_CHECK(reply.values + reply.count * value <= payload + length);
}

/* The bytes in memory of their own. */
static uint64_t
take_bytes(const uint8_t *bytes, size_t length, uint32_t shard, uint8_t host)
{
	uint8_t *payload = malloc(length > 0 ? length : 1);
	uint64_t cookie;

	FUZZ_CHECK(payload != NULL);
	memcpy(payload, bytes, length);
	read_as_worker(payload, length);
	cookie = take(payload, length, shard, host);
	free(payload);
	return cookie;
}

/* Writes a tag after a request; returns the length of both. */
static size_t
add_tag(uint8_t *payload, size_t length, const struct aggregate_message *message, uint8_t host)
{
	struct aggregate_tag_key key;

	if (limits.secret == NULL)
		return length;
	make_key(message, host < FORGERS ? AGGREGATE_TO_SWITCH : AGGREGATE_TO_WORKERS, &key);
	aggregate_tag_make(&key, payload, length, 0);
	return length + AGGREGATE_TAG_BYTES;
}

static uint64_t
take_message(const struct aggregate_message *message, uint32_t shard, uint8_t host)
{
	size_t length = aggregate_message_bytes(message);
	uint8_t payload[MAX_MESSAGE];

	aggregate_build_request(payload, message);
	if (message->values != NULL)
		memcpy(payload + AGGREGATE_HEADER_BYTES, message->values,
			message->count * aggregate_value_bytes(message->format));
	return take_bytes(payload, add_tag(payload, length, message, host), shard, host);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static struct aggregate_message
some_message(struct fuzz_input *input, uint8_t op)
{
	uint8_t who = fuzz_byte(input), job = who & (JOB_NUMBERS - 1);

	return (struct aggregate_message){.op = op,
		.job = job,
		.worker = who >> 2 & 7,
		.token = (op == AGGREGATE_JOIN ? TOKEN : sessions[job]) + (who >= 0xf8)};
}

/* Hosts are workers, unless the input says otherwise. */
static uint8_t
some_host(struct fuzz_input *input, const struct aggregate_message *message)
{
	uint8_t other = fuzz_byte(input);

	return other < 0xe0 ? message->worker : other;
}

static void
step_join(struct fuzz_input *input)
{
	struct aggregate_message message = some_message(input, AGGREGATE_JOIN);
	uint8_t host = some_host(input, &message), what = fuzz_byte(input);

	message.join = (struct aggregate_join){.workers = what & 7,
		.slots = 1u << (what >> 3 & 3),
		.bytes = what >> 5 & 3 ? BYTES : 8,
		.incarnation = (what >> 5 & 3) == 3 ? 2 : 1,
		.features = (what & 0x40) != 0 ? AGGREGATE_FEATURE_ZEROS : 0};
	message.join.cookie = take_message(&message, 0, host);
	if ((what & 0x80) == 0)
		take_message(&message, 0, host);
}

static void
step_leave(struct fuzz_input *input)
{
	struct aggregate_message message = some_message(input, AGGREGATE_LEAVE);
	uint8_t host = some_host(input, &message);

	message.reason = fuzz_byte(input);
	take_message(&message, 0, host);
}

/* A worker's values: a lane's go together, so that they cancel, overflow and so on. */
static void
fill(uint8_t *values, const struct aggregate_message *message, uint8_t kind)
{
	uint64_t seed = (uint64_t)kind << 32 | message->id;
	uint64_t lane[8];

	for (uint32_t i = 0; i < message->count; i++) {
		data_fill((enum data_kind)(kind % DATA_KINDS), message->format, lane, 8, &seed);
		data_put(message->format, values, i, lane[message->worker]);
	}
}

/* What an owned chunk is: any reduction, or a copy, of nothing as well. */
static void
make_owned(struct aggregate_message *message, uint8_t what)
{
	message->owner = (uint8_t)(AGGREGATE_OWNER + (what & 7));
	if ((what & 8) == 0)
		return;
	message->op = AGGREGATE_COPY;
	if (what >= 0xf0) {
		message->count = 0;
		message->owner = 0;
	}
	/* Others' values, now and then. */
	if (!aggregate_sends_values(message->op, message->owner, message->worker) &&
		(what & 0x70) != 0x70)
		message->values = NULL;
}

static void
make_zeros(struct aggregate_message *message)
{
	message->zeros = true;
	message->values = NULL;
}

static void
step_chunk(struct fuzz_input *input, bool owned)
{
	static const uint8_t formats[] = {AGGREGATE_FP16, AGGREGATE_POSIT16, AGGREGATE_BF16,
		AGGREGATE_POSIT16_ES2, AGGREGATE_FP32, AGGREGATE_INT32, AGGREGATE_FP64,
		AGGREGATE_INT64, AGGREGATE_FP8_E4M3, AGGREGATE_FP8_E5M2,
		AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_FP32),
		AGGREGATE_INTO(AGGREGATE_FP8_E5M2, AGGREGATE_FP16),
		AGGREGATE_INTO(AGGREGATE_FP8_E5M2, AGGREGATE_BF16),
		AGGREGATE_INTO(AGGREGATE_FP16, AGGREGATE_FP32),
		AGGREGATE_INTO(AGGREGATE_BF16, AGGREGATE_FP32),
		AGGREGATE_INTO(AGGREGATE_FP32, AGGREGATE_FP16)};
	struct aggregate_message message = some_message(input, AGGREGATE_SUM);
	uint8_t host = some_host(input, &message), how = fuzz_byte(input), kind;
	uint8_t values[MAX_MESSAGE];
	struct aggregate_info info;

	message.op = (uint8_t)(AGGREGATE_SUM + (how & 3));
	message.format = formats[(how >> 2 & 15) % (sizeof(formats) / sizeof(formats[0]))];
	message.id = fuzz_byte(input);
	kind = fuzz_byte(input);
	message.count = 1 + (kind >> 4);
	message.values = values;
	fill(values, &message, kind);
	if (owned)
		make_owned(&message, fuzz_byte(input));
	if ((how & 0xc0) == 0x80 && message.values != NULL && message.count != 0)
		make_zeros(&message);
	if (!model_find_job(message.job, &info))
		info.slots = SLOTS;
	take_message(&message,
		how >= 0xf8 ? how % limits.shards
			    : aggregate_shard_of(message.id, info.slots, limits.shards),
		host);
}

static void
step_bytes(struct fuzz_input *input)
{
	uint8_t host = fuzz_byte(input), shard = fuzz_byte(input);
	size_t length = fuzz_byte(input) % MAX_PAYLOAD;
	const uint8_t *bytes = fuzz_bytes(input, &length);

	take_bytes(bytes, length, shard % limits.shards, host);
}

/* Time passes, and every shard is between two packets. */
static void
step_time(struct fuzz_input *input)
{
	uint8_t how = fuzz_byte(input);

	now += UINT64_C(1) << (how & 15);
	if (how == DRAIN)
		aggregate_table_drain(table);
	aggregate_table_poll(table, now);
	for (uint32_t s = 0; s < limits.shards; s++)
		aggregate_shard_quiescent(aggregate_table_shard(table, s));
	aggregate_table_poll(table, now);
	model_forget_ended();
}

/* Each packet has been counted once, under one name. */
static void
check_counters(void)
{
	struct aggregate_usage usage;
	uint64_t counted = 0;

	for (uint32_t s = 0; s < limits.shards; s++) {
		struct aggregate_counters counters;

		aggregate_shard_counters(aggregate_table_shard(table, s), &counters);
		for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
			counted += counters.actions[a];
	}
	FUZZ_CHECK(counted == packets);
	aggregate_table_usage(table, &usage);
	FUZZ_CHECK(usage.jobs <= JOBS && usage.slots <= SLOTS);
}

static void
start(uint8_t how)
{
	const unsigned int chosen_isa = how % OUTCOMES_ISAS;

	limits.isa = chosen_isa < aggregate_isa_best() ? chosen_isa : aggregate_isa_best();
	limits.shards = 1 + how / OUTCOMES_ISAS % MAX_SHARDS;
	limits.secret = how < KEYED ? NULL : secret_of_switch;
	free(memory);
	memory = aligned_alloc(AGGREGATE_ALIGN,
		(aggregate_table_bytes(&limits) + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN *
			AGGREGATE_ALIGN);
	FUZZ_CHECK(memory != NULL);
	table = aggregate_table_init(memory, &limits);
	now = 1000000;
	packets = 0;
	memset(sessions, 0, sizeof(sessions));
	model_start(table, chosen_isa);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	reached_init(*argc, *argv);
	outcomes_expect();
	secret_of_switch = aggregate_secret_create(cluster_key);
	secret_of_workers = aggregate_secret_create_for(cluster_key, AGGREGATE_ENGINE_NETTLE);
	FUZZ_CHECK(secret_of_switch != NULL && secret_of_workers != NULL);
	limits = (struct aggregate_limits){.jobs = JOBS,
		.slots = SLOTS,
		.workers = WORKERS,
		.bytes = BYTES,
		.formats = AGGREGATE_ALL_FORMATS,
		.per_address = 2,
		.idle = 10 * STALL,
		.half_open = 5 * STALL,
		.stall = STALL,
		.cookie_period = 5 * STALL,
		.key = "sixteen bytes..."};
	fuzz_count_at_exit("frames", &packet_count);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};

	start(fuzz_byte(&input));
	while (input.left > 0 && !model_is_full()) {
		switch (fuzz_byte(&input) & 7) {
		case 0:
			step_join(&input);
			break;
		case 1:
			step_leave(&input);
			break;
		case 2:
			step_bytes(&input);
			break;
		case 3:
			step_time(&input);
			break;
		default:
			step_chunk(&input, false);
			break;
		case 7:
			step_chunk(&input, true);
			break;
		}
	}
	check_counters();
	return 0;
}
