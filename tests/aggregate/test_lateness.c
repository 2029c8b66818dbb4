/* SPDX-License-Identifier: BSD-3-Clause */
/* Which worker others waited for, and how long. */
#include "cases.h"
#include "jobs.h"

#define JOB 7
#define WORKERS 3

static void
make_job(uint16_t slots)
{
	assert_int_equal(join(JOB, 0, WORKERS, slots), AGGREGATE_WAITING);
	assert_int_equal(join(JOB, 1, WORKERS, slots), AGGREGATE_WAITING);
	assert_int_equal(join(JOB, 2, WORKERS, slots), AGGREGATE_JOINED);
}

static void
send_at(uint64_t then, uint8_t worker, uint32_t chunk)
{
	now = then;
	send_chunk(aggregate_shard_of(chunk, 4, limits.shards), JOB, worker, chunk);
}

static void
expect(unsigned int worker, uint64_t last, uint64_t waited)
{
	struct aggregate_info info;

	assert_true(aggregate_table_info(table, 0, &info));
	assert_int_equal(info.last[worker], last);
	assert_int_equal(info.waited[worker], waited);
}

/* The blame is the last worker's alone, for the time since the one before it. */
JOBS_TEST(the_last_worker_is_counted)
{
	const uint64_t start_of = 200000;

	start(1, 1, 4);
	make_job(4);
	send_at(start_of, 0, 0);
	send_at(start_of + 10, 1, 0);
	send_at(start_of + 15, 0, 0); /* a duplicate */
	assert_int_equal(outcome.action, AGGREGATE_DUPLICATE);
	expect(2, 0, 0);
	send_at(start_of + 40, 2, 0);
	assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
	send_at(start_of + 45, 2, 0); /* its result was lost */
	assert_int_equal(outcome.action, AGGREGATE_REPEATED);
	expect(2, 1, 30);
	send_at(start_of + 100, 2, 1);
	send_at(start_of + 105, 0, 1);
	send_at(start_of + 107, 1, 1);
	expect(0, 0, 0);
	expect(1, 1, 2);
	expect(2, 1, 30);
}

JOBS_TEST(chunks_that_wait_at_the_same_time_count_once)
{
	const uint64_t start_of = 200000;

	start(1, 1, 4);
	make_job(4);
	for (uint32_t chunk = 0; chunk < 4; chunk++)
		for (uint8_t w = 0; w < 2; w++)
			send_at(start_of + chunk, w, chunk);
	for (uint32_t chunk = 0; chunk < 4; chunk++)
		send_at(start_of + 100 + chunk, 2, chunk);
	expect(2, 4, 103);
	/* The others had the last result before: this time, worker 2 takes no longer than they. */
	send_at(start_of + 150, 2, 4);
	send_at(start_of + 160, 0, 4);
	send_at(start_of + 165, 1, 4);
	expect(2, 4, 103);
	expect(1, 1, 5);
	send_at(start_of + 200, 0, 5);
	send_at(start_of + 200, 1, 5);
	send_at(start_of + 250, 2, 5);
	expect(2, 5, 153);
}

JOBS_TEST(shards_wait_at_the_same_time)
{
	const uint64_t start_of = 200000;

	start(2, 1, 4);
	make_job(4);
	for (uint8_t w = 0; w < 2; w++)
		for (uint32_t chunk = 0; chunk < 2; chunk++)
			send_at(start_of + 10 * chunk, w, chunk);
	send_at(start_of + 70, 2, 0);
	send_at(start_of + 110, 2, 1);
	expect(2, 2, 100);
}

/* It is what a chunk waited for: one that was longer than stall, too. */
JOBS_TEST(a_worker_that_was_told_silent_is_counted)
{
	const uint64_t start_of = 200000;

	start(1, 1, 4);
	make_job(4);
	send_at(start_of, 0, 0);
	send_at(start_of + 5, 1, 0);
	send_at(start_of + limits.stall, 0, 0);
	assert_int_equal(outcome.action, AGGREGATE_STALLED);
	send_at(start_of + 2000, 2, 0);
	assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
	expect(2, 1, 1995);
}

JOBS_TEST(nobody_waits_in_a_job_of_one)
{
	start(1, 1, 4);
	assert_int_equal(join(JOB, 0, 1, 4), AGGREGATE_JOINED);
	send_at(200000, 0, 0);
	assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
	expect(0, 0, 0);
}

JOBS_TEST(the_next_job_begins_at_zero)
{
	start(1, 1, 4);
	make_job(4);
	for (uint8_t w = 0; w < WORKERS; w++)
		send_at(200000 + w, w, 0);
	expect(2, 1, 1);
	for (uint8_t w = 0; w < WORKERS; w++)
		assert_int_equal(leave(JOB, w), AGGREGATE_LEFT);
	pause_all();
	make_job(4);
	expect(2, 0, 0);
	for (uint8_t w = 0; w < WORKERS; w++)
		send_at(200100 + w, w, 0);
	expect(2, 1, 1);
}
