/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf below its parent, packet by packet: what it asks for, and what it makes of the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <aggregate.h>

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

/* What the leaf has to say to its parent, and the answers. */
static void
exchange(struct aggregate_table *leaf, struct aggregate_table *root)
{
	struct aggregate_shard *shard = aggregate_table_shard(leaf, 0);
	const struct aggregate_sender from = sender_of(ROOT_HOST, PORT);
	struct aggregate_message message, request, reply;
	struct aggregate_outcome outcome;

	while (aggregate_leaf_poll(shard, now, &message)) {
		size_t length = aggregate_leaf_build(shard, &message, packet);

		assert_int_equal(aggregate_parse_request(packet, length, &request), 0);
		outcome = handle(root, &request, LEAF_HOST);
		length = aggregate_write_reply(packet, length, &outcome);
		assert_int_equal(aggregate_leaf_read(shard, packet, length, &reply), 0);
		aggregate_leaf_reply(shard, &reply, &from, now, &outcome);
		assert_int_equal(outcome.action, AGGREGATE_PARENT_ANSWERED);
	}
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

/* A worker asks for more than its leaf takes, and the parent takes it: packets upwards. */
static void
sums_fit_what_the_leaf_has_room_for(void **state)
{
	const struct aggregate_limits below = limits_of(320, true), above = limits_of(8948, false);
	struct aggregate_table *leaf = make(&below), *root = make(&above);
	struct aggregate_shard *shard = aggregate_table_shard(leaf, 0);
	struct aggregate_message message = join_message(1, 0, 1, 8940), request;
	struct aggregate_outcome outcome;
	uint8_t values[320];
	unsigned int packets;

	(void)state;
	now = 100000;
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
	}
	free(leaf);
	free(root);
}

/* Two jobs of one number and different tokens at a leaf: the first that is complete is the job. */
static void
a_grant_does_not_replace_a_running_job(void **state)
{
	const struct aggregate_limits below = limits_of(320, true), above = limits_of(320, false);
	struct aggregate_table *leaf = make(&below), *root = make(&above);
	struct aggregate_message tree = join_message(111, 0, 1, 64), other, request;
	struct aggregate_outcome outcome;
	uint64_t session;

	(void)state;
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
static void
repeated_packets_with_tags_are_harmless_after_the_numbers_wrapped(void **state)
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

	(void)state;
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
static void
members_of_a_lost_job_hear_of_it_whatever_their_chunks_are(void **state)
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

	(void)state;
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

static void
a_worker_and_a_leaf_at_one_switch_have_chunks_of_one_size(void **state)
{
	(void)state;
	workers_of_a_tree_are_granted_one_size(1448, true);
}

static void
leaves_with_other_limits_have_chunks_of_one_size(void **state)
{
	(void)state;
	workers_of_a_tree_are_granted_one_size(1024, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_fit_what_the_leaf_has_room_for),
		cmocka_unit_test(a_grant_does_not_replace_a_running_job),
		cmocka_unit_test(leaves_with_other_limits_have_chunks_of_one_size),
		cmocka_unit_test(a_worker_and_a_leaf_at_one_switch_have_chunks_of_one_size),
		cmocka_unit_test(repeated_packets_with_tags_are_harmless_after_the_numbers_wrapped),
		cmocka_unit_test(members_of_a_lost_job_hear_of_it_whatever_their_chunks_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
