/* SPDX-License-Identifier: BSD-3-Clause */
/* One host that joins and joins keeps nobody else from aggregating. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jobs.h"

#define STRANGER 99 /* a host; its jobs are 100 and on */
#define TICKS_OF_A_HALF_JOB 1000
#define JOBS 16
#define SLOTS 512

/* Time passes, and the switch looks after its table meanwhile. */
static void
pass_time(uint64_t ticks)
{
	for (uint64_t i = 0; i < 10; i++) {
		now += ticks / 10;
		pause_all();
		aggregate_table_poll(table, now);
	}
}

/* The stranger takes worker 0 of two of a job, and the other one never comes. */
static enum aggregate_action
join_half(uint16_t job, uint16_t slots)
{
	return send_join(join_message(job, 0, 2, slots), STRANGER);
}

static void
a_half_join_does_not_take_all_slots(void **state)
{
	(void)state;
	start(1, JOBS, SLOTS);
	assert_int_equal(join_half(100, 65535), AGGREGATE_WAITING);
	assert_int_equal(join(7, 0, 2, 128), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 128), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.slots, 128);
}

/* Though it says again that it waits. */
static void
nor_while_it_is_repeated(void **state)
{
	(void)state;
	start(1, JOBS, SLOTS);
	for (unsigned int i = 0; i < 100; i++) {
		join_half(100, 65535);
		pass_time(100);
	}
	make_pair(7, 128);
	assert_int_equal(outcome.join.slots, 128);
}

static void
a_host_has_a_few_half_jobs_at_a_time(void **state)
{
	struct aggregate_usage usage;

	(void)state;
	start(1, JOBS, SLOTS);
	for (uint16_t job = 100; job < 100 + 2 * JOBS; job++)
		assert_int_equal(join_half(job, 1), AGGREGATE_WAITING);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.jobs, limits.per_address);
	make_pair(7, 128);
	/* Another host has a quota of its own. */
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_WAITING);
}

/* Its jobs that are complete don't count, if others take part in them. */
static void
a_host_has_as_many_jobs_as_there_are(void **state)
{
	(void)state;
	start(1, JOBS, SLOTS);
	for (uint16_t job = 0; job < JOBS; job++)
		make_pair(job, 4);
}

static void
a_half_job_ends_soon(void **state)
{
	struct aggregate_usage usage;

	(void)state;
	start(1, JOBS, SLOTS);
	assert_int_equal(join_half(100, 4), AGGREGATE_WAITING);
	pass_time(2 * TICKS_OF_A_HALF_JOB);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.jobs, 0);
	assert_int_equal(usage.slots, 0);
	/* Long before one that is complete. */
	make_pair(7, 4);
	pass_time(2 * TICKS_OF_A_HALF_JOB);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.jobs, 1);
}

/* Workers that come one after the other, and ask again and again meanwhile, wait for each other. */
static void
a_half_job_lasts_while_somebody_waits(void **state)
{
	(void)state;
	start(1, JOBS, SLOTS);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
		pass_time(TICKS_OF_A_HALF_JOB / 4);
	}
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

/* Who was there first is told to the next, who would wait in vain otherwise. */
static void
another_token_is_answered(void **state)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

	(void)state;
	start(1, JOBS, SLOTS);
	make_pair(7, 4);
	message.token++;
	send_join(message, 0);
	assert_int_equal(aggregate_action_send(outcome.action), AGGREGATE_SEND_REPLY);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_FULL);
	/* Without the cookie nothing is told. */
	message.join.cookie = 1;
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_COOKIE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		JOBS_TEST(a_half_join_does_not_take_all_slots),
		JOBS_TEST(nor_while_it_is_repeated),
		JOBS_TEST(a_host_has_a_few_half_jobs_at_a_time),
		JOBS_TEST(a_host_has_as_many_jobs_as_there_are),
		JOBS_TEST(a_half_job_ends_soon),
		JOBS_TEST(a_half_job_lasts_while_somebody_waits),
		JOBS_TEST(another_token_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
