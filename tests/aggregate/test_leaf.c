/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf below its parent, packet by packet: what it asks for, and what it makes of the answers. */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "cases.h"
#include "jobs/job.h"

#define PORT 20040
#define ROOT_HOST 200
#define LEAF_HOST 201
#define JOB 5
#define ROOM 16384

static uint64_t now;
static uint8_t packet[ROOM];

static struct aggregate_limits
limits_of(uint32_t bytes, bool leaf)
{
	struct aggregate_limits limits = {.shards = 1,
		.jobs = 4,
		.slots = 16,
		.workers = 8,
		.bytes = bytes,
		.formats = AGGREGATE_ALL_FORMATS,
		.digits = AGGREGATE_ALL_FORMATS,
		.isa = AGGREGATE_PLAIN,
		.per_address = 4,
		.idle = 6000,
		.half_open = 500,
		.stall = 1000,
		.cookie_period = 100000,
		.key = {(uint8_t)(leaf ? 1 : 2)}};

	if (leaf)
		limits.parent = (struct aggregate_parent){
			.address = {[15] = ROOT_HOST}, .port = PORT, .retry = 50, .repeat = 20};
	return limits;
}

static struct aggregate_table *
make(const struct aggregate_limits *limits)
{
	size_t bytes = (aggregate_table_bytes(limits) + 63) / 64 * 64;
	void *memory = aligned_alloc(AGGREGATE_ALIGN, bytes);

	assert_non_null(memory);
	return aggregate_table_init(memory, limits);
}

static struct aggregate_sender
sender_of(uint8_t host, uint16_t port)
{
	return (struct aggregate_sender){.address = {[15] = host}, .port = port};
}

static struct aggregate_outcome
handle(struct aggregate_table *table, const struct aggregate_message *message, uint8_t host)
{
	const struct aggregate_sender sender =
		sender_of(host, host >= ROOT_HOST ? PORT : (uint16_t)(5000 + host));
	struct aggregate_outcome outcome;

	aggregate_shard_packet(aggregate_table_shard(table, 0), message, &sender, now, &outcome);
	return outcome;
}

static struct aggregate_message
join_message(uint64_t token, uint8_t worker, uint8_t workers, uint16_t bytes)
{
	return (struct aggregate_message){.op = AGGREGATE_JOIN,
		.job = JOB,
		.worker = worker,
		.token = token,
		.join = {.workers = workers, .slots = 4, .bytes = bytes, .incarnation = 1}};
}

static struct aggregate_outcome
join(struct aggregate_table *table, struct aggregate_message message, uint8_t host)
{
	struct aggregate_outcome outcome = handle(table, &message, host);

	assert_int_equal(outcome.action, AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	return handle(table, &message, host);
}

/* What the leaf at a host has to say to its parent, and the answers. */
static void
exchange_from(struct aggregate_table *leaf, struct aggregate_table *root, uint8_t host)
{
	struct aggregate_shard *shard = aggregate_table_shard(leaf, 0);
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);
	struct aggregate_message message, request, reply;
	struct aggregate_outcome outcome;

	while (aggregate_leaf_poll(shard, now, &message)) {
		size_t length = aggregate_leaf_build(shard, &message, packet);

		assert_int_equal(aggregate_parse_request(packet, length, &request), 0);
		outcome = handle(root, &request, host);
		length = aggregate_write_reply(packet, length, &outcome);
		assert_int_equal(aggregate_leaf_read(shard, packet, length, &reply), 0);
		aggregate_leaf_reply(shard, &reply, &from, now, &outcome);
		assert_int_equal(outcome.action, AGGREGATE_PARENT_ANSWERED);
	}
}

static void
exchange(struct aggregate_table *leaf, struct aggregate_table *root)
{
	exchange_from(leaf, root, LEAF_HOST);
}

static struct aggregate_message
chunk(uint64_t session, uint8_t worker, uint32_t id)
{
	static const uint8_t values[8] = {0, 0, 0, 1, 0, 0, 0, 2};

	return (struct aggregate_message){.op = AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.count = 2,
		.job = JOB,
		.worker = worker,
		.id = id,
		.session = session,
		.values = values};
}

/* Where a packet says which part it is. */
#define PART_AT (AGGREGATE_HEADER_BYTES + 4)

/* A worker asks for more than its leaf takes, and the parent takes it: packets upwards. */
TEST(sums_fit_what_the_leaf_has_room_for)
{
	struct aggregate_limits below = limits_of(320, true), above = limits_of(8948, false);
	struct aggregate_table *leaf, *root = make(&above);
	struct aggregate_message message = join_message(1, 0, 1, 8940), request;
	struct aggregate_shard *shard;
	struct aggregate_outcome outcome;
	uint8_t values[320];
	unsigned int packets;
	uint64_t passed = 0; /* parts */

	now = 100000;
	below.stall = 1000000; /* the parent may be silent */
	leaf = make(&below);
	shard = aggregate_table_shard(leaf, 0);
	message.join.place = (struct aggregate_place){
		.levels = 1, .workers = 1, .below = 1, .level = {{.members = 1, .index = 0}}};
	outcome = join(leaf, message, 1);
	assert_int_equal(outcome.action, AGGREGATE_WAITING);
	exchange(leaf, root);
	outcome = join(leaf, message, 1);
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	assert_true(outcome.join.bytes <= below.bytes);

	/* 40 doubles of all sizes. */
	for (unsigned int i = 0; i < 40; i++) {
		memset(values + 8 * i, 0x11, 8);
		values[8 * i] = (uint8_t)(3 * i);
	}
	request = chunk(outcome.join.session, 0, 0);
	request.format = AGGREGATE_FP64;
	request.count = (uint16_t)(outcome.join.bytes / 8);
	request.values = values;
	outcome = handle(leaf, &request, 1);
	assert_int_equal(outcome.action, AGGREGATE_PASSED);
	packets = aggregate_leaf_packets(shard, &outcome);
	assert_true(packets > 0);
	for (unsigned int p = 0; p < packets; p++) {
		size_t length = aggregate_leaf_write(shard, &outcome, p, packet);

		assert_true(length <= AGGREGATE_HEADER_BYTES + below.bytes);
		assert_int_equal(packet[PART_AT], p);
		passed |= p < 2 ? UINT64_C(1) << p : 0;
	}
	/* A queue on the way that holds two packets has others each time. */
	for (unsigned int times = 0; times < 20 * packets; times++) {
		now += below.parent.repeat + times % 3;
		outcome = handle(leaf, &request, 1);
		assert_int_equal(outcome.action, AGGREGATE_PASSED_AGAIN);
		assert_int_equal(aggregate_leaf_packets(shard, &outcome), packets);
		for (unsigned int p = 0; p < 2; p++) {
			aggregate_leaf_write(shard, &outcome, p, packet);
			passed |= UINT64_C(1) << packet[PART_AT];
		}
	}
	assert_int_equal(__builtin_popcountll(passed), packets);
	free(leaf);
	free(root);
}

/* Two jobs of one number and different tokens at a leaf: the first that is complete is the job. */
TEST(a_grant_does_not_replace_a_running_job)
{
	const struct aggregate_limits below = limits_of(320, true), above = limits_of(320, false);
	struct aggregate_table *leaf = make(&below), *root = make(&above);
	struct aggregate_message tree = join_message(111, 0, 1, 64), other, request;
	struct aggregate_outcome outcome;
	uint64_t session;

	now = 100000;
	/* One job waits for the parent, where another member is missing. */
	tree.join.place = (struct aggregate_place){
		.levels = 1, .workers = 2, .below = 1, .level = {{.members = 2, .index = 0}}};
	assert_int_equal(join(leaf, tree, 1).action, AGGREGATE_WAITING);
	exchange(leaf, root);
	/* Another one, with another token, is complete: it is the job. */
	outcome = join(leaf, join_message(222, 0, 1, 64), 2);
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	session = outcome.join.session;
	request = chunk(session, 0, 0);
	assert_int_equal(handle(leaf, &request, 2).action, AGGREGATE_COMPLETED);
	/* The missing member comes to the parent, which answers the leaf. */
	other = join_message(111, 1, 2, 64);
	other.join.place = (struct aggregate_place){.levels = 0, .workers = 2, .below = 1};
	assert_int_equal(join(root, other, 9).action, AGGREGATE_JOINED);
	now += 60;
	exchange(leaf, root);
	/* The running job goes on. */
	request = chunk(session, 0, 1);
	outcome = handle(leaf, &request, 2);
	assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
	free(leaf);
	free(root);
}

/* A chunk's whole number, as its sender counts; the packet is in `packet`. Returns its bytes. */
static size_t
tag_chunk(const struct aggregate_tag_key *key, const struct aggregate_message *message,
	uint64_t number)
{
	const size_t length = aggregate_message_bytes(message);

	aggregate_build_request(packet, message);
	memcpy(packet + AGGREGATE_HEADER_BYTES, message->values, 8);
	aggregate_tag_make(key, packet, length, (uint32_t)(number >> 32));
	return length + AGGREGATE_TAG_BYTES;
}

/* An attacker on the path repeats a packet of 2^31 chunks ago, with its good tag. */
TEST(repeated_packets_with_tags_are_harmless_after_the_numbers_wrapped)
{
	struct aggregate_secret *secret =
		aggregate_secret_create((const uint8_t *)"a cluster's key has 32 bytes....");
	struct aggregate_limits limits = limits_of(64, false);
	struct aggregate_table *table;
	struct aggregate_shard *shard;
	struct aggregate_message message, request;
	struct aggregate_outcome outcome;
	struct aggregate_tag_key key;
	struct aggregate_seal seal;
	const uint64_t kept = UINT64_C(0x80000010); /* by the attacker */
	const uint64_t numbers[] = {0, UINT64_C(0x3fffffff), UINT64_C(0x7fffffff), kept,
		UINT64_C(0xbfffffff), UINT64_C(0xffffffff), UINT64_C(0x100000005), kept,
		UINT64_C(0x100000018)};

	assert_non_null(secret);
	limits.secret = secret;
	table = make(&limits);
	shard = aggregate_table_shard(table, 0);
	now = 100000;
	outcome = join(table, join_message(1, 0, 1, 64), 1);
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	aggregate_tag_session_key(secret, JOB, outcome.join.session, AGGREGATE_TO_SWITCH, &key);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t length;

		message = chunk(outcome.join.session, 0, (uint32_t)numbers[i]);
		length = tag_chunk(&key, &message, numbers[i]);
		assert_int_equal(aggregate_shard_read(shard, packet, length, &request, &seal), 0);
	}
	free(table);
	aggregate_secret_free(secret);
}

/* A switch that was restarted has not counted along. */
TEST(members_of_a_lost_job_hear_of_it_whatever_their_chunks_are)
{
	static const uint64_t numbers[] = {0, UINT64_C(0xffffffff), UINT64_C(0x100000005),
		UINT64_C(0x700000000), UINT64_C(0x3fffffffff)};
	const uint64_t session = UINT64_C(0x5e5510), beyond = UINT64_C(0x4000000000);
	struct aggregate_secret *secret =
		aggregate_secret_create((const uint8_t *)"a cluster's key has 32 bytes....");
	struct aggregate_limits limits = limits_of(64, true);
	struct aggregate_tag_key to_switch, to_workers;
	const struct aggregate_sender sender = sender_of(1, 5001);
	struct aggregate_message message, request;
	struct aggregate_outcome outcome;
	struct aggregate_table *table;
	struct aggregate_shard *shard;
	struct aggregate_seal seal;
	size_t length;

	assert_non_null(secret);
	limits.secret = secret;
	table = make(&limits);
	shard = aggregate_table_shard(table, 0);
	now = 100000;
	aggregate_tag_session_key(secret, JOB, session, AGGREGATE_TO_SWITCH, &to_switch);
	aggregate_tag_session_key(secret, JOB, session, AGGREGATE_TO_WORKERS, &to_workers);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const uint32_t high = (uint32_t)(numbers[i] >> 32);

		message = chunk(session, 0, (uint32_t)numbers[i]);
		length = tag_chunk(&to_switch, &message, numbers[i]);
		assert_int_equal(aggregate_shard_read(shard, packet, length, &request, &seal), 0);
		aggregate_shard_packet(shard, &request, &sender, now, &outcome);
		assert_int_equal(outcome.action, AGGREGATE_NO_JOB);
		length = aggregate_write_reply(packet, length, &outcome);
		aggregate_seal_reply(&seal, packet, length);
		assert_true(aggregate_tag_is_good(&to_workers, packet, length, high));
		/* It is late, at a leaf that has no such job either. */
		assert_int_equal(aggregate_leaf_read(shard, packet, length, &request), 0);
		packet[30] ^= 1;
		assert_int_equal(
			aggregate_leaf_read(shard, packet, length, &request), AGGREGATE_FORGED);
	}
	message = chunk(session, 0, 0);
	length = tag_chunk(&to_switch, &message, beyond);
	assert_int_equal(
		aggregate_shard_read(shard, packet, length, &request, &seal), AGGREGATE_FORGED);
	free(table);
	aggregate_secret_free(secret);
}

/* Workers that take any size, as the library's do: one at the root, one at a leaf below it. */
static void
workers_of_a_tree_are_granted_one_size(uint32_t leaf_bytes, bool mixed)
{
	const struct aggregate_limits below = limits_of(leaf_bytes, true),
				      other_below = limits_of(1448, true),
				      above = limits_of(1448, false);
	struct aggregate_table *leaf = make(&below), *other = make(&other_below),
			       *root = make(&above);
	struct aggregate_message at_leaf = join_message(1, 0, 1, 8940),
				 at_root = join_message(1, 1, 2, 8940);
	struct aggregate_outcome outcome;
	uint16_t granted;

	now = 100000;
	at_leaf.join.least = at_root.join.least = 8;
	at_leaf.join.place = (struct aggregate_place){
		.levels = 1, .workers = 2, .below = 1, .level = {{.members = 2, .index = 0}}};
	assert_int_equal(join(leaf, at_leaf, 1).action, AGGREGATE_WAITING);
	exchange(leaf, root);
	if (mixed) {
		at_root.join.place =
			(struct aggregate_place){.levels = 0, .workers = 2, .below = 1};
		outcome = join(root, at_root, 9);
	} else {
		/* The other leaf has another address: here, the same one by another member number.
		 */
		at_leaf.join.place.level[0].index = 1;
		assert_int_equal(join(other, at_leaf, 1).action, AGGREGATE_WAITING);
		exchange(other, root);
		outcome = join(other, at_leaf, 1);
		at_leaf.join.place.level[0].index = 0;
	}
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	granted = outcome.join.bytes;
	now += 60;
	exchange(leaf, root);
	outcome = join(leaf, at_leaf, 1);
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, granted);
	free(leaf);
	free(other);
	free(root);
}

TEST(a_worker_and_a_leaf_at_one_switch_have_chunks_of_one_size)
{
	workers_of_a_tree_are_granted_one_size(1448, true);
}

TEST(leaves_with_other_limits_have_chunks_of_one_size)
{
	workers_of_a_tree_are_granted_one_size(1024, false);
}

/*
 * Digits at the ends of what a worker may send: three workers at one switch, and the same ones as
 * two of a leaf and one of another.
 */

#define ENDS 4 /* lanes: the greatest, the least, 1, and one with few digits that are not 0 */
#define DIGITS_BYTES 1448
#define WORKERS 3

struct triple {
	struct aggregate_table *one, *root, *leaf[2];
	uint64_t of_one, of_leaf[2]; /* sessions */
};

static struct aggregate_limits
roomy(bool leaf)
{
	return limits_of(DIGITS_BYTES, leaf);
}

static uint64_t
join_for(struct aggregate_table *table, unsigned int worker, unsigned int workers,
	const struct aggregate_place *place, enum aggregate_action expected)
{
	struct aggregate_message message =
		join_message(1, (uint8_t)worker, (uint8_t)workers, DIGITS_BYTES);
	struct aggregate_outcome outcome;

	message.join.place = *place;
	outcome = join(table, message, (uint8_t)(worker + 1));
	assert_int_equal(outcome.action, expected);
	return outcome.join.session;
}

static struct triple
make_triple(void)
{
	const struct aggregate_limits above = roomy(false), below = roomy(true);
	struct triple triple = {
		.one = make(&above), .root = make(&above), .leaf = {make(&below), make(&below)}};
	struct aggregate_place alone = {.levels = 0};
	struct aggregate_place place[] = {{.levels = 1,
						  .workers = WORKERS,
						  .below = 1,
						  .level = {{.members = 2, .index = 0}}},
		{.levels = 1,
			.workers = WORKERS,
			.below = 1,
			.level = {{.members = 2, .index = 1}}}};

	now = 100000;
	for (unsigned int w = 0; w < WORKERS; w++)
		triple.of_one = join_for(triple.one, w, WORKERS, &alone,
			w + 1 < WORKERS ? AGGREGATE_WAITING : AGGREGATE_JOINED);
	for (unsigned int w = 0; w < 2; w++)
		join_for(triple.leaf[0], w, 2, &place[0], AGGREGATE_WAITING);
	join_for(triple.leaf[1], 0, 1, &place[1], AGGREGATE_WAITING);
	for (unsigned int round = 0; round < 2; round++, now += 60)
		for (uint8_t l = 0; l < 2; l++)
			exchange_from(triple.leaf[l], triple.root, LEAF_HOST + l);
	triple.of_leaf[0] = join_for(triple.leaf[0], 0, 2, &place[0], AGGREGATE_JOINED);
	triple.of_leaf[1] = join_for(triple.leaf[1], 0, 1, &place[1], AGGREGATE_JOINED);
	return triple;
}

static void
free_triple(struct triple *triple)
{
	free(triple->one);
	free(triple->root);
	free(triple->leaf[0]);
	free(triple->leaf[1]);
}

/* Write a lane, from its digits' least significant one on. */
static void
put_lane(uint8_t *at, unsigned int width, uint32_t top, uint32_t middle, uint32_t bottom)
{
	for (unsigned int d = 0; d < width; d++) {
		const uint32_t digit = d + 1 == width ? top : d == 0 ? bottom : middle;

		for (unsigned int byte = 0; byte < 4; byte++)
			at[4 * (width - 1 - d) + byte] = (uint8_t)(digit >> (24 - 8 * byte));
	}
}

/* All digits that the format has, of all ends; `turn` is which lane has which. */
static struct aggregate_message
ends_of(unsigned int format, unsigned int op, uint32_t id, unsigned int turn, uint8_t *digits)
{
	const unsigned int width = aggregate_total_digits(format);
	struct aggregate_message message = chunk(0, 0, id);

	for (unsigned int lane = 0; lane < ENDS; lane++) {
		uint8_t *at = digits + (size_t)lane * 4 * width;

		switch ((lane + turn) % ENDS) {
		case 0:
			put_lane(at, width, INT32_MAX, UINT32_MAX, UINT32_MAX);
			break;
		case 1:
			put_lane(at, width, UINT32_C(1) << 31, 0, 0);
			break;
		case 2:
			put_lane(at, width, 0, 0, 1);
			break;
		default:
			put_lane(at, width, UINT32_C(1) << 30, 0, 0);
		}
	}
	message.op = (uint8_t)op;
	message.format = (uint8_t)format;
	message.count = ENDS;
	message.values = NULL;
	message.part = (struct aggregate_part){
		.lanes = ENDS, .parts = 1, .width = (uint8_t)width, .digits = digits};
	return message;
}

/* The chunk of one worker, whose sums go up if they are complete. Returns the last outcome. */
static struct aggregate_outcome
give(struct triple *triple, unsigned int l, unsigned int worker, struct aggregate_message message)
{
	struct aggregate_shard *shard = aggregate_table_shard(triple->leaf[l], 0);
	struct aggregate_message request;
	struct aggregate_outcome outcome, above = {.entry = NULL};
	unsigned int packets;

	message.session = triple->of_leaf[l];
	message.worker = (uint8_t)worker;
	outcome = handle(triple->leaf[l], &message, (uint8_t)(worker + 1));
	if (outcome.action != AGGREGATE_PASSED)
		return outcome;
	packets = aggregate_leaf_packets(shard, &outcome);
	assert_true(packets > 0);
	for (unsigned int p = 0; p < packets; p++) {
		size_t length = aggregate_leaf_write(shard, &outcome, p, packet);

		assert_int_equal(aggregate_parse_request(packet, length, &request), 0);
		above = handle(triple->root, &request, (uint8_t)(LEAF_HOST + l));
	}
	return above;
}

/* The parent's result comes back, so that the slot is free for the next but one. */
static void
hand_down(struct triple *triple, const struct aggregate_outcome *result)
{
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);

	for (uint8_t l = 0; l < 2; l++) {
		const struct aggregate_entry *entry = result->entry;
		struct aggregate_message reply = {.op = entry->op,
			.format = entry->format,
			.count = entry->count,
			.job = JOB,
			.worker = l,
			.id = entry->chunk,
			.session = triple->root->jobs[0].session,
			.values = entry->result};
		struct aggregate_outcome outcome;

		aggregate_leaf_reply(
			aggregate_table_shard(triple->leaf[l], 0), &reply, &from, now, &outcome);
		assert_int_equal(outcome.action, AGGREGATE_HANDED_DOWN);
	}
}

/* A leaf counts its own workers; to its parent it is a worker itself, in when its digits are. */
TEST(each_switch_of_a_tree_counts_its_members)
{
	struct triple triple = make_triple();
	struct aggregate_info leaf, other, root;

	give(&triple, 0, 1, chunk(0, 0, 0));
	now += 10;
	assert_int_equal(give(&triple, 0, 0, chunk(0, 0, 0)).action, AGGREGATE_ADDED);
	now += 90;
	assert_int_equal(give(&triple, 1, 0, chunk(0, 0, 0)).action, AGGREGATE_COMPLETED);
	assert_true(aggregate_table_info(triple.leaf[0], 0, &leaf));
	assert_true(aggregate_table_info(triple.leaf[1], 0, &other));
	assert_true(aggregate_table_info(triple.root, 0, &root));
	assert_true(leaf.last[0] == 1 && leaf.waited[0] == 10 && leaf.last[1] == 0);
	assert_true(other.last[0] == 0 && other.waited[0] == 0);
	assert_true(root.last[1] == 1 && root.waited[1] == 90 && root.last[0] == 0);
	free_triple(&triple);
}

/* What ends a barrier is that the parent acknowledges it, and no result of nothing. */
TEST(a_barrier_is_acknowledged_by_the_parent)
{
	static const uint8_t reasons[] = {
		AGGREGATE_ROUNDED, AGGREGATE_ZEROS, AGGREGATE_ACKNOWLEDGED};
	struct triple triple = make_triple();
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);
	struct aggregate_message message = chunk(0, 0, 0), reply;
	struct aggregate_outcome outcome;

	message.op = AGGREGATE_COPY;
	message.count = 0;
	message.values = NULL;
	for (unsigned int w = 0; w < WORKERS; w++)
		outcome = give(&triple, w / 2, w % 2, message);
	assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
	for (unsigned int r = 0; r < sizeof(reasons); r++) {
		reply = message;
		reply.reason = reasons[r];
		reply.worker = 1;
		reply.session = triple.root->jobs[0].session;
		aggregate_leaf_reply(
			aggregate_table_shard(triple.leaf[1], 0), &reply, &from, now, &outcome);
		assert_int_equal(outcome.action,
			reasons[r] == AGGREGATE_ACKNOWLEDGED ? AGGREGATE_HANDED_DOWN
							     : AGGREGATE_STRAY_REPLY);
	}
	free_triple(&triple);
}

TEST(a_tree_and_one_switch_agree_at_the_ends_of_digits)
{
	struct triple triple = make_triple();
	uint8_t digits[WORKERS][ENDS * 4 * AGGREGATE_MAX_DIGITS];
	uint32_t id = 0;

	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) {
		if (aggregate_format_name(format) == NULL)
			continue;
		for (unsigned int turn = 0; turn < 2 * ENDS * ENDS; turn++, id++) {
			const unsigned int op = turn < ENDS * ENDS ? AGGREGATE_SUM : AGGREGATE_MEAN;
			const unsigned int turns[WORKERS] = {0, turn % ENDS, turn / ENDS % ENDS};
			struct aggregate_outcome one, above;
			struct aggregate_message message;

			for (uint8_t w = 0; w < WORKERS; w++) {
				message = ends_of(format, op, id, turns[w], digits[w]);
				message.session = triple.of_one;
				message.worker = w;
				one = handle(triple.one, &message, (uint8_t)(w + 1));
				above = give(&triple, w / 2, w % 2, message);
			}
			assert_int_equal(one.action, AGGREGATE_COMPLETED);
			assert_int_equal(above.action, AGGREGATE_COMPLETED);
			assert_memory_equal(one.entry->result, above.entry->result,
				ENDS * aggregate_result_value_bytes(format));
			assert_int_equal(one.entry->flags, above.entry->flags);
			hand_down(&triple, &above);
		}
	}
	free_triple(&triple);
}

/* The digit beyond is for sums of several workers, and no greater than these can be. */
TEST(a_worker_has_no_digit_beyond_the_format)
{
	struct triple triple = make_triple();
	uint8_t digits[ENDS * 4 * (AGGREGATE_MAX_DIGITS + 1)] = {0};
	struct aggregate_message message = ends_of(AGGREGATE_FP32, AGGREGATE_SUM, 0, 0, digits),
				 request;
	size_t length = AGGREGATE_HEADER_BYTES + AGGREGATE_PART_BYTES;

	message.part.width++;
	assert_true(aggregate_part_exceeds(&message.part, AGGREGATE_FP32));
	assert_int_equal(give(&triple, 0, 0, message).action, AGGREGATE_BAD_PARTS);
	/* As bytes. */
	message.part.lanes = 1;
	for (int64_t excess = -AGGREGATE_MAX_EXCESS - 1; excess <= AGGREGATE_MAX_EXCESS + 1;
		excess += AGGREGATE_MAX_EXCESS / 2 + 1) {
		uint8_t *part = packet + AGGREGATE_HEADER_BYTES;

		aggregate_build_request(packet, &message);
		memset(part, 0, AGGREGATE_PART_BYTES);
		part[3] = part[5] = 1;
		part[7] = message.part.width;
		put_lane(part + AGGREGATE_PART_BYTES, message.part.width, (uint32_t)excess, 7, 7);
		message.count = 1;
		assert_int_equal(
			aggregate_parse_request(packet, length + 4u * message.part.width, &request),
			excess >= -AGGREGATE_MAX_EXCESS && excess <= AGGREGATE_MAX_EXCESS
				? 0
				: NETFC_STATUS_LENGTH);
	}
	free_triple(&triple);
}

/* The members of the leaf that comes later hear its number, as the other leaf's do. */
TEST(a_leaf_that_differs_is_named_at_both)
{
	struct triple triple = make_triple();
	uint8_t digits[ENDS * 4 * AGGREGATE_MAX_DIGITS];
	struct aggregate_message message = ends_of(AGGREGATE_FP32, AGGREGATE_SUM, 0, 0, digits),
				 reply;
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);
	struct aggregate_outcome outcome;

	for (unsigned int w = 0; w < 2; w++)
		outcome = give(&triple, 0, w, message);
	assert_int_equal(outcome.action, AGGREGATE_ADDED);
	message.op = AGGREGATE_MEAN;
	outcome = give(&triple, 1, 0, message);
	assert_int_equal(outcome.action, AGGREGATE_MISMATCH);
	reply = (struct aggregate_message){.op = AGGREGATE_MEAN,
		.format = AGGREGATE_FP32,
		.count = ENDS,
		.code = AGGREGATE_STATUS_CODE,
		.reason = AGGREGATE_REASON_MISMATCH,
		.job = JOB,
		.worker = 1,
		.session = triple.root->jobs[0].session};
	aggregate_leaf_reply(
		aggregate_table_shard(triple.leaf[1], 0), &reply, &from, now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_REFUSAL_DOWN);
	assert_int_equal(reply.reason, AGGREGATE_MISSING + 1);
	assert_int_equal(reply.absence, AGGREGATE_ABSENT_FAILED);
	assert_int_equal(reply.detail, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(reply.level, 1);
	free_triple(&triple);
}

/* An error that has no reason: to all members at once, and again to who missed it. */
TEST(errors_of_the_parent_are_told_as_what_they_are)
{
	struct triple triple = make_triple();
	uint8_t digits[ENDS * 4 * AGGREGATE_MAX_DIGITS];
	struct aggregate_message message = ends_of(AGGREGATE_FP32, AGGREGATE_SUM, 0, 0, digits),
				 reply, told;
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);
	struct aggregate_outcome outcome;
	size_t length;

	for (unsigned int w = 0; w < 2; w++)
		give(&triple, 0, w, message);
	reply = (struct aggregate_message){.op = AGGREGATE_SUM,
		.format = AGGREGATE_FP32,
		.count = ENDS,
		.code = NETFC_STATUS_LENGTH,
		.job = JOB,
		.session = triple.root->jobs[0].session};
	aggregate_leaf_reply(
		aggregate_table_shard(triple.leaf[0], 0), &reply, &from, now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_REFUSAL_DOWN);
	aggregate_build_result(packet, &reply, 1, AGGREGATE_ACKNOWLEDGED, 0, NULL, 0);
	assert_int_equal(aggregate_parse_reply(packet, AGGREGATE_HEADER_BYTES, &told), 0);
	assert_int_equal(told.code, NETFC_STATUS_LENGTH);
	now += 30;
	outcome = give(&triple, 0, 0, message);
	assert_int_equal(outcome.action, AGGREGATE_REFUSED_ABOVE);
	message.session = triple.of_leaf[0];
	aggregate_build_request(packet, &message);
	length = aggregate_write_reply(packet, aggregate_message_bytes(&message), &outcome);
	assert_int_equal(aggregate_parse_reply(packet, length, &told), 0);
	assert_int_equal(told.code, NETFC_STATUS_LENGTH);
	free_triple(&triple);
}
