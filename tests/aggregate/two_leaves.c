/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "exact.h"
#include "two_leaves.h"

struct tree *tree;

int
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

int
tear_down(void **state)
{
	(void)state;
	assert_int_equal(tree->wrong, 0);
	tree_free(tree);
	return 0;
}

void
start_well(void)
{
	tree_start(tree);
	while (tree->worker[3].results < 8 || tree->worker[0].results < 8)
		tree_run(tree, tree->now + 1);
	assert_false(tree_is_done(tree));
}

uint32_t
jobs_of(unsigned int s)
{
	struct aggregate_usage usage;

	aggregate_table_usage(tree->sw[s].table, &usage);
	return usage.jobs;
}

struct aggregate_info
info_of(unsigned int s)
{
	struct aggregate_info info;

	for (uint16_t index = 0; index < tree->sw[s].limits.jobs; index++)
		if (aggregate_table_info(tree->sw[s].table, index, &info))
			return info;
	fail_msg("switch %u has no job", s);
	return info;
}

void
expect_refused(unsigned int w, uint8_t reason, uint8_t decided)
{
	assert_false(tree->worker[w].joined);
	assert_int_equal(tree->worker[w].reason, reason);
	assert_int_equal(tree->worker[w].decided, decided);
}

void
expect_missing(unsigned int w, uint8_t member, uint8_t level, enum aggregate_absence absence)
{
	assert_int_equal(tree->worker[w].reason, AGGREGATE_MISSING + member);
	assert_int_equal(tree->worker[w].level, level);
	assert_int_equal(tree->worker[w].absence, absence);
}
