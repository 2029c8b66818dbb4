/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that join and join keep nobody else from aggregating. */
#include <string.h>

#include "cases.h"
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

JOBS_TEST(a_half_join_does_not_take_all_slots)
{
	start(1, JOBS, SLOTS);
	assert_int_equal(join_half(100, 65535), AGGREGATE_WAITING);
	assert_int_equal(join(7, 0, 2, 128), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 128), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.slots, 128);
}

/* Though it says again that it waits. */
JOBS_TEST(nor_while_it_is_repeated)
{
	start(1, JOBS, SLOTS);
	for (unsigned int i = 0; i < 100; i++) {
		join_half(100, 65535);
		pass_time(100);
	}
	make_pair(7, 128);
	assert_int_equal(outcome.join.slots, 128);
}

JOBS_TEST(a_host_has_a_few_half_jobs_at_a_time)
{
	struct aggregate_usage usage;

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
JOBS_TEST(a_host_has_as_many_jobs_as_there_are)
{
	start(1, JOBS, SLOTS);
	for (uint16_t job = 0; job < JOBS; job++)
		make_pair(job, 4);
}

JOBS_TEST(a_half_job_ends_soon)
{
	struct aggregate_usage usage;

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
JOBS_TEST(a_half_job_lasts_while_somebody_waits)
{
	start(1, JOBS, SLOTS);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
		pass_time(TICKS_OF_A_HALF_JOB / 4);
	}
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

/* A stranger of several takes worker 0 of two of one of its jobs. */
static enum aggregate_action
join_half_of(unsigned int stranger, unsigned int which)
{
	return send_join(join_message((uint16_t)(100 * (stranger + 1) + which), 0, 2, 1),
		(uint8_t)(STRANGER + stranger));
}

static void
join_halves(unsigned int strangers)
{
	for (unsigned int i = 0; i < JOBS; i++)
		assert_int_equal(join_half_of(i % strangers, i / strangers), AGGREGATE_WAITING);
}

static struct aggregate_usage
usage_of_table(void)
{
	struct aggregate_usage usage;

	aggregate_table_usage(table, &usage);
	return usage;
}

/* So many that each has its share of the table, and says again and again that it waits. */
JOBS_TEST(several_hosts_do_not_take_all_jobs)
{
	for (unsigned int strangers = 2; strangers < JOBS; strangers *= 2) {
		start(1, JOBS, SLOTS);
		limits.per_address = JOBS;
		aggregate_table_init(table, &limits);
		join_halves(strangers);
		assert_int_equal(usage_of_table().jobs, JOBS);
		for (uint16_t job = 7; job < 12; job++) {
			assert_int_equal(join(job, 0, 2, 4), AGGREGATE_WAITING);
			join_halves(strangers);
			assert_int_equal(usage_of_table().jobs, JOBS);
			assert_int_equal(join(job, 1, 2, 4), AGGREGATE_JOINED);
			leave(job, 0);
			leave(job, 1);
			pause_all();
			join_halves(strangers);
		}
		assert_true(usage_of_table().counters.displaced >= 5);
	}
}

/* The stranger has as many half jobs as it may, and says again and again that they wait. */
static void
hold_half_jobs(uint64_t ticks)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (uint16_t job = 100; job < 100 + limits.per_address; job++)
			assert_int_equal(join_half(job, 1), AGGREGATE_WAITING);
		pass_time(ticks / 2);
	}
}

/* It may be a leaf, and so be many hosts: none waits for ever because of another. */
JOBS_TEST(half_jobs_of_a_host_take_turns)
{
	start(1, JOBS, SLOTS);
	hold_half_jobs(limits.half_open - 20);
	assert_int_equal(send_join(join_message(7, 0, 1, 4), STRANGER), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().counters.displaced, 0);
	pass_time(20);
	assert_int_equal(send_join(join_message(7, 0, 1, 4), STRANGER), AGGREGATE_JOINED);
	assert_int_equal(usage_of_table().counters.displaced, 1);
}

/* What comes in its turn stays as long as the others did. */
JOBS_TEST(no_turn_is_cut_short)
{
	start(1, JOBS, SLOTS);
	hold_half_jobs(limits.half_open);
	for (uint16_t job = 200; job < 200 + 2 * limits.per_address; job++)
		assert_int_equal(join_half(job, 1), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().jobs, limits.per_address);
	assert_int_equal(usage_of_table().counters.displaced, limits.per_address);
	assert_int_equal(usage_of_table().counters.timed_out, 0);
}

/* The host with the most makes room, with the job that has been incomplete for the longest. */
JOBS_TEST(the_oldest_half_job_makes_room)
{
	struct aggregate_message last = join_message(100 + JOBS - 2, 0, 2, 1);

	start(1, JOBS, SLOTS);
	limits.per_address = JOBS;
	aggregate_table_init(table, &limits);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	for (uint16_t job = 100; job < 100 + JOBS - 1; job++)
		assert_int_equal(join_half(job, 1), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().jobs, JOBS);
	assert_int_equal(join(8, 1, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().counters.displaced, 1);
	/* The older one of a host that has no more than that is there yet. */
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_JOINED);
	/* So are the stranger's others. */
	assert_int_equal(send_join(last, STRANGER), AGGREGATE_WAITING);
	last.worker = 1;
	assert_int_equal(send_join(last, 1), AGGREGATE_JOINED);
}

/* Workers of two jobs, all of different hosts, come in turns, and there is room for one. */
JOBS_TEST(jobs_that_come_at_once_do_not_end_each_other)
{
	enum aggregate_action action = AGGREGATE_WAITING;

	start(1, 1, SLOTS);
	for (unsigned int round = 0; round < 10 && action == AGGREGATE_WAITING; round++)
		for (uint8_t w = 0; w < 2 && action == AGGREGATE_WAITING; w++) {
			action = send_join(join_message(7, w, 2, 4), w);
			if (action == AGGREGATE_WAITING)
				action = send_join(join_message(8, w, 2, 4), w + 2);
		}
	assert_int_equal(action, AGGREGATE_JOINED);
	assert_int_equal(usage_of_table().counters.displaced, 0);
}

/* It may have room soon, as one of complete jobs has not. */
JOBS_TEST(a_table_of_half_jobs_is_not_full)
{
	start(1, 2, SLOTS);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(join(8, 1, 2, 4), AGGREGATE_WAITING);
	/* Nobody has more than who comes. */
	assert_int_equal(join(9, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().counters.displaced, 0);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(join(9, 0, 2, 4), AGGREGATE_FULL);
}

/*
 * What follows the jobs in memory, which job is open by its number, would read as one more of them
 * that has ended: of a third job with number 0. So no loop goes beyond the last job.
 */
JOBS_TEST(a_full_table_ends_with_its_last_job)
{
	start(1, 3, SLOTS);
	make_pair(8, 4);
	make_pair(7, 4);
	make_pair(0, 4);
	assert_int_equal(join(9, 0, 2, 4), AGGREGATE_FULL);
}

/* Who was there first is told to the next, who would wait in vain otherwise. */
JOBS_TEST(another_token_is_answered)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

	start(1, JOBS, SLOTS);
	make_pair(7, 4);
	message.token++;
	send_join(message, 0);
	assert_int_equal(aggregate_action_send(outcome.action), AGGREGATE_SEND_REPLY);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_TAKEN);
	/* Without the cookie nothing is told. */
	message.join.cookie = 1;
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_COOKIE);
}

/* The only worker of a leaf joins, and other leaves never come. */
static enum aggregate_action
join_half_tree(unsigned int stranger, unsigned int which)
{
	struct aggregate_message message =
		join_message((uint16_t)(100 * (stranger + 1) + which), 0, 1, 1);

	message.join.place = (struct aggregate_place){
		.levels = 1, .workers = 2, .below = 1, .level = {{.members = 2, .index = 0}}};
	return send_join(message, (uint8_t)(STRANGER + stranger));
}

/* Joins with a cookie, so that it has to be told when the job is over; leaves with success. */
static void
parent_answers(void)
{
	struct aggregate_shard *shard = aggregate_table_shard(table, 0);
	struct aggregate_sender parent = {.port = limits.parent.port};
	struct aggregate_outcome answered;
	struct aggregate_message message;

	memcpy(parent.address, limits.parent.address, sizeof(parent.address));
	while (aggregate_leaf_poll(shard, now, &message)) {
		if (message.op == AGGREGATE_JOIN) {
			message.code = AGGREGATE_STATUS_CODE;
			message.reason = AGGREGATE_REASON_COOKIE;
			message.join.cookie = 77;
		}
		aggregate_leaf_reply(shard, &message, &parent, now, &answered);
		assert_int_equal(answered.action, AGGREGATE_PARENT_ANSWERED);
	}
}

/* Its place is free when the parent has been told, and who lost it comes first. */
JOBS_TEST(room_in_a_leaf_is_kept_for_whom_it_was_made)
{
	start_leaf(1, 4, SLOTS);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(join_half_tree(i % 2, i / 2), AGGREGATE_WAITING);
	parent_answers();
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().jobs, 3);
	parent_answers();
	assert_int_equal(join_half_tree(0, 0), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().jobs, 3);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

/* Likewise where a host's jobs take turns. */
JOBS_TEST(a_turn_in_a_leaf_is_kept_for_whose_it_is)
{
	start_leaf(1, 4, SLOTS);
	limits.per_address = 2;
	aggregate_table_init(table, &limits);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(join_half_tree(i % 2, i / 2), AGGREGATE_WAITING);
	parent_answers();
	now += limits.half_open;
	assert_int_equal(send_join(join_message(7, 0, 1, 4), STRANGER), AGGREGATE_WAITING);
	assert_int_equal(usage_of_table().jobs, 3);
	parent_answers();
	join_half_tree(2, 0);
	assert_int_equal(join_half_tree(0, 0), AGGREGATE_WAITING); /* the one that made room */
	assert_int_equal(send_join(join_message(7, 0, 1, 4), STRANGER), AGGREGATE_JOINED);
}

/* But not for ever. */
JOBS_TEST(room_in_a_leaf_that_nobody_takes_is_free)
{
	start_leaf(1, 4, SLOTS);
	for (unsigned int i = 0; i < 4; i++)
		join_half_tree(i % 2, i / 2);
	parent_answers();
	join(7, 0, 2, 4);
	parent_answers();
	now += limits.half_open;
	join_half_tree(0, 0);
	assert_int_equal(usage_of_table().jobs, 4);
}
