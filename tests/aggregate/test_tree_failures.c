/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong in a tree is named to everybody concerned, and nobody waits for ever. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "jobs/job.h"
#include "two_leaves.h"

#define NEVER UINT64_MAX

TWO_LEAVES_TEST(a_parent_that_dies_is_named)
{
	uint64_t died;

	start_well();
	tree->sw[0].dead = true;
	died = tree->now;
	tree_pass(tree, died + 2 * STALL + 500);
	for (unsigned int w = 0; w < 4; w++)
		assert_int_equal(tree->worker[w].reason, AGGREGATE_REASON_PARENT);
	/* It was only away. */
	tree->sw[0].dead = false;
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
}

/* Nobody had the processor, and the answers of the parent are lost. */
TWO_LEAVES_TEST(a_leaf_that_has_slept_does_not_name_the_parent)
{
	start_well();
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 100);
	tree->now += 4 * STALL;
	tree->sw[0].dead = false;
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
	assert_int_equal(tree->actions[AGGREGATE_PARENT_SILENT], 0);
}

TWO_LEAVES_TEST(a_parent_that_is_restarted_ends_the_job)
{
	start_well();
	tree_restart(tree, 0);
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 0; w < 4; w++)
		assert_int_equal(tree->worker[w].reason, AGGREGATE_REASON_NO_JOB);
	assert_int_equal(jobs_of(LEAF_A), 0);
	assert_int_equal(jobs_of(LEAF_B), 0);
}

/*
 * A worker is started anew while its leaf waits for the parent, whose job has begun meanwhile: what
 * others have sent was for the process of before.
 */
TWO_LEAVES_TEST(a_worker_started_anew_does_not_come_into_a_job_that_has_begun_above)
{
	tree_start(tree);
	tree->worker[2].next_join = tree->worker[3].next_join = NEVER;
	tree_pass(tree, tree->now + 500);
	assert_int_equal(info_of(LEAF_A).parent_state, AGGREGATE_MEMBER_WAITING);
	tree->sw[LEAF_A].dead = true;
	tree->worker[2].next_join = tree->worker[3].next_join = 0;
	tree_pass(tree, tree->now + 500);
	assert_true(tree->worker[2].joined && tree->worker[3].joined);
	tree->sw[0].dead = true;
	tree->sw[LEAF_A].dead = false;
	tree->worker[0] = (struct tree_worker){.at = LEAF_A, .id = 1000, .incarnation = 7};
	tree_pass(tree, tree->now + 200);
	assert_int_equal(tree->worker[0].reason, AGGREGATE_REASON_WAITING);
	tree->sw[0].dead = false;
	tree_pass(tree, tree->now + 1000);
	assert_false(tree->worker[0].joined || tree->worker[1].joined);
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_FAILED);
	/* It is the next one's. */
	for (unsigned int w = 2; w < 4; w++) {
		tree_leave(tree, w, AGGREGATE_REASON_PARENT);
		tree->worker[w] = (struct tree_worker){
			.at = LEAF_B, .index = w - 2, .id = 1000, .incarnation = 7 + w};
	}
	tree_run(tree, tree->now + 20000);
	assert_true(tree_is_done(tree));
}

/* Its workers hear that there is no job; those of the other leaf, that A has failed. */
TWO_LEAVES_TEST(a_leaf_that_is_restarted_ends_the_job)
{
	start_well();
	tree_restart(tree, LEAF_A);
	tree_pass(tree, tree->now + 200);
	for (unsigned int w = 0; w < 2; w++) {
		assert_int_equal(tree->worker[w].reason, AGGREGATE_REASON_NO_JOB);
		tree->worker[w].joined = false;
		tree->worker[w].cookie = tree->worker[w].session = 0;
		tree->worker[w].results = 0;
	}
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 2; w < 4; w++) {
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_FAILED);
		assert_int_equal(tree->worker[w].detail, AGGREGATE_REASON_NO_JOB);
	}
	/* The others join anew as well: another job of the same number and token. */
	for (unsigned int w = 2; w < 4; w++) {
		tree_leave(tree, w, AGGREGATE_REASON_FAILED);
		tree->worker[w] =
			(struct tree_worker){.at = LEAF_B, .index = w - 2, .incarnation = 7 + w};
	}
	tree_run(tree, tree->now + 20000);
	assert_true(tree_is_done(tree));
}

TWO_LEAVES_TEST(a_silent_worker_is_named_by_its_leaf_and_the_leaf_to_others)
{
	start_well();
	tree->worker[1].over = true;
	tree_pass(tree, tree->now + 2 * STALL);
	expect_missing(0, 1, 0, AGGREGATE_ABSENT_SILENT);
	/* The leaf itself is alive. */
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_LATE);
}

/* Whoever of a leaf's workers asks again: all others hear the answer with that one, and once. */
TWO_LEAVES_TEST(a_refusal_goes_to_all_members_at_once)
{
	start_well();
	tree->worker[1].over = true;
	tree_pass(tree, tree->now + 200);
	for (uint32_t slot = 0; slot < tree->slots; slot++)
		tree->worker[2].again[slot] = NEVER;
	tree_pass(tree, tree->now + 2 * STALL);
	expect_missing(2, 0, 1, AGGREGATE_ABSENT_LATE);
	assert_int_equal(tree->actions[AGGREGATE_REFUSAL_DOWN], tree->slots);
	/* Then the leaf dies: that is another refusal. */
	tree->sw[LEAF_A].dead = true;
	tree_pass(tree, tree->now + 2 * STALL);
	assert_int_equal(tree->worker[2].absence, AGGREGATE_ABSENT_SILENT);
	assert_int_equal(tree->actions[AGGREGATE_REFUSAL_DOWN], 2 * tree->slots);
}

TWO_LEAVES_TEST(a_silent_leaf_is_named)
{
	start_well();
	tree->sw[LEAF_A].dead = true;
	tree_pass(tree, tree->now + 2 * STALL);
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_SILENT);
}

/* As when a rack has no power: the leaf itself is alive, but nobody speaks whom it could speak for.
 */
TWO_LEAVES_TEST(a_leaf_whose_workers_are_all_silent_is_named)
{
	start_well();
	tree->worker[0].over = tree->worker[1].over = true;
	tree_pass(tree, tree->now + 2 * STALL + 500);
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_SILENT);
}

/* Whether the leaf's other worker asks or not. */
TWO_LEAVES_TEST(a_leaf_whose_worker_has_left_is_named_at_once)
{
	start_well();
	for (uint32_t slot = 0; slot < tree->slots; slot++)
		tree->worker[0].again[slot] = NEVER;
	tree_leave(tree, 1, AGGREGATE_REASON_NONE);
	tree_pass(tree, tree->now + 300);
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_LEFT);
}

/* Who has left had all results, and the leaf has them for the others. */
TWO_LEAVES_TEST(a_worker_that_leaves_first_takes_no_result_from_the_others)
{
	tree->network = (struct tree_network){.loss = 30, .twice = 10, .disorder = 20};
	tree_start(tree);
	while (!tree_is_done(tree) && tree->now < 100000) {
		tree_run(tree, tree->now + 1);
		for (unsigned int w = 0; w < 4; w++)
			if (tree->worker[w].results == CHUNKS && !tree->worker[w].over)
				tree_leave(tree, w, AGGREGATE_REASON_NONE);
	}
	assert_true(tree_is_done(tree));
}

TWO_LEAVES_TEST(a_worker_that_fails_fails_the_tree_at_once)
{
	start_well();
	tree_leave(tree, 3, AGGREGATE_REASON_FAILED);
	tree_pass(tree, tree->now + 300);
	expect_missing(2, 1, 0, AGGREGATE_ABSENT_FAILED);
	for (unsigned int w = 0; w < 2; w++)
		expect_missing(w, 1, 1, AGGREGATE_ABSENT_FAILED);
}

/* The sums are above, and the parent says nothing. */
TWO_LEAVES_TEST(a_failure_is_named_to_those_who_wait_for_the_parent)
{
	tree->sw[LEAF_A].limits.parent.repeat = STALL;
	start_well();
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 200);
	tree_leave(tree, 1, AGGREGATE_REASON_FAILED);
	tree_pass(tree, tree->now + 300);
	expect_missing(0, 1, 0, AGGREGATE_ABSENT_FAILED);
	assert_int_equal(tree->worker[0].detail, AGGREGATE_REASON_FAILED);
}

TWO_LEAVES_TEST(when_all_leave_the_parent_forgets_the_job)
{
	tree->network = (struct tree_network){.loss = 20, .twice = 10, .disorder = 20};
	tree_start(tree);
	tree_run(tree, tree->now + 30000);
	assert_true(tree_is_done(tree));
	assert_int_equal(jobs_of(0), 1);
	tree->network.loss = 0;
	for (unsigned int w = 0; w < 4; w++)
		tree_leave(tree, w, 0);
	tree->network.loss = 20;
	tree_pass(tree, tree->now + 500);
	for (unsigned int s = 0; s < 3; s++)
		assert_int_equal(jobs_of(s), 0);
}

/* With tags, too: who repeats a reply has forged nothing. */
TWO_LEAVES_TEST(late_replies_to_a_job_that_is_over_are_stray)
{
	uint64_t strays;

	tree_seal(tree);
	tree->network = (struct tree_network){.twice = 50, .disorder = 30};
	start_well();
	for (unsigned int w = 0; w < 4; w++)
		tree_leave(tree, w, 0);
	while (jobs_of(LEAF_A) != 0 || jobs_of(LEAF_B) != 0)
		tree_pass(tree, tree->now + 1);
	strays = tree->actions[AGGREGATE_STRAY_REPLY];
	tree_pass(tree, tree->now + 500);
	assert_true(tree->actions[AGGREGATE_STRAY_REPLY] > strays);
	assert_int_equal(tree->actions[AGGREGATE_FORGED_REPLY], 0);
	assert_int_equal(tree->wrong, 0);
}

TWO_LEAVES_TEST(silent_jobs_end_at_every_level)
{
	start_well();
	for (unsigned int w = 0; w < 4; w++)
		tree->worker[w].over = true;
	tree_pass(tree, tree->now + tree->sw[0].limits.idle + 1000);
	for (unsigned int s = 0; s < 3; s++)
		assert_int_equal(jobs_of(s), 0);
}

TWO_LEAVES_TEST(an_owner_is_refused_in_a_tree)
{
	struct aggregate_message message = {.op = AGGREGATE_SUM,
		.format = AGGREGATE_FP32,
		.owner = AGGREGATE_OWNER,
		.count = 1,
		.job = TREE_JOB,
		.values = (const uint8_t *)"abcd"};
	const struct aggregate_sender sender = {.address = {[15] = 100}, .port = TREE_WORKER_PORT};
	struct aggregate_outcome outcome;

	start_well();
	message.session = tree->worker[0].session;
	message.id = 20;
	aggregate_shard_packet(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &message, &sender,
		tree->now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_MISMATCH);
}

/* A result for a chunk that waits for one, with what is wrong given by the caller. */
static enum aggregate_action
forge(uint8_t address, uint16_t port, uint32_t id, bool good_session)
{
	struct aggregate_shard *shard = aggregate_table_shard(tree->sw[LEAF_A].table, 0);
	const struct aggregate_sender sender = {.address = {[15] = address}, .port = port};
	static const uint8_t values[80];
	struct aggregate_message reply = {.op = AGGREGATE_SUM,
		.format = AGGREGATE_FP32,
		.count = 20,
		.job = TREE_JOB,
		.id = id,
		.session =
			good_session ? tree->sw[LEAF_A].table->parent_members[0].member.session : 2,
		.values = values};
	struct aggregate_outcome outcome;

	aggregate_leaf_reply(shard, &reply, &sender, tree->now, &outcome);
	return outcome.action;
}

TWO_LEAVES_TEST(forged_results_are_dropped)
{
	const uint32_t chunk = 10000;
	struct aggregate_table *leaf;

	start_well();
	assert_int_equal(forge(9, TREE_PORT, chunk, true), AGGREGATE_FORGED_REPLY);
	assert_int_equal(forge(0, TREE_PORT + 1, chunk, true), AGGREGATE_FORGED_REPLY);
	assert_int_equal(forge(0, TREE_PORT, chunk, false), AGGREGATE_STRAY_REPLY);
	assert_int_equal(forge(0, TREE_PORT + 1, chunk, false), AGGREGATE_STRAY_REPLY);
	for (uint32_t c = 0; c < CHUNKS; c++)
		assert_int_equal(forge(0, TREE_PORT, c, false), AGGREGATE_STRAY_REPLY);
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
	/* A root has no parent to hear of. */
	leaf = tree->sw[LEAF_A].table;
	tree->sw[LEAF_A].table = tree->sw[0].table;
	assert_int_equal(forge(0, TREE_PORT, chunk, false), AGGREGATE_FORGED_REPLY);
	tree->sw[LEAF_A].table = leaf;
}

/* A leaf is drained once the parent knows that it has left, or does not answer. */
TWO_LEAVES_TEST(a_leaf_is_drained_when_the_parent_knows)
{
	start_well();
	tree_run(tree, tree->now + 20000);
	aggregate_table_drain(tree->sw[LEAF_A].table);
	tree->sw[0].dead = true;
	tree_leave(tree, 0, 0);
	tree_leave(tree, 1, 0);
	while (jobs_of(LEAF_A) != 0)
		tree_pass(tree, tree->now + 1);
	assert_false(aggregate_table_is_drained(tree->sw[LEAF_A].table));
	tree->sw[0].dead = false;
	tree_pass(tree, tree->now + 5000);
	assert_true(aggregate_table_is_drained(tree->sw[LEAF_A].table));
	assert_int_equal(jobs_of(0), 1);
	/* The other one's parent is away for good. */
	aggregate_table_drain(tree->sw[LEAF_B].table);
	tree->sw[0].dead = true;
	tree_leave(tree, 2, 0);
	tree_leave(tree, 3, 0);
	tree_pass(tree, tree->now + 60000);
	assert_true(aggregate_table_is_drained(tree->sw[LEAF_B].table));
}
