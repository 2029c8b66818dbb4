/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may join a job and who is refused, and with which slots the job begins. */
#include "cases.h"
#include "jobs/table.h" /* declares parameters of the next one's names */
#include "jobs.h"

JOBS_TEST(a_job_begins_when_all_have_joined)
{
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
	assert_int_equal(outcome.join.bytes, VALUE_BYTES);
	assert_int_equal(outcome.join.shards, 1);
	assert_int_equal(join(7, 0, 3, 10), AGGREGATE_JOINED);
	assert_int_equal(slots_used(), 8);
}

JOBS_TEST(cookies_are_of_one_sender_and_one_time)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

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
	now -= 2 * limits.cookie_period;
	assert_int_equal(handle_anew(0, &message, 0), AGGREGATE_COOKIE);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_WAITING);
	/* Slots are for jobs that are complete. */
	assert_int_equal(slots_used(), 0);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(slots_used(), 4);
}

/* What a network held back from an earlier job takes nobody's place in the next. */
JOBS_TEST(a_late_join_of_an_earlier_job_has_no_place)
{
	struct aggregate_message late = join_message(7, 0, 2, 4);

	start(1, 4, 16);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	late.join.cookie = outcome.join.cookie;
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	end_pair(7);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
}

/* Nor does one of the process that had the place before. */
JOBS_TEST(a_late_join_of_an_earlier_process_has_no_place)
{
	struct aggregate_message late = join_message(7, 0, 2, 4);

	start(1, 4, 16);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	late.join.cookie = outcome.join.cookie;
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_WAITING);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_JOINED);
}

JOBS_TEST(each_job_has_a_session_of_its_own)
{
	struct aggregate_message late, stranger;
	uint64_t first;

	start_pair(1);
	first = outcome.join.session;
	assert_true(first != 0);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_JOINED);
	assert_true(outcome.join.session == first);
	late = chunk_message(7, 0, 0);
	end_pair(7);
	make_pair(7, 4);
	assert_true(outcome.join.session != first);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_NO_JOB);
	stranger = late;
	assert_int_equal(handle_from(0, &stranger, 3), AGGREGATE_STALE_SESSION);
	late.op = AGGREGATE_LEAVE;
	late.count = 0;
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_NO_JOB);
	assert_int_equal(handle_from(0, &late, 3), AGGREGATE_STALE_SESSION);
	reduce_pair(7, 0);
}

/* Jobs are begun as fast as packets come: in hours there may be 2^32 of them. */
JOBS_TEST(no_session_is_ever_another_jobs)
{
	uint64_t first;

	start_pair(1);
	first = outcome.join.session;
	end_pair(7);
	table->generation += UINT32_MAX;
	make_pair(7, 4);
	assert_true(outcome.join.session != first);
}

/* A member needs no cookie to say that it is alive. */
JOBS_TEST(a_member_is_known_by_its_session)
{
	struct aggregate_message alive = join_message(7, 0, 2, 4);

	start_pair(1);
	alive.join.session = outcome.join.session;
	now += 10 * limits.cookie_period;
	assert_int_equal(handle_from(0, &alive, 0), AGGREGATE_JOINED);
	assert_true(outcome.join.session == alive.join.session);
	assert_int_equal(handle_anew(0, &alive, 0), AGGREGATE_COOKIE);
	assert_int_equal(handle_from(0, &alive, 1), AGGREGATE_COOKIE);
	alive.join.session++;
	assert_int_equal(handle_from(0, &alive, 0), AGGREGATE_COOKIE);
}

/* Two workers, each of which takes chunks of some bytes to some others: what comes of it. */
static enum aggregate_action
join_two(unsigned int least, unsigned int most, unsigned int other_least, unsigned int other_most)
{
	struct aggregate_message first = join_message(7, 0, 2, 4);
	struct aggregate_message second = join_message(7, 1, 2, 4);

	first.join.least = (uint16_t)least;
	first.join.bytes = (uint16_t)most;
	second.join.least = (uint16_t)other_least;
	second.join.bytes = (uint16_t)other_most;
	start(1, 4, 16);
	assert_int_equal(send_join(first, 0), AGGREGATE_WAITING);
	if (send_join(second, 1) != AGGREGATE_JOINED)
		return outcome.action;
	/* The first hears the same, and may ask again as it did. */
	assert_int_equal(send_join(second, 1), AGGREGATE_JOINED);
	return send_join(first, 0);
}

JOBS_TEST(chunks_are_as_large_as_all_take)
{
	assert_int_equal(join_two(8, 40, 8, 24), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 24);
	assert_int_equal(join_two(4, 12, 4, 8), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 8);
	assert_int_equal(outcome.join.least, 0);
	assert_int_equal(join_two(4, 8, 4, 12), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 8);
	assert_int_equal(join_two(0, 12, 4, 16), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 12);
	assert_int_equal(join_two(4, 16, 0, 12), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 12);
	assert_int_equal(join_two(0, 12, 4, 8), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join_two(8, 12, 0, 4), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join_two(8, 12, 0, 16), AGGREGATE_JOIN_MISMATCH);
}

/* Who joins once more a job that goes on, because a reply was lost. */
JOBS_TEST(who_joins_again_takes_chunks_as_they_are)
{
	static const struct {
		uint16_t least, bytes;
		enum aggregate_action action;
	} cases[] = {
		{0, VALUE_BYTES, AGGREGATE_JOINED},
		{8, 2 * VALUE_BYTES, AGGREGATE_JOINED},
		{0, VALUE_BYTES / 2, AGGREGATE_JOIN_MISMATCH},
		{8, VALUE_BYTES - 4, AGGREGATE_JOIN_MISMATCH},
		{VALUE_BYTES + 4, 2 * VALUE_BYTES, AGGREGATE_JOIN_MISMATCH},
	};

	for (unsigned int c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct aggregate_message again = join_message(7, 0, 2, 4);

		start_pair(1);
		again.join.least = cases[c].least;
		again.join.bytes = cases[c].bytes;
		assert_int_equal(send_join(again, 0), cases[c].action);
	}
}

JOBS_TEST(joins_have_to_agree)
{
	struct aggregate_message other = join_message(7, 1, 2, 4);

	start(1, 4, 16);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 3, 4), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(join(7, 1, 2, 8), AGGREGATE_JOIN_MISMATCH);
	other.join.bytes = 32;
	assert_int_equal(send_join(other, 1), AGGREGATE_JOIN_MISMATCH);
	other = join_message(7, 1, 2, 4);
	assert_int_equal(join(7, 2, 2, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(send_join(join_message(7, 0, 2, 4), 9), AGGREGATE_TAKEN);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_TAKEN);
}

/* A stranger who takes a number first keeps nobody from it: the first complete job has it. */
JOBS_TEST(jobs_of_other_tokens_wait_beside_each_other)
{
	struct aggregate_message other = join_message(7, 1, 2, 4);

	start(1, 4, 16);
	other.token++;
	assert_int_equal(send_join(other, 9), AGGREGATE_WAITING);
	make_pair(7, 4);
	assert_int_equal(send_join(other, 9), AGGREGATE_WRONG_TOKEN);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_TAKEN);
	assert_int_equal(send_chunk(0, 7, 0, 0), AGGREGATE_ADDED);
	now += limits.half_open;
	assert_int_equal(aggregate_table_poll(table, now), 1);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_COMPLETED);
}

JOBS_TEST(joins_that_make_no_sense_make_no_job)
{
	struct aggregate_message message = join_message(7, 0, 2, 4);

	start(1, 4, 16);
	assert_int_equal(join(7, 0, 0, 4), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join(7, 0, 2, 0), AGGREGATE_JOIN_MISMATCH);
	message.join.bytes = 3;
	assert_int_equal(send_join(message, 0), AGGREGATE_JOIN_MISMATCH);
	message = join_message(7, 0, 2, 4);
	message.join.incarnation = 0;
	assert_int_equal(send_join(message, 0), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(join(7, 0, 9, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 2, 2, 4), AGGREGATE_FULL);
	assert_int_equal(join(7, 255, 2, 4), AGGREGATE_FULL);
	assert_int_equal(slots_used(), 0);
}

JOBS_TEST(jobs_and_slots_run_out)
{
	start(1, 3, 16);
	make_pair(1, 8);
	make_pair(2, 65535);
	assert_int_equal(outcome.join.slots, 8);
	/* No worker waits for the others in vain. */
	assert_int_equal(join(3, 0, 2, 2), AGGREGATE_NO_SLOTS);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_NO_SLOTS);
	assert_int_equal(leave(1, 0), AGGREGATE_LEFT);
	assert_int_equal(leave(1, 1), AGGREGATE_LEFT);
	/* The slots will be free as soon as shard 0 says that it is done with them. */
	assert_int_equal(join(3, 0, 2, 2), AGGREGATE_WAITING);
	pause_all();
	make_pair(3, 2);
	make_pair(4, 2);
	assert_int_equal(join(5, 0, 2, 2), AGGREGATE_FULL);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_FULL);
	assert_int_equal(slots_used(), 12);
}

JOBS_TEST(leaving_early_frees_the_slots)
{
	struct aggregate_message leaving = leave_message(7, 0);

	start(1, 4, 4);
	/* Who has no session yet leaves with a cookie. */
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	leaving.session = outcome.join.cookie;
	assert_int_equal(handle_from(0, &leaving, 1), AGGREGATE_NO_JOB);
	assert_int_equal(handle_from(0, &leaving, 0), AGGREGATE_LEFT);
	assert_int_equal(handle_from(0, &leaving, 0), AGGREGATE_NO_JOB);
	make_pair(7, 4);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	/* It has lost its place: the chunks so far are not to be had again. It waits for the next.
	 */
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	pause_all();
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

/* The others are in the job that it has left, which has nothing to do with the next. */
JOBS_TEST(who_has_left_may_ask_for_something_else_next)
{
	start_pair(1);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	assert_int_equal(join(7, 0, 2, 8), AGGREGATE_WAITING);
	assert_int_equal(join(7, 0, 3, 4), AGGREGATE_WAITING);
	/* Who has not left is in that job. */
	assert_int_equal(join(7, 1, 2, 8), AGGREGATE_JOIN_MISMATCH);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	pause_all();
	assert_int_equal(join(7, 0, 2, 8), AGGREGATE_WAITING);
	assert_int_equal(join(7, 1, 2, 8), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.slots, 8);
}

/* It would number its chunks from 0, and be given the results of those that were. */
JOBS_TEST(a_process_started_anew_has_no_place_in_a_job_that_goes_on)
{
	struct aggregate_message leaving;

	start_pair(1);
	leaving = leave_message(7, 0);
	reduce_pair(7, 0);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_TAKEN);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_TAKEN);
	/* Nor may it give away the place that another has. */
	assert_int_equal(handle_anew(0, &leaving, 0), AGGREGATE_TAKEN);
	/* Who has it asks as often as it likes: a reply may have been lost. */
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_JOINED);
	end_pair(7);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_WAITING);
}

static enum aggregate_action
join_as(uint64_t incarnation, uint8_t worker)
{
	struct aggregate_message message = join_message(7, worker, 2, 4);

	message.join.incarnation = incarnation;
	return send_join(message, worker);
}

/* As over memif, where all processes have one port: nobody else could tell them apart. */
JOBS_TEST(nor_if_it_has_the_port_that_it_had)
{
	start_pair(1);
	make_pair(8, 4);
	reduce_pair(7, 0);
	assert_int_equal(join_as(2, 0), AGGREGATE_TAKEN);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_TAKEN);
	/* The other is told, and leaves; then the job is joined again. */
	assert_int_equal(send_chunk(0, 7, 1, 1), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 0);
	assert_int_equal(outcome.absence, AGGREGATE_ABSENT_FAILED);
	assert_int_equal(outcome.detail, AGGREGATE_REASON_NO_JOB);
	assert_int_equal(join_as(2, 0), AGGREGATE_WAITING);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	pause_all();
	assert_int_equal(join_as(2, 0), AGGREGATE_WAITING);
	assert_int_equal(join_as(3, 1), AGGREGATE_JOINED);
	/* Another job is not touched. */
	reduce_pair(8, 0);
}

/* The process that was in the job is no more: it is over, for a leaf to wait until it is gone. */
JOBS_TEST(nor_if_it_asks_for_something_else)
{
	struct aggregate_message anew = join_message(7, 0, 2, 8);

	anew.join.incarnation = 2;
	for (unsigned int leaf = 0; leaf < 2; leaf++) {
		start_pair(1);
		reduce_pair(7, 0);
		anew.join.features = leaf != 0 ? AGGREGATE_FEATURE_LEAF : 0;
		assert_int_equal(
			send_join(anew, 0), leaf != 0 ? AGGREGATE_WAITING : AGGREGATE_TAKEN);
		assert_int_equal(send_chunk(0, 7, 1, 1), AGGREGATE_STALLED);
		assert_int_equal(outcome.reason, AGGREGATE_MISSING + 0);
		assert_int_equal(outcome.absence, AGGREGATE_ABSENT_FAILED);
		tear_down(NULL);
	}
	start_pair(1);
}

/* Nor does what the network kept of the process before it. */
JOBS_TEST(what_a_process_sent_before_its_restart_has_no_effect)
{
	struct aggregate_message late = join_message(7, 0, 2, 4);
	struct aggregate_message leaving = leave_message(7, 0);

	start(1, 4, 16);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	late.join.cookie = leaving.session = outcome.join.cookie;
	assert_int_equal(join_as(2, 0), AGGREGATE_WAITING);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	assert_int_equal(handle_from(0, &leaving, 0), AGGREGATE_NO_JOB);
	assert_int_equal(join_as(1, 1), AGGREGATE_JOINED);
	assert_int_equal(handle_from(0, &late, 0), AGGREGATE_COOKIE);
	assert_int_equal(handle_from(0, &leaving, 0), AGGREGATE_NO_JOB);
	reduce_pair(7, 0);
}

#define LATE 16 /* messages that the network holds back */

struct late {
	struct aggregate_message message[LATE];
	uint8_t host[LATE];
	unsigned int count;
};

static void
hold_back(struct late *late, const struct aggregate_message *message, uint8_t host)
{
	late->message[late->count % LATE] = *message;
	late->host[late->count++ % LATE] = host;
}

/* All of it arrives, and changes nothing. */
static void
arrive(const struct late *late)
{
	for (unsigned int i = 0; i < late->count && i < LATE; i++) {
		enum aggregate_action action = handle_from(0, &late->message[i], late->host[i]);

		assert_true(action == AGGREGATE_COOKIE || action == AGGREGATE_NO_JOB ||
			action == AGGREGATE_STALE_SESSION);
	}
}

static enum aggregate_action
join_and_hold_back(uint64_t incarnation, uint8_t worker, struct late *late)
{
	struct aggregate_message message = join_message(7, worker, 2, 4);

	message.join.incarnation = incarnation;
	assert_int_equal(handle_from(0, &message, worker), AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	hold_back(late, &message, worker);
	return handle_from(0, &message, worker);
}

/* Ten thousand times, at the same ports, with what earlier processes sent arriving at any time. */
JOBS_TEST(many_restarts_give_no_earlier_result)
{
	struct late late = {.count = 0}, now_sent;
	struct aggregate_message message;

	start(1, 4, 16);
	for (uint64_t i = 1; i <= 10000; i++) {
		now_sent = late;
		assert_int_equal(join_and_hold_back(3 * i, 0, &now_sent), AGGREGATE_WAITING);
		arrive(&late);
		assert_int_equal(join_and_hold_back(3 * i + 1, 1, &now_sent), AGGREGATE_JOINED);
		arrive(&late);
		for (uint8_t w = 0; w < 2; w++) {
			message = chunk_message(7, w, 0);
			hold_back(&now_sent, &message, w);
			assert_int_equal(send_chunk(0, 7, w, 0),
				w == 0 ? AGGREGATE_ADDED : AGGREGATE_COMPLETED);
			arrive(&late);
		}
		/* Worker 1 is started anew, and hears that it has no part in this job. */
		assert_int_equal(join_and_hold_back(3 * i + 2, 1, &now_sent), AGGREGATE_TAKEN);
		assert_int_equal(send_chunk(0, 7, 0, 1), AGGREGATE_STALLED);
		message = leave_message(7, 0);
		hold_back(&now_sent, &message, 0);
		assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
		pause_all();
		late = now_sent;
	}
}

/* Whatever is sent in the name of a place without its cookie is answered with one, and no more. */
JOBS_TEST(forged_joins_with_any_incarnation_touch_nothing)
{
	struct aggregate_message forged = join_message(7, 0, 2, 4);

	start_pair(1);
	for (uint64_t i = 0; i < 10000; i++) {
		forged.join.incarnation = i * UINT64_C(0x9e3779b97f4a7c15);
		forged.join.cookie = i;
		assert_int_equal(handle_from(0, &forged, i % 4), AGGREGATE_COOKIE);
	}
	assert_int_equal(slots_used(), 4);
	reduce_pair(7, 0);
}

static struct aggregate_message
tree_join(uint8_t worker, uint32_t workers, uint32_t below)
{
	struct aggregate_message message = join_message(7, worker, 2, 4);

	message.join.place = (struct aggregate_place){.workers = workers, .below = below};
	return message;
}

/* A mean is divided by the number of workers: it has to be that of those that are there. */
JOBS_TEST(workers_that_do_not_add_up_are_refused)
{
	start(1, 4, 16);
	assert_int_equal(send_join(tree_join(0, 9, 1), 0), AGGREGATE_WAITING);
	assert_int_equal(send_join(tree_join(1, 9, 1), 1), AGGREGATE_BAD_PLACE);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_PLACE);
	/* Both hear it, in whichever order they ask. */
	assert_int_equal(send_join(tree_join(0, 9, 1), 0), AGGREGATE_BAD_PLACE);
	now += limits.half_open;
	aggregate_table_poll(table, now);
	assert_int_equal(send_join(tree_join(0, 9, 4), 0), AGGREGATE_WAITING);
	assert_int_equal(send_join(tree_join(1, 9, UINT32_MAX), 1), AGGREGATE_BAD_PLACE);
	now += limits.half_open;
	aggregate_table_poll(table, now);
	assert_int_equal(send_join(tree_join(0, 9, 0), 0), AGGREGATE_WAITING);
	assert_int_equal(send_join(tree_join(1, 9, 9), 1), AGGREGATE_JOINED);
}

/* Whether a member of a job of two, with so many workers in all, may name an owner. */
static enum aggregate_action
send_owned(uint32_t workers, uint32_t below)
{
	struct aggregate_message message;

	start(1, 4, 16);
	assert_int_equal(send_join(tree_join(0, workers, workers - below), 0), AGGREGATE_WAITING);
	assert_int_equal(send_join(tree_join(1, workers, below), 1), AGGREGATE_JOINED);
	message = chunk_message(7, 0, 0);
	message.owner = AGGREGATE_OWNER + 1;
	return handle_from(0, &message, 0);
}

/* Members are switches, and owners are workers. */
JOBS_TEST(a_root_refuses_owners)
{
	assert_int_equal(send_owned(3, 1), AGGREGATE_MISMATCH);
}

JOBS_TEST(a_root_of_workers_alone_has_owners)
{
	assert_int_equal(send_owned(2, 1), AGGREGATE_ADDED);
}

/* A process, one of three workers, takes chunks of so many bytes. */
static enum aggregate_action
join_with_bytes(uint8_t worker, unsigned int least, unsigned int most, uint64_t incarnation)
{
	struct aggregate_message message = join_message(7, worker, 3, 4);

	message.join.least = (uint16_t)least;
	message.join.bytes = (uint16_t)most;
	message.join.incarnation = incarnation;
	return send_join(message, worker);
}

JOBS_TEST(who_has_lost_its_place_has_no_say_in_the_size_of_chunks)
{
	start(1, 4, 16);
	assert_int_equal(join_with_bytes(0, 16, 16, 1), AGGREGATE_WAITING);
	assert_int_equal(join_with_bytes(0, 24, 24, 2), AGGREGATE_WAITING);
	assert_int_equal(join_with_bytes(1, 4, 64, 1), AGGREGATE_WAITING);
	assert_int_equal(join_with_bytes(2, 32, 32, 1), AGGREGATE_JOIN_MISMATCH);
	now += limits.half_open - 1;
	assert_int_equal(join_with_bytes(1, 4, 64, 1), AGGREGATE_WAITING);
	now++;
	aggregate_table_poll(table, now);
	assert_int_equal(join_with_bytes(2, 32, 32, 1), AGGREGATE_WAITING);
	assert_int_equal(join_with_bytes(0, 4, 48, 3), AGGREGATE_JOINED);
	assert_int_equal(outcome.join.bytes, 32);
}

/*
 * Workers are started anew with other parameters, a process of before did not leave, and they come
 * again and again: who is refused does not keep the job of before alive.
 */
JOBS_TEST(a_job_that_nobody_waits_for_ends_though_others_ask)
{
	unsigned int asked = 0;

	start(1, 4, 16);
	assert_int_equal(join(7, 0, 3, 4), AGGREGATE_WAITING);
	while (join(7, 0, 2, 4) != AGGREGATE_WAITING) {
		assert_int_equal(outcome.action, AGGREGATE_JOIN_MISMATCH);
		assert_true(++asked <= 20);
		now += limits.half_open / 10;
		aggregate_table_poll(table, now);
	}
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
}

/* Nothing is added yet: a worker that died while it waited is replaced. */
JOBS_TEST(before_all_have_joined_the_latest_process_has_the_place)
{
	struct aggregate_message leaving = leave_message(7, 0);

	start(1, 4, 16);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_WAITING);
	leaving.session = outcome.join.cookie;
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_WAITING);
	assert_int_equal(handle_from(0, &leaving, 0), AGGREGATE_NO_JOB);
	assert_int_equal(join(7, 1, 2, 4), AGGREGATE_JOINED);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_TAKEN);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_JOINED);
}

/* Those that have begun are completed, and work until they end; then there is none. */
JOBS_TEST(a_table_is_drained)
{
	struct aggregate_usage usage;

	start_pair(1);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_WAITING);
	assert_false(aggregate_table_is_drained(table));
	aggregate_table_drain(table);
	aggregate_table_usage(table, &usage);
	assert_true(usage.draining && usage.jobs == 2);
	assert_int_equal(join(9, 0, 2, 4), AGGREGATE_DRAINING);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_FULL);
	assert_int_equal(join(7, 0, 2, 4), AGGREGATE_JOINED);
	reduce_pair(7, 0);
	assert_int_equal(leave(7, 0), AGGREGATE_LEFT);
	/* It would wait for the job that comes next. */
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_DRAINING);
	assert_int_equal(leave(7, 1), AGGREGATE_LEFT);
	assert_int_equal(join_anew(7, 0, 2, 4), AGGREGATE_DRAINING);
	assert_int_equal(join(8, 1, 2, 4), AGGREGATE_JOINED);
	assert_false(aggregate_table_is_drained(table));
	assert_int_equal(leave(8, 0), AGGREGATE_LEFT);
	assert_false(aggregate_table_is_drained(table));
	assert_int_equal(leave(8, 1), AGGREGATE_LEFT);
	assert_true(aggregate_table_is_drained(table));
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_DRAINING);
	aggregate_table_usage(table, &usage);
	assert_int_equal(usage.jobs, 0);
}

/* An incomplete job that nobody completes is forgotten as ever, and a silent one. */
JOBS_TEST(who_is_silent_holds_no_table_up)
{
	start_pair(1);
	assert_int_equal(join(8, 0, 2, 4), AGGREGATE_WAITING);
	aggregate_table_drain(table);
	now += limits.idle > limits.half_open ? limits.idle + 1 : limits.half_open + 1;
	aggregate_table_poll(table, now);
	assert_true(aggregate_table_is_drained(table));
}

JOBS_TEST(an_empty_table_is_drained_at_once)
{
	start(2, 4, 16);
	assert_false(aggregate_table_is_drained(table));
	aggregate_table_drain(table);
	assert_true(aggregate_table_is_drained(table));
}
