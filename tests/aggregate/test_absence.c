/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom a worker hears to be missing, and why. */
#include "cases.h"
#include "jobs.h"

/* How often workers that wait send again. */
#define REPEAT (limits.stall / 8)

static void
make_three(uint32_t shards)
{
	start(shards, 4, 16);
	assert_int_equal(join(7, 0, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 2, 3, 4), AGGREGATE_JOINED);
}

static void
keep_alive(uint8_t worker)
{
	struct aggregate_message message = join_message(7, worker, 3, 4);

	message.join.session = leave_message(7, worker).session;
	assert_int_equal(handle_from(0, &message, worker), AGGREGATE_JOINED);
}

/* Worker 0 sends chunk 0 again and again for that long. */
static void
wait_for(uint64_t ticks)
{
	for (uint64_t end = now + ticks; now < end; now += REPEAT)
		send_chunk(0, 7, 0, 0);
}

static void
hears(unsigned int worker, enum aggregate_absence absence, unsigned int detail)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + 12];
	struct aggregate_message request, reply;

	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_STALLED);
	request = chunk_message(7, 0, 0);
	aggregate_build_request(payload, &request);
	aggregate_write_reply(payload, sizeof(payload), &outcome);
	assert_int_equal(aggregate_parse_reply(payload, sizeof(payload), &reply), 0);
	assert_int_equal(reply.code, AGGREGATE_STATUS_CODE);
	assert_int_equal(reply.reason, AGGREGATE_MISSING + worker);
	assert_int_equal(reply.absence, absence);
	assert_int_equal(reply.detail, detail);
}

static struct aggregate_message
leave_for(uint8_t worker, uint8_t reason)
{
	struct aggregate_message message = leave_message(7, worker);

	message.reason = reason;
	return message;
}

JOBS_TEST(who_is_not_heard_is_silent)
{
	make_three(1);
	wait_for(limits.stall + REPEAT);
	hears(1, AGGREGATE_ABSENT_SILENT, 2);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_STALLED);
	hears(2, AGGREGATE_ABSENT_SILENT, 1);
}

JOBS_TEST(who_keeps_alive_is_late)
{
	make_three(1);
	send_chunk(0, 7, 2, 0);
	for (unsigned int i = 0; i < 5; i++) {
		wait_for(limits.stall / 2);
		keep_alive(1);
	}
	hears(1, AGGREGATE_ABSENT_LATE, 1);
	wait_for(limits.stall + REPEAT);
	hears(1, AGGREGATE_ABSENT_SILENT, 1);
}

/* It sends chunks of another shard's slots. */
JOBS_TEST(what_another_shard_hears_counts)
{
	make_three(2);
	send_chunk(0, 7, 2, 0);
	wait_for(limits.stall);
	assert_int_equal(send_chunk(1, 7, 1, 1), AGGREGATE_ADDED);
	wait_for(limits.stall / 2);
	hears(1, AGGREGATE_ABSENT_LATE, 1);
}

/* The network was cut for all: nobody is blamed for what the switch could not hear. */
JOBS_TEST(an_outage_is_nobodys_silence)
{
	make_three(1);
	send_chunk(0, 7, 2, 0);
	wait_for(limits.stall / 4);
	now += 3 * limits.stall;
	hears(1, AGGREGATE_ABSENT_LATE, 1);
	wait_for(limits.stall / 2);
	hears(1, AGGREGATE_ABSENT_LATE, 1);
	wait_for(limits.stall);
	hears(1, AGGREGATE_ABSENT_SILENT, 1);
}

JOBS_TEST(who_has_left_is_named_at_once)
{
	make_three(1);
	send_chunk(0, 7, 2, 0);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_LEFT, 1);
	now += 3 * limits.stall;
	hears(1, AGGREGATE_ABSENT_LEFT, 1);
}

/* It has its result, and the others theirs, though one of them asks once more. */
JOBS_TEST(who_leaves_when_all_is_done_is_not_missed)
{
	make_three(1);
	for (uint8_t w = 0; w < 3; w++)
		send_chunk(0, 7, w, 0);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_REPEATED);
}

JOBS_TEST(a_failure_is_told_to_all_at_once)
{
	struct aggregate_message failing;
	struct aggregate_info info;

	make_three(1);
	failing = leave_for(1, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(handle_from(0, &failing, 1), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_FAILED, AGGREGATE_REASON_MISMATCH);
	/* The first failure is what the others failed for. */
	failing = leave_for(2, AGGREGATE_REASON_FAILED);
	assert_int_equal(handle_from(0, &failing, 2), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_FAILED, AGGREGATE_REASON_MISMATCH);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.failed, 1);
}

/* Who gives up because another is silent tells so: all hear the same. */
JOBS_TEST(blame_is_passed_on)
{
	struct aggregate_message failing;

	make_three(1);
	failing = leave_for(2, AGGREGATE_MISSING + 1);
	assert_int_equal(handle_from(0, &failing, 2), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_SILENT, 1);
}

/* But for one that has left, or is none of the job's. */
JOBS_TEST(blame_of_nobody_is_not)
{
	struct aggregate_message failing;

	make_three(1);
	send_chunk(0, 7, 2, 0);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	failing = leave_for(2, AGGREGATE_MISSING + 1);
	assert_int_equal(handle_from(0, &failing, 2), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_LEFT, 1);
	failing = leave_for(2, 255);
	assert_int_equal(handle_from(0, &failing, 2), AGGREGATE_LEFT);
	hears(1, AGGREGATE_ABSENT_LEFT, 1);
}

/* A barrier at worker 0, a sum at the others: whoever came first of these is named to all. */
JOBS_TEST(all_hear_of_the_same_worker_that_differs)
{
	struct aggregate_message message;

	make_three(1);
	message = chunk_message(7, 0, 0);
	message.op = AGGREGATE_COPY;
	message.count = 0;
	message.values = NULL;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(0, 7, 2, 0), AGGREGATE_MISMATCH);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 2);
	assert_int_equal(outcome.absence, AGGREGATE_ABSENT_FAILED);
	assert_int_equal(outcome.detail, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 2);
	/* The same answer to who asks again. */
	assert_int_equal(send_chunk(0, 7, 2, 0), AGGREGATE_MISMATCH);
	assert_int_equal(send_chunk(0, 7, 1, 1), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 2);
}
