/* SPDX-License-Identifier: BSD-3-Clause */
/* How a leaf joins its parent, and what it makes of the parent's answers. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "jobs/job.h"
#include "two_leaves.h"

#define NEVER UINT64_MAX

TWO_LEAVES_TEST(a_switch_without_parent_says_so)
{
	tree->sw[LEAF_A].limits.parent.port = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 0; w < 2; w++)
		expect_refused(w, AGGREGATE_REASON_NO_PARENT, 1);
	for (unsigned int w = 2; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_WAITING, 2);
	assert_int_equal(info_of(LEAF_B).parent_state, AGGREGATE_MEMBER_WAITING);
}

/* B's parent is A, whose parent is B. */
TWO_LEAVES_TEST(loops_are_refused)
{
	tree->sw[LEAF_A].parent = LEAF_B;
	tree->sw[LEAF_B].parent = LEAF_A;
	for (unsigned int s = LEAF_A; s <= LEAF_B; s++) {
		tree->sw[s].limits.parent.address[15] = (uint8_t)tree->sw[s].parent;
		tree->sw[s].level = 3;
	}
	/* A has its two workers; B has A alone. */
	tree->worker[2].next_join = tree->worker[3].next_join = NEVER;
	tree->sw[LEAF_B].members = 1;
	tree->sw[LEAF_A].index = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 1000);
	for (unsigned int w = 0; w < 2; w++)
		expect_refused(w, AGGREGATE_REASON_LOOP, 3);
}

TWO_LEAVES_TEST(a_parent_without_digits_refuses)
{
	tree->sw[0].limits.digits = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 1000);
	for (unsigned int w = 0; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_DIGITS, 2);
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_REFUSED);
	assert_int_equal(info_of(LEAF_A).above, AGGREGATE_REASON_DIGITS);
}

/* Workers that are refused, and ask again and again, get in once there is no reason any more. */
TWO_LEAVES_TEST(a_parent_that_has_refused_is_asked_again)
{
	tree->sw[0].limits.digits = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 1000);
	tree->sw[0].limits.digits = AGGREGATE_ALL_FORMATS;
	tree_restart(tree, 0);
	tree_run(tree, tree->now + 3 * tree->sw[LEAF_A].limits.half_open);
	assert_true(tree_is_done(tree));
}

TWO_LEAVES_TEST(contradicting_places_are_refused)
{
	tree_start(tree);
	/* For workers that come later the tree has another leaf. */
	tree->worker[1].next_join = tree->worker[2].next_join = tree->worker[3].next_join = NEVER;
	tree_pass(tree, tree->now + 200);
	tree->sw[0].members = 3;
	tree->worker[0].next_join = NEVER;
	tree->worker[1].next_join = 0;
	tree_pass(tree, tree->now + 200);
	expect_refused(1, AGGREGATE_REASON_PLACE, 1);
}

/* Their lists agree leaf by leaf, but not with each other. */
TWO_LEAVES_TEST(contradictions_between_leaves_are_refused_by_the_parent)
{
	tree_start(tree);
	tree->worker[2].next_join = tree->worker[3].next_join = NEVER;
	tree_pass(tree, tree->now + 300);
	tree_add_worker(tree, LEAF_B);
	tree->worker[0].next_join = tree->worker[1].next_join = NEVER;
	for (unsigned int w = 2; w < 5; w++)
		tree->worker[w].next_join = 0;
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 2; w < 5; w++)
		expect_refused(w, AGGREGATE_REASON_PLACE, 2);
	tree->workers = 4;
}

TWO_LEAVES_TEST(a_parent_that_comes_later_is_waited_for)
{
	tree_start(tree);
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 1000);
	for (unsigned int w = 0; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_WAITING, 1);
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_ASKING);
	assert_int_equal(info_of(LEAF_A).above_heard, 0);
	tree->sw[0].dead = false;
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_JOINED);
	assert_int_equal(info_of(LEAF_A).levels, 1);
	assert_int_equal(info_of(LEAF_A).all_workers, 4);
}

/* A worker may join anew before the switch has ended the job: it does not come into the old one. */
TWO_LEAVES_TEST(a_job_that_the_parent_lost_is_not_joined)
{
	struct aggregate_outcome outcome;
	struct aggregate_message join = {
		.op = AGGREGATE_JOIN, .job = TREE_JOB, .token = TREE_TOKEN};

	start_well();
	find_open_job(tree->sw[LEAF_A].table, TREE_JOB)->lost = 1;
	join.join = (struct aggregate_join){.workers = 2,
		.slots = tree->slots,
		.bytes = TREE_BYTES,
		.cookie = tree->worker[0].cookie,
		.incarnation = tree->worker[0].incarnation,
		.place = tree_place(tree, 0)};
	aggregate_shard_packet(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &join,
		&(struct aggregate_sender){
			.address = {[15] = TREE_WORKERS_HOST}, .port = TREE_WORKER_PORT},
		tree->now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_COOKIE);
	assert_int_equal(jobs_of(LEAF_A), 0);
}

TWO_LEAVES_TEST(a_parent_may_grant_less)
{
	tree->slots = 8;
	tree->sw[0].limits.slots = 2;
	tree->sw[0].limits.bytes = 160;
	tree->sw[LEAF_B].limits.slots = 1;
	tree_start(tree);
	tree_run(tree, tree->now + 30000);
	assert_true(tree_is_done(tree));
	assert_int_equal(info_of(LEAF_A).slots, 2);
	assert_int_equal(info_of(LEAF_B).slots, 1);
	assert_int_equal(info_of(LEAF_A).bytes, 160);
}

/* A parent's answer to a join of leaf A's. */
static enum aggregate_action
answer_join(uint32_t id, uint8_t code, uint8_t reason)
{
	const struct aggregate_sender parent = {.port = TREE_PORT};
	struct aggregate_message reply = {.op = AGGREGATE_JOIN,
		.code = code,
		.reason = reason,
		.job = TREE_JOB,
		.id = id,
		.token = TREE_TOKEN,
		.join = {.workers = 2,
			.shards = 1,
			.slots = 4,
			.bytes = TREE_BYTES,
			.session = 1,
			.incarnation = tree->sw[LEAF_A].table->parent_members[0].member.incarnation,
			.place.decided = 1}};
	struct aggregate_outcome outcome;

	aggregate_leaf_reply(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &reply, &parent,
		tree->now, &outcome);
	return outcome.action;
}

/* The network has repeated the join; the answers to both differ, and the first comes last. */
TWO_LEAVES_TEST(late_answers_to_a_join_end_nothing)
{
	struct aggregate_message asked;

	tree->sw[0].dead = true;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	tree->now += tree->sw[LEAF_A].limits.parent.retry;
	assert_true(aggregate_leaf_poll(
		aggregate_table_shard(tree->sw[LEAF_A].table, 0), tree->now, &asked));
	assert_int_equal(asked.op, AGGREGATE_JOIN);
	assert_int_equal(answer_join(asked.id, 0, 0), AGGREGATE_PARENT_ANSWERED);
	assert_int_equal(answer_join(asked.id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_WAITING),
		AGGREGATE_STRAY_REPLY);
	assert_int_equal(answer_join(asked.id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_COOKIE),
		AGGREGATE_STRAY_REPLY);
	tree_pass(tree, tree->now + 100);
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_JOINED);
}

/* As on a busy machine: each answer comes when the join has been sent again. */
TWO_LEAVES_TEST(a_parent_that_takes_longer_than_a_retry_is_joined)
{
	struct aggregate_message asked;
	uint32_t before = 0;

	tree->sw[0].dead = true;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	for (unsigned int n = 0; n < 100; n++) {
		tree->now += tree->sw[LEAF_A].limits.parent.retry;
		if (!aggregate_leaf_poll(
			    aggregate_table_shard(tree->sw[LEAF_A].table, 0), tree->now, &asked))
			continue;
		if (before != 0)
			answer_join(before, 0, 0);
		before = asked.id;
	}
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_JOINED);
}

/* Nobody takes that for a grant. */
TWO_LEAVES_TEST(a_parent_that_refuses_without_a_reason_is_named)
{
	tree->sw[0].dead = true;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	assert_int_equal(answer_join(tree->sw[LEAF_A].table->parent_members[0].member.id,
				 AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NONE),
		AGGREGATE_PARENT_ANSWERED);
	tree_pass(tree, tree->now + 100);
	for (unsigned int w = 0; w < 2; w++)
		expect_refused(w, AGGREGATE_REASON_PARENT, 2);
}

/* It may have a place there, which nobody else could take before half_open is over. */
TWO_LEAVES_TEST(a_leaf_that_is_refused_leaves_when_its_job_ends)
{
	struct aggregate_message asked;
	uint32_t id;

	tree->sw[0].dead = true;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	id = tree->sw[LEAF_A].table->parent_members[0].member.id;
	answer_join(id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_COOKIE);
	answer_join(id, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_PLACE);
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_REFUSED);
	tree->now += tree->sw[LEAF_A].limits.idle;
	aggregate_table_poll(tree->sw[LEAF_A].table, tree->now);
	assert_true(aggregate_leaf_poll(
		aggregate_table_shard(tree->sw[LEAF_A].table, 0), tree->now, &asked));
	assert_int_equal(asked.op, AGGREGATE_LEAVE);
	assert_int_equal(asked.session, 1);
}

/* The only worker of a job of leaf A alone, which has all slots, joins or leaves it. */
static enum aggregate_action
take_all_slots(unsigned int op, uint64_t *session)
{
	const struct aggregate_sender sender = {.address = {[15] = 99}, .port = 1};
	struct aggregate_message message = {.op = (uint8_t)op, .job = 1, .session = *session};
	struct aggregate_outcome outcome;

	message.join = (struct aggregate_join){
		.workers = 1, .slots = UINT16_MAX, .bytes = 4, .incarnation = 1};
	for (unsigned int i = 0; i < 2; i++) {
		aggregate_shard_packet(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &message,
			&sender, tree->now, &outcome);
		message.join.cookie = *session = outcome.join.session;
		if (op == AGGREGATE_LEAVE)
			break;
	}
	return outcome.action;
}

/* It has let the job in, for which there was no slot here, and knows it no more. */
TWO_LEAVES_TEST(a_parent_that_forgets_a_job_that_has_not_begun_is_asked_again)
{
	uint64_t session = 5; /* a token at first */

	tree_start(tree);
	tree->worker[2].next_join = tree->worker[3].next_join = NEVER;
	tree_pass(tree, tree->now + 300);
	assert_int_equal(take_all_slots(AGGREGATE_JOIN, &session), AGGREGATE_JOINED);
	tree->worker[2].next_join = tree->worker[3].next_join = 0;
	while (!tree->worker[2].joined || !tree->worker[3].joined)
		tree_pass(tree, tree->now + 1);
	tree_pass(tree, tree->now + 100);
	assert_int_equal(info_of(0).open, 1);
	tree_restart(tree, 0);
	tree_pass(tree, tree->now + tree->sw[LEAF_A].limits.stall);
	for (unsigned int w = 2; w < 4; w++) {
		assert_int_equal(tree->worker[w].reason, AGGREGATE_REASON_NO_JOB);
		tree->worker[w] = (struct tree_worker){
			.at = LEAF_B, .index = w - 2, .id = 1000, .incarnation = 7 + w};
	}
	assert_int_equal(take_all_slots(AGGREGATE_LEAVE, &session), AGGREGATE_LEFT);
	tree_run(tree, tree->now + 20000);
	assert_true(tree_is_done(tree));
}
