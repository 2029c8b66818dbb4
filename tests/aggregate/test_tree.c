/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of switches over a bad network give what one switch gives, and name what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data.h"
#include "tree.h"

static struct tree *tree;
static bool sealed; /* all packets have tags */

static void
fill_chunks(unsigned int chunks)
{
	tree->chunks = chunks;
	for (unsigned int c = 0; c < chunks; c++) {
		struct tree_chunk *chunk = &tree->chunk[c];
		unsigned int kind = (unsigned int)(next_random(&tree->seed) % DATA_KINDS);
		uint32_t most;

		chunk->format = 1 + c % (AGGREGATE_FORMAT_END - 1);
		chunk->op = AGGREGATE_SUM + (unsigned int)(next_random(&tree->seed) % 5);
		most = TREE_BYTES / aggregate_value_bytes(chunk->format);
		most = most < TREE_MOST_LANES ? most : TREE_MOST_LANES;
		chunk->count = chunk->op == AGGREGATE_COPY
			? 0
			: (uint16_t)(1 + next_random(&tree->seed) % most);
		for (uint32_t lane = 0; lane < chunk->count; lane++)
			data_fill((enum data_kind)kind, chunk->format, chunk->values[lane],
				tree->workers, &tree->seed);
	}
}

/* Below a switch: workers, or more switches with at least one. */
static void
grow(unsigned int at, unsigned int levels, unsigned int most)
{
	unsigned int members = 1 + (unsigned int)(next_random(&tree->seed) % most);

	for (unsigned int m = 0; m < members; m++) {
		if (levels == 0)
			tree_add_worker(tree, at);
		else if (tree->switches < TREE_MOST_SWITCHES)
			grow(tree_add_switch(
				     tree, at, 1 + (uint32_t)(next_random(&tree->seed) % 3)),
				levels - 1, most);
	}
}

static void
check_trees(unsigned int levels, unsigned int most, struct tree_network network)
{
	for (unsigned int seed = 0; seed < 12; seed++) {
		tree = tree_new(seed * 100 + levels);
		tree->network = network;
		tree->slots = (uint16_t)(1u << next_random(&tree->seed) % 4);
		grow(tree_add_switch(tree, 0, 1 + seed % 3), levels - 1, most);
		if (sealed)
			tree_seal(tree);
		tree_start(tree);
		fill_chunks(TREE_MOST_CHUNKS);
		tree_run(tree, 200000);
		assert_true(tree_is_done(tree));
		assert_int_equal(tree->wrong, 0);
		assert_int_equal(tree->actions[AGGREGATE_FORGED_REPLY], 0);
		assert_int_equal(tree->actions[AGGREGATE_WINDOW], 0);
		assert_int_equal(tree->actions[AGGREGATE_MISMATCH], 0);
		assert_int_equal(tree->actions[AGGREGATE_BAD_PARTS], 0);
		tree_free(tree);
	}
}

static const struct tree_network good = {0, 0, 0};
static const struct tree_network bad = {.loss = 20, .twice = 20, .disorder = 30};

static void
one_level_is_a_switch_alone(void **state)
{
	(void)state;
	check_trees(1, 12, good);
	check_trees(1, 12, bad);
}

static void
two_levels(void **state)
{
	(void)state;
	check_trees(2, 6, good);
	check_trees(2, 6, bad);
}

static void
three_levels(void **state)
{
	(void)state;
	check_trees(3, 3, good);
	check_trees(3, 3, bad);
}

static void
trees_have_tags(void **state)
{
	(void)state;
	sealed = true;
	check_trees(2, 3, bad);
	check_trees(3, 2, good);
	sealed = false;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_level_is_a_switch_alone),
		cmocka_unit_test(two_levels),
		cmocka_unit_test(three_levels),
		cmocka_unit_test(trees_have_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
