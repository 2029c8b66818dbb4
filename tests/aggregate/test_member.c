/* SPDX-License-Identifier: BSD-3-Clause */
/* What a member sends when, and what it makes of answers. explore_jobs.c has all orders of them. */
#include <string.h>

#include <aggregate_member.h>

#include "cases.h"

#define JOB 5
#define WORKER 1
#define TOKEN 77
#define SESSION 99
#define INCARNATION UINT64_MAX

static const struct aggregate_member_times times = {
	.ask = 10,
	.ask_most = 40,
	.wait = 5,
	.wait_most = 20,
	.leave = 10,
	.leave_most = 20,
	.leaves = 3,
	.questions = 2,
	.alive = 100,
};

static struct aggregate_member member;
static struct aggregate_message sent;

static int
set_up(void **state)
{
	(void)state;
	memset(&member, 0, sizeof(member));
	aggregate_member_begin(&member, JOB, WORKER, TOKEN, INCARNATION);
	aggregate_member_ask(&member, &times, 0);
	return 0;
}

static enum aggregate_member_action
poll(uint64_t now)
{
	return aggregate_member_poll(&member, &times, 0, now, &sent);
}

/* An answer to a message, in the place of the cookie or the session. */
static enum aggregate_member_action
answer(uint32_t id, uint8_t code, uint8_t reason, uint64_t secret, uint64_t now)
{
	const struct aggregate_message reply = {.op = AGGREGATE_JOIN,
		.job = JOB,
		.worker = WORKER,
		.token = TOKEN,
		.id = id,
		.code = code,
		.reason = reason,
		.join = {.cookie = secret, .incarnation = INCARNATION}};

	return aggregate_member_take(&member, &times, &reply, now);
}

static enum aggregate_member_action
answer_cookie(uint32_t id, uint64_t cookie, uint64_t now)
{
	return answer(id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_COOKIE, cookie, now);
}

static void
join(uint64_t now)
{
	assert_int_equal(poll(now), AGGREGATE_DO_SEND);
	assert_int_equal(answer(sent.id, 0, 0, SESSION, now), AGGREGATE_DO_ENTER);
	assert_int_equal(member.state, AGGREGATE_MEMBER_JOINED);
}

/* Sends at these times and at no others, up to the last. */
static void
expect_sent(uint64_t from, const uint64_t *at, unsigned int count)
{
	unsigned int next = 0;

	for (uint64_t now = from; now <= at[count - 1]; now++) {
		const bool sends = poll(now) == AGGREGATE_DO_SEND;

		assert_int_equal(sends, now == at[next]);
		next += sends;
	}
	assert_int_equal(next, count);
}

TEST_WITH(joins_are_repeated_less_and_less, set_up, NULL)
{
	expect_sent(0, (const uint64_t[]){0, 10, 30, 70, 110}, 5);
	assert_int_equal(sent.op, AGGREGATE_JOIN);
	assert_int_equal(sent.join.cookie, 0);
	assert_int_equal(sent.join.incarnation, UINT64_MAX);
}

/* And more often while others are missing. */
TEST_WITH(who_waits_asks_more_often, set_up, NULL)
{
	poll(0);
	assert_int_equal(answer(sent.id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_WAITING, 0, 2),
		AGGREGATE_DO_WAIT);
	expect_sent(3, (const uint64_t[]){7, 17, 37, 57}, 4);
}

TEST_WITH(a_cookie_is_sent_back_at_once, set_up, NULL)
{
	poll(0);
	assert_int_equal(answer_cookie(sent.id, 3, 4), AGGREGATE_DO_ASK);
	assert_int_equal(poll(4), AGGREGATE_DO_SEND);
	assert_int_equal(sent.join.cookie, 3);
}

/* It may be outdated: if nothing comes, every other join asks for another one. */
TEST_WITH(a_cookie_is_left_out_every_other_time, set_up, NULL)
{
	static const uint64_t cookies[] = {3, 0, 3, 0};

	poll(0);
	answer_cookie(sent.id, 3, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(poll(1000 * i), AGGREGATE_DO_SEND);
		assert_int_equal(sent.join.cookie, cookies[i]);
	}
}

/* A round trip is longer than an interval: each answer comes when the join was sent again. */
TEST_WITH(late_answers_are_answers, set_up, NULL)
{
	uint32_t first, second;

	poll(0);
	first = sent.id;
	poll(10);
	second = sent.id;
	assert_int_equal(answer_cookie(first, 3, 20), AGGREGATE_DO_ASK);
	assert_int_equal(answer_cookie(second, 3, 21), AGGREGATE_DO_NOTHING);
	assert_int_equal(answer_cookie(second, 4, 22), AGGREGATE_DO_ASK);
	assert_int_equal(answer_cookie(first, 3, 23), AGGREGATE_DO_NOTHING);
	poll(23);
	assert_int_equal(sent.join.cookie, 4);
	assert_int_equal(answer(second, 0, 0, SESSION, 30), AGGREGATE_DO_ENTER);
}

TEST_WITH(what_answers_nothing_is_ignored, set_up, NULL)
{
	poll(0);
	assert_int_equal(answer(sent.id - 4, 0, 0, SESSION, 1), AGGREGATE_DO_IGNORE);
	assert_int_equal(answer(sent.id + 4, 0, 0, SESSION, 1), AGGREGATE_DO_IGNORE);
	assert_int_equal(answer(sent.id + 3, 0, 0, SESSION, 1), AGGREGATE_DO_ENTER);
	/* To the join that has let it in. */
	assert_int_equal(answer(sent.id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_WAITING, 0, 2),
		AGGREGATE_DO_IGNORE);
}

/* Of another process, or of another switch that the same worker joins. */
TEST_WITH(answers_to_another_s_join_are_ignored, set_up, NULL)
{
	struct aggregate_message grant;

	poll(0);
	grant = sent;
	grant.join.session = SESSION;
	grant.join.incarnation--;
	assert_int_equal(aggregate_member_take(&member, &times, &grant, 1), AGGREGATE_DO_IGNORE);
	grant.join.incarnation++;
	assert_int_equal(aggregate_member_take(&member, &times, &grant, 1), AGGREGATE_DO_ENTER);
}

TEST_WITH(a_switch_that_is_silent_is_asked_so_often, set_up, NULL)
{
	join(0);
	expect_sent(1, (const uint64_t[]){100, 200}, 2);
	assert_int_equal(sent.join.session, SESSION);
	assert_int_equal(poll(299), AGGREGATE_DO_NOTHING);
	assert_int_equal(poll(300), AGGREGATE_DO_BLAME);
	/* It has told who leaves all the same. */
	assert_true(aggregate_member_leave(&member, &times, 0, 300));
}

/* It is heard otherwise, or this one was stopped: it has not asked. */
TEST_WITH(only_questions_count, set_up, NULL)
{
	join(0);
	assert_int_equal(poll(100000), AGGREGATE_DO_SEND);
	assert_int_equal(poll(200000), AGGREGATE_DO_SEND);
	assert_int_equal(aggregate_member_poll(&member, &times, 200050, 200149, &sent),
		AGGREGATE_DO_NOTHING);
	assert_int_equal(
		aggregate_member_poll(&member, &times, 200050, 200150, &sent), AGGREGATE_DO_SEND);
	assert_int_equal(answer(sent.id, 0, 0, SESSION, 200151), AGGREGATE_DO_GO_ON);
}

TEST_WITH(another_session_is_another_job, set_up, NULL)
{
	join(0);
	poll(100);
	assert_int_equal(answer(sent.id, 0, 0, SESSION + 1, 101), AGGREGATE_DO_END);
	assert_int_equal(member.state, AGGREGATE_MEMBER_LOST);
	assert_int_equal(member.refused, AGGREGATE_REASON_NO_JOB);
	assert_false(aggregate_member_leave(&member, &times, 0, 102));
}

TEST_WITH(leaves_end, set_up, NULL)
{
	join(0);
	assert_true(aggregate_member_leave(&member, &times, AGGREGATE_REASON_FAILED, 50));
	expect_sent(50, (const uint64_t[]){50, 60, 80}, 3);
	assert_int_equal(sent.op, AGGREGATE_LEAVE);
	assert_int_equal(sent.session, SESSION);
	assert_int_equal(sent.reason, AGGREGATE_REASON_FAILED);
	assert_int_equal(poll(100), AGGREGATE_DO_PART);
	assert_int_equal(member.state, AGGREGATE_MEMBER_NONE);
}

/* With the cookie: it may have a place. */
TEST_WITH(who_is_refused_leaves, set_up, NULL)
{
	poll(0);
	answer_cookie(sent.id, 3, 0);
	poll(0);
	assert_int_equal(answer(sent.id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_PLACE, 3, 1),
		AGGREGATE_DO_GIVE_UP);
	assert_int_equal(member.refused, AGGREGATE_REASON_PLACE);
	assert_int_equal(poll(1000), AGGREGATE_DO_NOTHING);
	assert_true(aggregate_member_leave(&member, &times, 0, 1000));
	assert_int_equal(poll(1000), AGGREGATE_DO_SEND);
	assert_int_equal(sent.session, 3);
}

TEST_WITH(who_is_not_known_has_nothing_to_leave, set_up, NULL)
{
	poll(0);
	assert_false(aggregate_member_leave(&member, &times, 0, 1));
	assert_int_equal(poll(1000), AGGREGATE_DO_NOTHING);
}
