/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: who may join, who is answered what, when they end and what becomes of their slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <aggregate.h>

#include "data.h"

#define TOKEN UINT64_C(0x1122334455667788)

static struct aggregate_limits limits;
static struct aggregate_table *table;
static struct aggregate_outcome outcome;
static uint8_t values[64];
static uint64_t now;

static struct aggregate_sender
sender_of(uint8_t host)
{
	struct aggregate_sender sender = {.address = {[10] = 0xff, [11] = 0xff, 10, 0, 0, host},
		.port = (uint16_t)(5000 + host),
		.path = {host, 0xee}};

	return sender;
}

static void
start(uint32_t shards, uint32_t jobs, uint32_t slots)
{
	size_t bytes;

	limits = (struct aggregate_limits){.shards = shards,
		.jobs = jobs,
		.slots = slots,
		.workers = 8,
		.bytes = sizeof(values),
		.formats = AGGREGATE_ALL_FORMATS & ~(1u << AGGREGATE_POSIT16),
		.isa = AGGREGATE_PLAIN,
		.idle = 6000,
		.stall = 1000,
		.cookie_period = 500,
		.key = "sixteen bytes..."};
	now = 100000;
	bytes = aggregate_table_bytes(&limits);
	assert_true(bytes > 0);
	table = aligned_alloc(AGGREGATE_ALIGN, (bytes + 63) / 64 * 64);
	assert_non_null(table);
	memset(table, 0xcc, bytes);
	assert_ptr_equal(aggregate_table_init(table, &limits), table);
}

static enum aggregate_action
handle_from(uint32_t shard, const struct aggregate_message *message, uint8_t host)
{
	struct aggregate_sender sender = sender_of(host);

	aggregate_shard_packet(
		aggregate_table_shard(table, shard), message, &sender, now, &outcome);
	return outcome.action;
}

static struct aggregate_message
join_message(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots)
{
	return (struct aggregate_message){.op = AGGREGATE_JOIN,
		.job = job,
		.worker = worker,
		.token = TOKEN,
		.join = {.workers = workers, .slots = slots, .bytes = sizeof(values)}};
}

/* A join as clients do it: first without a cookie, then with the one of the reply. */
static enum aggregate_action
send_join(struct aggregate_message message, uint8_t host)
{
	assert_int_equal(handle_from(0, &message, host), AGGREGATE_COOKIE);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_COOKIE);
	message.join.cookie = outcome.join.cookie;
	return handle_from(0, &message, host);
}

static enum aggregate_action
join(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots)
{
	return send_join(join_message(job, worker, workers, slots), worker);
}

static enum aggregate_action
leave(uint16_t job, uint8_t worker)
{
	const struct aggregate_message message = {
		.op = AGGREGATE_LEAVE, .job = job, .worker = worker, .token = TOKEN};

	return handle_from(0, &message, worker);
}

static struct aggregate_message
chunk_message(uint16_t job, uint8_t worker, uint32_t chunk)
{
	for (uint32_t i = 0; i < 3; i++)
		data_put(AGGREGATE_INT32, values, i, worker + 10 * i + 100);
	return (struct aggregate_message){.op = AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.count = 3,
		.job = job,
		.worker = worker,
		.id = chunk,
		.token = TOKEN,
		.values = values};
}

static enum aggregate_action
send_chunk(uint32_t shard, uint16_t job, uint8_t worker, uint32_t chunk)
{
	const struct aggregate_message message = chunk_message(job, worker, chunk);

	return handle_from(shard, &message, worker);
}

static void
pause_all(void)
{
	for (uint32_t s = 0; s < limits.shards; s++)
		aggregate_shard_quiescent(aggregate_table_shard(table, s));
}

static void
make_pair(uint16_t job, uint16_t slots)
{
	assert_int_equal(join(job, 0, 2, slots), AGGREGATE_WAITING);
	assert_int_equal(join(job, 1, 2, slots), AGGREGATE_JOINED);
}

static uint32_t
slots_used(void)
{
	struct aggregate_usage usage;

	aggregate_table_usage(table, &usage);
	return usage.slots;
}

static void
a_job_begins_when_all_have_joined(void **state)
{
	(void)state;
	start(1, 4, 16);
	assert_int_equal(join(7, 1, 3, 10), AGGREGATE_WAITING);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_WAITING);
	assert_int_equal(join(7, 0, 3, 10), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 10), AGGREGATE_WAITING);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_NO_JOB);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_NO_JOB);
	assert_int_equal(join(7, 2, 3, 10), AGGREGATE_JOINED);
	assert_int_equal(outcome.reason, 0);
	assert_int_equal(outcome.join.slots, 8);
	assert_int_equal(outcome.join.bytes, sizeof(values));
	assert_int_equal(outcome.join.shards, 1);
	assert_int_equal(join(7, 0, 3, 10), AGGREGATE_JOINED);
	assert_int_equal(slots_used(), 8);
}

static void
cookies_are_of_one_sender_and_one_time(void **state)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

	(void)state;
	start(1, 4, 16);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_COOKIE);
	message.worker = 1;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COOKIE);
	message.worker = 0;
	message.job = 8;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COOKIE);
	message.job = 7;
	message.token++;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COOKIE);
	message.token--;
	now += 3 * limits.cookie_period;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COOKIE);
	assert_int_equal(slots_used(), 0);
	now -= 2 * limits.cookie_period;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_WAITING);
	assert_int_equal(slots_used(), 4);
}

static void
joins_have_to_agree(void **state)
{
	struct aggregate_message other = join_message(7, 1, 2, 4);

	(void)state;
	start(1, 4, 16);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 4), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(join(7, 1, 2, 8), AGGREGATE_JOIN_MISMATCH);
	other.join.bytes = 32;
	assert_int_equal(send_join(other, 1), AGGREGATE_JOIN_MISMATCH);
	other = join_message(7, 1, 2, 4);
	other.token++;
	assert_int_equal(send_join(other, 1), AGGREGATE_WRONG_TOKEN);
	assert_int_equal(send_join(join_message(7, 0, 2, 4), 9), AGGREGATE_WRONG_ADDRESS);
	assert_int_equal(join(7, 2, 2, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

static void
joins_that_make_no_sense_make_no_job(void **state)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

	(void)state;
	start(1, 4, 16);
	assert_int_equal(join(7, 0, 0, 4), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join(7, 0, 2, 0), AGGREGATE_JOIN_MISMATCH);
	message.join.bytes = 3;
	assert_int_equal(send_join(message, 0), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join(7, 0, 9, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 2, 2, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 255, 2, 4), AGGREGATE_FULL);
	assert_int_equal(slots_used(), 0);
}

static void
jobs_and_slots_run_out(void **state)
{
	(void)state;
	start(1, 3, 16);
	make_pair(1, 8);
	make_pair(2, 65535);
	assert_int_equal(outcome.join.slots, 8);
	assert_int_equal(join(3, 0, 2, 1), AGGREGATE_FULL);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_FULL);
	assert_int_equal(leave(1, 0), AGGREGATE_LEFT);
	assert_int_equal(leave(1, 1), AGGREGATE_LEFT);
	/* The slots will be free as soon as shard 0 says that it is done with them. */
	assert_int_equal(join(3, 0, 2, 2), AGGREGATE_WAITING);
	pause_all();
	make_pair(3, 2);
	make_pair(4, 2);
	assert_int_equal(join(5, 0, 2, 2), AGGREGATE_FULL);
	assert_int_equal(slots_used(), 12);
}

static void
sums_reach_every_worker(void **state)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + 12];
	struct aggregate_message request = chunk_message(7, 1, 0), reply;
	const struct aggregate_sender *other;

	(void)state;
	start(1, 4, 16);
	make_pair(7, 4);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_DUPLICATE);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_COMPLETED);
	assert_int_equal(outcome.workers, 2);
	assert_int_equal(outcome.entry->ports[0], 5000);
	assert_int_equal(outcome.entry->ports[1], 5001);
	other = aggregate_worker_sender(aggregate_table_shard(table, 0), outcome.index, 1);
	assert_int_equal(other->address[15], 1);
	assert_int_equal(other->path[0], 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(data_get(AGGREGATE_INT32, outcome.entry->result, i),
			2 * (10 * i + 100) + 1);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_REPEATED);
	aggregate_build_request(payload, &request);
	aggregate_write_reply(payload, &outcome);
	assert_int_equal(aggregate_parse_reply(payload, sizeof(payload), &reply), 0);
	assert_int_equal(reply.code, 0);
	assert_memory_equal(reply.values, outcome.entry->result, 12);
}

static void
strangers_are_dropped_or_refused(void **state)
{
	struct aggregate_message message;

	(void)state;
	start(1, 4, 16);
	make_pair(7, 4);
	message = chunk_message(7, 0, 0);
	message.token ^= 1;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_WRONG_TOKEN);
	assert_int_equal(aggregate_action_send(AGGREGATE_WRONG_TOKEN), AGGREGATE_SEND_NOTHING);
	message = chunk_message(7, 2, 0);
	assert_int_equal(handle_from(0, &message, 2), AGGREGATE_UNKNOWN_WORKER);
	message.worker = 255;
	assert_int_equal(handle_from(0, &message, 2), AGGREGATE_UNKNOWN_WORKER);
	message = chunk_message(7, 0, 0);
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_WRONG_ADDRESS);
	message.job = 8;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_NO_JOB);
	message = chunk_message(7, 0, 0);
	message.count = 17;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_TOO_LARGE);
	message.count = 3;
	message.format = AGGREGATE_POSIT16;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_MISMATCH);
	assert_int_equal(send_chunk(0, 7, 0, 8), AGGREGATE_WINDOW);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_WINDOW);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_COMPLETED);
}

static void
each_shard_has_its_own_slots(void **state)
{
	(void)state;
	start(3, 4, 16);
	make_pair(7, 4);
	assert_int_equal(outcome.join.shards, 3);
	for (uint32_t chunk = 0; chunk < 8; chunk++)
		for (uint32_t s = 0; s < 3; s++)
			assert_int_equal(send_chunk(s, 7, 0, chunk),
				s == chunk % 4 % 3 ? AGGREGATE_ADDED : AGGREGATE_MISDIRECTED);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_MISMATCH);
	for (uint32_t chunk = 0; chunk < 8; chunk++)
		assert_int_equal(send_chunk(aggregate_shard_of(chunk, 4, 3), 7, 1, chunk),
			AGGREGATE_COMPLETED);
	assert_int_equal(handle_from(1, &(struct aggregate_message){.op = AGGREGATE_LEAVE}, 0),
		AGGREGATE_MISDIRECTED);
}

static void
slots_are_free_when_no_shard_can_be_at_them(void **state)
{
	(void)state;
	start(2, 4, 4);
	make_pair(7, 4);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_ADDED);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	assert_int_equal(send_chunk(1, 7, 1, 1), AGGREGATE_COMPLETED);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	assert_int_equal(leave(7, 1), AGGREGATE_NO_JOB);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_NO_JOB);
	aggregate_table_poll(table, now);
	assert_int_equal(slots_used(), 4);
	aggregate_shard_quiescent(aggregate_table_shard(table, 0));
	aggregate_table_poll(table, now);
	assert_int_equal(slots_used(), 4);
	aggregate_shard_quiescent(aggregate_table_shard(table, 1));
	aggregate_table_poll(table, now);
	assert_int_equal(slots_used(), 0);
	/* What comes next finds them empty. */
	make_pair(9, 4);
	assert_int_equal(send_chunk(1, 9, 0, 1), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(1, 9, 1, 1), AGGREGATE_COMPLETED);
}

static void
leaving_early_makes_room(void **state)
{
	(void)state;
	start(1, 4, 4);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(leave(7, 1), AGGREGATE_UNKNOWN_WORKER);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	assert_int_equal(leave(7, 0), AGGREGATE_NO_JOB);
	pause_all();
	make_pair(7, 4);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	/* It has lost its place: the chunks so far are not to be had again. */
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_FULL);
}

static void
silence_ends_jobs(void **state)
{
	(void)state;
	start(2, 4, 8);
	make_pair(7, 4);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_WAITING);
	now += limits.idle - 1;
	assert_int_equal(aggregate_table_poll(table, now), 0);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_ADDED);
	now += 1;
	assert_int_equal(aggregate_table_poll(table, now), 1);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_DUPLICATE);
	now += limits.idle;
	assert_int_equal(aggregate_table_poll(table, now), 1);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_NO_JOB);
	pause_all();
	aggregate_table_poll(table, now);
	assert_int_equal(slots_used(), 0);
}

/* Who does not know the secret can't keep a job alive. */
static void
strangers_keep_no_job_alive(void **state)
{
	struct aggregate_message message = chunk_message(7, 0, 0);

	(void)state;
	start(1, 4, 8);
	make_pair(7, 4);
	now += limits.idle;
	message.token++;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_WRONG_TOKEN);
	assert_int_equal(aggregate_table_poll(table, now), 1);
}

static void
the_silent_worker_is_named(void **state)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + 12];
	struct aggregate_message request = chunk_message(7, 1, 0), reply;

	(void)state;
	start(1, 4, 8);
	assert_int_equal(join(7, 0, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 2, 3, 4), AGGREGATE_JOINED);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_ADDED);
	now += limits.stall;
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_SILENT + 2);
	aggregate_build_request(payload, &request);
	aggregate_write_reply(payload, &outcome);
	assert_int_equal(aggregate_parse_reply(payload, sizeof(payload), &reply), 0);
	assert_int_equal(reply.code, AGGREGATE_STATUS_CODE);
	assert_int_equal(reply.reason, AGGREGATE_SILENT + 2);
	assert_int_equal(send_chunk(0, 7, 2, 0), AGGREGATE_COMPLETED);
}

static void
everything_is_counted(void **state)
{
	struct aggregate_counters counters;
	struct aggregate_usage usage;
	struct aggregate_info info;
	uint64_t sum = 0;

	(void)state;
	start(1, 4, 16);
	make_pair(7, 4);
	send_chunk(0, 7, 0, 0);
	send_chunk(0, 7, 0, 0);
	send_chunk(0, 7, 1, 0);
	send_chunk(0, 6, 1, 0);
	aggregate_shard_counters(aggregate_table_shard(table, 0), &counters);
	for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		sum += counters.actions[a];
	assert_int_equal(sum, 8);
	assert_int_equal(counters.actions[AGGREGATE_COOKIE], 2);
	assert_int_equal(counters.actions[AGGREGATE_NO_JOB], 1);
	assert_int_equal(counters.values, 6);
	assert_true(aggregate_table_info(table, 0, &info));
	assert_false(aggregate_table_info(table, 1, &info));
	assert_true(aggregate_table_info(table, 0, &info));
	assert_int_equal(info.job, 7);
	assert_int_equal(info.workers, 2);
	assert_int_equal(info.slots, 4);
	assert_true(info.open);
	assert_int_equal(info.joined, 3);
	assert_int_equal(info.counters.actions[AGGREGATE_DUPLICATE], 1);
	assert_int_equal(info.counters.actions[AGGREGATE_COMPLETED], 1);
	assert_int_equal(info.counters.values, 6);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.jobs, 1);
	assert_int_equal(usage.counters.made, 1);
	assert_int_equal(usage.counters.complete, 1);
	/* A job that comes after it at the same place begins at zero. */
	leave(7, 0);
	leave(7, 1);
	pause_all();
	make_pair(9, 4);
	send_chunk(0, 9, 0, 0);
	assert_true(aggregate_table_info(table, 0, &info));
	assert_int_equal(info.job, 9);
	assert_int_equal(info.counters.actions[AGGREGATE_ADDED], 1);
	assert_int_equal(info.counters.actions[AGGREGATE_DUPLICATE], 0);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.counters.ended, 1);
}

static void
limits_have_bounds(void **state)
{
	struct aggregate_limits wrong;

	(void)state;
	start(1, 4, 16);
	assert_null(aggregate_limits_problem(&limits));
#define REFUSED(field, value)                                       \
	do {                                                        \
		wrong = limits;                                     \
		wrong.field = (value);                              \
		assert_non_null(aggregate_limits_problem(&wrong));  \
		assert_int_equal(aggregate_table_bytes(&wrong), 0); \
	} while (0)
	REFUSED(shards, 0);
	REFUSED(shards, AGGREGATE_MAX_SHARDS + 1);
	REFUSED(jobs, 0);
	REFUSED(jobs, AGGREGATE_MAX_JOBS + 1);
	REFUSED(slots, 0);
	REFUSED(slots, AGGREGATE_MAX_SLOTS + 1);
	REFUSED(workers, 0);
	REFUSED(workers, AGGREGATE_MAX_WORKERS + 1);
	REFUSED(bytes, 3);
	REFUSED(bytes, 65536);
	REFUSED(formats, 1);
	REFUSED(cookie_period, 0);
	REFUSED(isa, AGGREGATE_ISAS);
#undef REFUSED
}

static int
tear_down(void **state)
{
	(void)state;
	free(table);
	return 0;
}

#define TEST_(name) cmocka_unit_test_teardown(name, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST_(a_job_begins_when_all_have_joined),
		TEST_(cookies_are_of_one_sender_and_one_time),
		TEST_(joins_have_to_agree),
		TEST_(joins_that_make_no_sense_make_no_job),
		TEST_(jobs_and_slots_run_out),
		TEST_(sums_reach_every_worker),
		TEST_(strangers_are_dropped_or_refused),
		TEST_(each_shard_has_its_own_slots),
		TEST_(slots_are_free_when_no_shard_can_be_at_them),
		TEST_(leaving_early_makes_room),
		TEST_(silence_ends_jobs),
		TEST_(strangers_keep_no_job_alive),
		TEST_(the_silent_worker_is_named),
		TEST_(everything_is_counted),
		TEST_(limits_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
