/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: who is answered what, when they end and what becomes of their slots. */
#include "cases.h"
#include "exact.h"
#include "jobs.h"

JOBS_TEST(sums_reach_every_worker)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + 12];
	struct aggregate_message request = chunk_message(7, 1, 0), reply;
	const struct aggregate_sender *other;

	start_pair(1);
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
	aggregate_write_reply(payload, sizeof(payload), &outcome);
	assert_int_equal(aggregate_parse_reply(payload, sizeof(payload), &reply), 0);
	assert_int_equal(reply.code, 0);
	assert_memory_equal(reply.values, outcome.entry->result, 12);
}

JOBS_TEST(strangers_are_dropped_or_refused)
{
	struct aggregate_message message;

	start_pair(1);
	message = chunk_message(7, 0, 0);
	message.session ^= 1;
	assert_int_equal(handle_from(0, &message, 2), AGGREGATE_STALE_SESSION);
	assert_int_equal(aggregate_action_send(AGGREGATE_STALE_SESSION), AGGREGATE_SEND_NOTHING);
	/* A worker's own host hears that its job is over. */
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_NO_JOB);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_NO_JOB);
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
	reduce_pair(7, 0);
}

JOBS_TEST(each_shard_has_its_own_slots)
{
	start_pair(3);
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

JOBS_TEST(slots_are_free_when_no_shard_can_be_at_them)
{
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

JOBS_TEST(silence_ends_jobs)
{
	start(2, 4, 8);
	make_pair(7, 4);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_WAITING);
	now += limits.half_open - 1;
	assert_int_equal(aggregate_table_poll(table, now), 0);
	now += 1;
	assert_int_equal(aggregate_table_poll(table, now), 1);
	now += limits.idle - limits.half_open - 1;
	assert_int_equal(aggregate_table_poll(table, now), 0);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_ADDED);
	now += 1;
	assert_int_equal(aggregate_table_poll(table, now), 0);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_DUPLICATE);
	now += limits.idle;
	assert_int_equal(aggregate_table_poll(table, now), 1);
	assert_int_equal(send_chunk(1, 7, 0, 1), AGGREGATE_NO_JOB);
	pause_all();
	aggregate_table_poll(table, now);
	assert_int_equal(slots_used(), 0);
}

/* Who does not know the secret can't keep a job alive. */
JOBS_TEST(strangers_keep_no_job_alive)
{
	struct aggregate_message message = chunk_message(7, 0, 0);

	start(1, 4, 8);
	make_pair(7, 4);
	now += limits.idle;
	message.session++;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_NO_JOB);
	assert_int_equal(aggregate_table_poll(table, now), 1);
}

JOBS_TEST(the_silent_worker_is_named)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + 12];
	struct aggregate_message request = chunk_message(7, 1, 0), reply;
	struct aggregate_info info;

	start(1, 4, 8);
	assert_int_equal(join(7, 0, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 2, 3, 4), AGGREGATE_JOINED);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_ADDED);
	now += limits.stall;
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.silent, 0);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 2);
	aggregate_build_request(payload, &request);
	aggregate_write_reply(payload, sizeof(payload), &outcome);
	assert_int_equal(aggregate_parse_reply(payload, sizeof(payload), &reply), 0);
	assert_int_equal(reply.code, AGGREGATE_STATUS_CODE);
	assert_int_equal(reply.reason, AGGREGATE_MISSING + 2);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.silent, 1 << 2);
	assert_int_equal(send_chunk(0, 7, 2, 0), AGGREGATE_COMPLETED);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.silent, 0);
}

JOBS_TEST(everything_is_counted)
{
	struct aggregate_counters counters;
	struct aggregate_usage usage;
	struct aggregate_info info;
	uint64_t sum = 0;

	start_pair(1);
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

JOBS_TEST(jobs_have_slots_of_their_own)
{
	start(1, 4, 16);
	for (uint16_t job = 6; job < 10; job++)
		make_pair(job, 4);
	assert_int_equal(slots_used(), 16);
	for (uint8_t w = 0; w < 2; w++)
		for (uint16_t job = 6; job < 10; job++)
			assert_int_equal(send_chunk(0, job, w, 0),
				w == 0 ? AGGREGATE_ADDED : AGGREGATE_COMPLETED);
}

JOBS_TEST(limits_have_bounds)
{
	struct aggregate_limits wrong;

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
	REFUSED(per_address, 0);
	REFUSED(formats, 1);
	REFUSED(cookie_period, 0);
	REFUSED(isa, AGGREGATE_ISAS);
	limits.parent = (struct aggregate_parent){.port = 20040, .retry = 1};
	assert_null(aggregate_limits_problem(&limits));
	REFUSED(parent.retry, 0);
#undef REFUSED
}

/* Owners that are in the job; what is copied has one, and needs no accumulators. */
JOBS_TEST(owners_are_workers_of_the_job)
{
	struct aggregate_message message;
	struct aggregate_info info;

	start(1, 2, 8);
	make_pair(7, 4);
	message = chunk_message(7, 0, 0);
	message.owner = AGGREGATE_OWNER + 2;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_MISMATCH);
	message.op = AGGREGATE_COPY;
	message.owner = 0;
	message.values = NULL;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_MISMATCH);
	message.owner = AGGREGATE_OWNER + 1;
	message.format = AGGREGATE_POSIT16; /* that nothing is kept for */
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.counters.values, 0);
	message = chunk_message(7, 1, 0);
	message.op = AGGREGATE_COPY;
	message.owner = AGGREGATE_OWNER + 1;
	message.format = AGGREGATE_POSIT16;
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_COMPLETED);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.counters.values, 3);
	assert_int_equal(info.counters.actions[AGGREGATE_MISMATCH], 2);
}

/* Who repeats gets what it got, or should have got, before: values or an acknowledgement. */
JOBS_TEST(a_repeat_is_answered_by_its_kind)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + VALUE_BYTES];
	struct aggregate_message message, reply;

	start(1, 2, 8);
	make_pair(7, 4);
	for (uint8_t i = 0; i < 4; i++) {
		uint8_t w = i % 2;
		size_t length;

		message = chunk_message(7, w, 0);
		message.op = AGGREGATE_COPY;
		message.owner = AGGREGATE_OWNER + 1;
		if (w == 0)
			message.values = NULL;
		handle_from(0, &message, w);
		if (i < 2)
			continue;
		assert_int_equal(outcome.action, AGGREGATE_REPEATED);
		aggregate_build_request(payload, &message);
		length =
			aggregate_write_reply(payload, aggregate_message_bytes(&message), &outcome);
		assert_int_equal(length, AGGREGATE_HEADER_BYTES + (w == 0 ? 12 : 0));
		assert_int_equal(aggregate_parse_reply(payload, length, &reply), 0);
		assert_int_equal(reply.reason, w == 0 ? AGGREGATE_ROUNDED : AGGREGATE_ACKNOWLEDGED);
		if (w == 0)
			assert_int_equal(data_get(AGGREGATE_INT32, reply.values, 2), 121);
	}
}
