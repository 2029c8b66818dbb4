/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong in a tree is named to everybody concerned, and nobody waits for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "jobs/job.h"
#include "tree.h"

#define STALL 2000 /* of the switches */
#define CHUNKS TREE_MAX_CHUNKS
#define NEVER UINT64_MAX
#define LEAF_A 1
#define LEAF_B 2

static struct tree *tree;

/* Two leaves of two workers: 0 and 1 at A, 2 and 3 at B. */
static int
set_up(void **state)
{
	(void)state;
	tree = tree_new(5);
	for (unsigned int s = 0; s < 3; s++)
		tree_add_switch(tree, 0, 1 + s % 2);
	for (unsigned int w = 0; w < 4; w++)
		tree_add_worker(tree, w < 2 ? LEAF_A : LEAF_B);
	tree->chunks = CHUNKS;
	for (unsigned int c = 0; c < CHUNKS; c++) {
		tree->chunk[c].op = AGGREGATE_SUM;
		tree->chunk[c].format = AGGREGATE_FP32;
		tree->chunk[c].count = 20;
		for (unsigned int lane = 0; lane < 20; lane++)
			data_fill(DATA_GRADIENTS, AGGREGATE_FP32, tree->chunk[c].values[lane], 4,
				&tree->seed);
	}
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	assert_int_equal(tree->wrong, 0);
	tree_free(tree);
	return 0;
}

/* Until all workers have joined and some results are there, but not all. */
static void
start_well(void)
{
	tree_start(tree);
	while (tree->worker[3].results < 8 || tree->worker[0].results < 8)
		tree_run(tree, tree->now + 1);
	assert_false(tree_is_done(tree));
}

static uint32_t
jobs_of(unsigned int s)
{
	struct aggregate_usage usage;

	aggregate_table_usage(tree->sw[s].table, &usage);
	return usage.jobs;
}

static struct aggregate_info
info_of(unsigned int s)
{
	struct aggregate_info info;

	for (uint16_t index = 0; index < tree->sw[s].limits.jobs; index++)
		if (aggregate_table_info(tree->sw[s].table, index, &info))
			return info;
	fail_msg("switch %u has no job", s);
	return info;
}

static void
expect_refused(unsigned int w, uint8_t reason, uint8_t decided)
{
	assert_false(tree->worker[w].joined);
	assert_int_equal(tree->worker[w].reason, reason);
	assert_int_equal(tree->worker[w].decided, decided);
}

/* A worker is told that a member of its switch, or of the parent, is missing. */
static void
expect_missing(unsigned int w, uint8_t member, uint8_t level, enum aggregate_absence absence)
{
	assert_int_equal(tree->worker[w].reason, AGGREGATE_MISSING + member);
	assert_int_equal(tree->worker[w].level, level);
	assert_int_equal(tree->worker[w].absence, absence);
}

static void
a_switch_without_parent_says_so(void **state)
{
	(void)state;
	tree->sw[LEAF_A].limits.parent.port = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 0; w < 2; w++)
		expect_refused(w, AGGREGATE_REASON_NO_PARENT, 1);
	for (unsigned int w = 2; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_WAITING, 2);
	assert_int_equal(info_of(LEAF_B).uplink, AGGREGATE_UPLINK_WAITING);
}

/* B's parent is A, whose parent is B. */
static void
loops_are_refused(void **state)
{
	(void)state;
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

static void
a_parent_without_digits_refuses(void **state)
{
	(void)state;
	tree->sw[0].limits.digits = 0;
	tree_start(tree);
	tree_pass(tree, tree->now + 1000);
	for (unsigned int w = 0; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_DIGITS, 2);
	assert_int_equal(info_of(LEAF_A).uplink, AGGREGATE_UPLINK_REFUSED);
	assert_int_equal(info_of(LEAF_A).above, AGGREGATE_REASON_DIGITS);
}

static void
contradicting_places_are_refused(void **state)
{
	(void)state;
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
static void
contradictions_between_leaves_are_refused_by_the_parent(void **state)
{
	(void)state;
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

static void
a_parent_that_comes_later_is_waited_for(void **state)
{
	(void)state;
	tree_start(tree);
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 1000);
	for (unsigned int w = 0; w < 4; w++)
		expect_refused(w, AGGREGATE_REASON_WAITING, 1);
	assert_int_equal(info_of(LEAF_A).uplink, AGGREGATE_UPLINK_ASKING);
	assert_int_equal(info_of(LEAF_A).above_heard, 0);
	tree->sw[0].dead = false;
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
	assert_int_equal(info_of(LEAF_A).uplink, AGGREGATE_UPLINK_JOINED);
	assert_int_equal(info_of(LEAF_A).levels, 1);
	assert_int_equal(info_of(LEAF_A).all_workers, 4);
}

static void
a_parent_that_dies_is_named(void **state)
{
	uint64_t died;

	(void)state;
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
static void
a_leaf_that_has_slept_does_not_name_the_parent(void **state)
{
	(void)state;
	start_well();
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 100);
	tree->now += 4 * STALL;
	tree->sw[0].dead = false;
	tree_run(tree, tree->now + 10000);
	assert_true(tree_is_done(tree));
	assert_int_equal(tree->actions[AGGREGATE_PARENT_SILENT], 0);
}

static void
a_parent_that_is_restarted_ends_the_job(void **state)
{
	(void)state;
	start_well();
	tree_restart(tree, 0);
	tree_pass(tree, tree->now + 500);
	for (unsigned int w = 0; w < 4; w++)
		assert_int_equal(tree->worker[w].reason, AGGREGATE_REASON_NO_JOB);
	assert_int_equal(jobs_of(LEAF_A), 0);
	assert_int_equal(jobs_of(LEAF_B), 0);
}

/* A worker may join anew before the switch has ended the job: it does not come into the old one. */
static void
a_job_that_the_parent_lost_is_not_joined(void **state)
{
	struct aggregate_outcome outcome;
	struct aggregate_message join = {
		.op = AGGREGATE_JOIN, .job = TREE_JOB, .token = TREE_TOKEN};

	(void)state;
	start_well();
	find_open_job(tree->sw[LEAF_A].table, TREE_JOB)->lost = 1;
	join.join = (struct aggregate_join){.workers = 2,
		.slots = tree->slots,
		.bytes = TREE_BYTES,
		.cookie = tree->worker[0].cookie,
		.place = tree_place(tree, 0)};
	aggregate_shard_packet(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &join,
		&(struct aggregate_sender){
			.address = {[15] = TREE_WORKERS_HOST}, .port = TREE_WORKER_PORT},
		tree->now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_COOKIE);
	assert_int_equal(jobs_of(LEAF_A), 0);
}

/* Its workers hear that there is no job; those of the other leaf, that A has failed. */
static void
a_leaf_that_is_restarted_ends_the_job(void **state)
{
	(void)state;
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
		tree->worker[w] = (struct tree_worker){.at = LEAF_B, .index = w - 2};
	}
	tree_run(tree, tree->now + 20000);
	assert_true(tree_is_done(tree));
}

static void
a_silent_worker_is_named_by_its_leaf_and_the_leaf_to_others(void **state)
{
	(void)state;
	start_well();
	tree->worker[1].over = true;
	tree_pass(tree, tree->now + 2 * STALL);
	expect_missing(0, 1, 0, AGGREGATE_ABSENT_SILENT);
	/* The leaf itself is alive. */
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_LATE);
}

/* Whoever of a leaf's workers asks again: all others hear the answer with that one, and once. */
static void
a_refusal_goes_to_all_members_at_once(void **state)
{
	(void)state;
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

static void
a_silent_leaf_is_named(void **state)
{
	(void)state;
	start_well();
	tree->sw[LEAF_A].dead = true;
	tree_pass(tree, tree->now + 2 * STALL);
	for (unsigned int w = 2; w < 4; w++)
		expect_missing(w, 0, 1, AGGREGATE_ABSENT_SILENT);
}

static void
a_worker_that_fails_fails_the_tree_at_once(void **state)
{
	(void)state;
	start_well();
	tree_leave(tree, 3, AGGREGATE_REASON_FAILED);
	tree_pass(tree, tree->now + 300);
	expect_missing(2, 1, 0, AGGREGATE_ABSENT_FAILED);
	for (unsigned int w = 0; w < 2; w++)
		expect_missing(w, 1, 1, AGGREGATE_ABSENT_FAILED);
}

/* The sums are above, and the parent says nothing. */
static void
a_failure_is_named_to_those_who_wait_for_the_parent(void **state)
{
	(void)state;
	tree->sw[LEAF_A].limits.parent.repeat = STALL;
	start_well();
	tree->sw[0].dead = true;
	tree_pass(tree, tree->now + 200);
	tree_leave(tree, 1, AGGREGATE_REASON_FAILED);
	tree_pass(tree, tree->now + 300);
	expect_missing(0, 1, 0, AGGREGATE_ABSENT_FAILED);
	assert_int_equal(tree->worker[0].detail, AGGREGATE_REASON_FAILED);
}

static void
when_all_leave_the_parent_forgets_the_job(void **state)
{
	(void)state;
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
static void
late_replies_to_a_job_that_is_over_are_stray(void **state)
{
	uint64_t strays;

	(void)state;
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

static void
silent_jobs_end_at_every_level(void **state)
{
	(void)state;
	start_well();
	for (unsigned int w = 0; w < 4; w++)
		tree->worker[w].over = true;
	tree_pass(tree, tree->now + tree->sw[0].limits.idle + 1000);
	for (unsigned int s = 0; s < 3; s++)
		assert_int_equal(jobs_of(s), 0);
}

static void
a_parent_may_grant_less(void **state)
{
	(void)state;
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

static void
an_owner_is_refused_in_a_tree(void **state)
{
	struct aggregate_message message = {.op = AGGREGATE_SUM,
		.format = AGGREGATE_FP32,
		.owner = AGGREGATE_OWNER,
		.count = 1,
		.job = TREE_JOB,
		.values = (const uint8_t *)"abcd"};
	const struct aggregate_sender sender = {.address = {[15] = 100}, .port = TREE_WORKER_PORT};
	struct aggregate_outcome outcome;

	(void)state;
	start_well();
	message.session = tree->worker[0].session;
	message.id = 20;
	aggregate_shard_packet(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &message, &sender,
		tree->now, &outcome);
	assert_int_equal(outcome.action, AGGREGATE_MISMATCH);
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
			.place.decided = 1}};
	struct aggregate_outcome outcome;

	aggregate_leaf_reply(aggregate_table_shard(tree->sw[LEAF_A].table, 0), &reply, &parent,
		tree->now, &outcome);
	return outcome.action;
}

/* The network has repeated the join; the answers to both differ, and the first comes last. */
static void
late_answers_to_a_join_end_nothing(void **state)
{
	struct aggregate_message asked;

	(void)state;
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
	assert_int_equal(info_of(LEAF_A).uplink, AGGREGATE_UPLINK_JOINED);
}

/* As on a busy machine: each answer comes when the join has been sent again. */
static void
a_parent_that_takes_longer_than_a_retry_is_joined(void **state)
{
	struct aggregate_message asked;
	uint32_t before = 0;

	(void)state;
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
	assert_int_equal(info_of(LEAF_A).uplink, AGGREGATE_UPLINK_JOINED);
}

/* Nobody takes that for a grant. */
static void
a_parent_that_refuses_without_a_reason_is_named(void **state)
{
	(void)state;
	tree->sw[0].dead = true;
	tree_start(tree);
	tree_pass(tree, tree->now + 500);
	assert_int_equal(answer_join(tree->sw[LEAF_A].table->uplinks[0].id, AGGREGATE_STATUS_CODE,
				 AGGREGATE_REASON_NONE),
		AGGREGATE_PARENT_ANSWERED);
	tree_pass(tree, tree->now + 100);
	for (unsigned int w = 0; w < 2; w++)
		expect_refused(w, AGGREGATE_REASON_PARENT, 2);
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
		.session = good_session ? tree->sw[LEAF_A].table->uplinks[0].session : 2,
		.values = values};
	struct aggregate_outcome outcome;

	aggregate_leaf_reply(shard, &reply, &sender, tree->now, &outcome);
	return outcome.action;
}

static void
forged_results_are_dropped(void **state)
{
	const uint32_t chunk = 10000;
	struct aggregate_table *leaf;

	(void)state;
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

#define TEST_(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST_(a_switch_without_parent_says_so),
		TEST_(loops_are_refused),
		TEST_(a_parent_without_digits_refuses),
		TEST_(contradicting_places_are_refused),
		TEST_(contradictions_between_leaves_are_refused_by_the_parent),
		TEST_(a_parent_that_comes_later_is_waited_for),
		TEST_(a_parent_that_dies_is_named),
		TEST_(a_leaf_that_has_slept_does_not_name_the_parent),
		TEST_(a_parent_that_is_restarted_ends_the_job),
		TEST_(a_job_that_the_parent_lost_is_not_joined),
		TEST_(a_leaf_that_is_restarted_ends_the_job),
		TEST_(a_silent_worker_is_named_by_its_leaf_and_the_leaf_to_others),
		TEST_(a_refusal_goes_to_all_members_at_once),
		TEST_(a_silent_leaf_is_named),
		TEST_(a_worker_that_fails_fails_the_tree_at_once),
		TEST_(a_failure_is_named_to_those_who_wait_for_the_parent),
		TEST_(when_all_leave_the_parent_forgets_the_job),
		TEST_(late_replies_to_a_job_that_is_over_are_stray),
		TEST_(silent_jobs_end_at_every_level),
		TEST_(a_parent_may_grant_less),
		TEST_(an_owner_is_refused_in_a_tree),
		TEST_(late_answers_to_a_join_end_nothing),
		TEST_(a_parent_that_takes_longer_than_a_retry_is_joined),
		TEST_(a_parent_that_refuses_without_a_reason_is_named),
		TEST_(forged_results_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
