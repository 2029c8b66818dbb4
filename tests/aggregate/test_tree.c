/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of switches over a bad network give what one switch gives, and name what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "exact.h"
#include "tree.h"

static struct tree *tree;
static bool sealed; /* all packets have tags */

static void
check_trees(unsigned int levels, unsigned int most, struct tree_network network)
{
	uint64_t zeros = 0;

	for (unsigned int seed = 0; seed < 12; seed++) {
		tree = tree_grow(seed * 100 + levels, levels, most);
		tree->network = network;
		if (sealed)
			tree_seal(tree);
		tree_start(tree);
		tree_fill(tree, TREE_MAX_CHUNKS);
		tree_run(tree, 200000);
		assert_true(tree_is_done(tree));
		assert_int_equal(tree->wrong, 0);
		assert_int_equal(tree->actions[AGGREGATE_FORGED_REPLY], 0);
		assert_int_equal(tree->actions[AGGREGATE_WINDOW], 0);
		assert_int_equal(tree->actions[AGGREGATE_MISMATCH], 0);
		assert_int_equal(tree->actions[AGGREGATE_BAD_PARTS], 0);
		zeros += tree->zeros;
		tree_free(tree);
	}
	assert_true(zeros > 0);
}

static const struct tree_network good = {0, 0, 0};
static const struct tree_network bad = {.loss = 20, .twice = 20, .disorder = 30};

TEST(one_level_is_a_switch_alone)
{
	check_trees(1, 12, good);
	check_trees(1, 12, bad);
}

TEST(two_levels)
{
	check_trees(2, 6, good);
	check_trees(2, 6, bad);
}

TEST(three_levels)
{
	check_trees(3, 3, good);
	check_trees(3, 3, bad);
}

TEST(trees_have_tags)
{
	sealed = true;
	check_trees(2, 3, bad);
	check_trees(3, 2, good);
	sealed = false;
}

/* A switch is away, or has been restarted; a worker leaves, ends, or begins anew. */
static void
make_trouble(void)
{
	struct tree_switch *sw = &tree->sw[next_random(&tree->seed) % tree->switches];
	const unsigned int w = (unsigned int)(next_random(&tree->seed) % tree->workers);
	struct tree_worker *worker = &tree->worker[w];

	switch (next_random(&tree->seed) % 6) {
	case 0:
		sw->dead = true;
		break;
	case 1:
		tree_restart(tree, (unsigned int)(sw - tree->sw));
		break;
	case 2:
		worker->over = true;
		break;
	case 3:
		if (worker->joined && !worker->over)
			tree_leave(tree, w, (uint8_t)(next_random(&tree->seed) % 8));
		break;
	case 4:
		*worker = (struct tree_worker){.at = worker->at, .index = worker->index};
		break;
	default:
		for (unsigned int s = 0; s < tree->switches; s++)
			tree->sw[s].dead = false;
		break;
	}
}

/* Nobody gets all results, and nobody a wrong one. */
TEST(no_trouble_makes_a_wrong_result)
{
	for (unsigned int seed = 0; seed < 300; seed++) {
		tree = tree_grow(seed, 1 + seed % 3, 3);
		tree->network = seed % 2 == 0 ? good : bad;
		for (unsigned int s = 1; s < tree->switches; s++)
			tree->sw[s].limits.parent.repeat = 20u << seed % 8;
		tree_start(tree);
		tree_fill(tree, TREE_MAX_CHUNKS);
		for (unsigned int trouble = 0; trouble < 40; trouble++) {
			tree_pass(tree, tree->now + next_random(&tree->seed) % 300);
			make_trouble();
		}
		assert_int_equal(tree->wrong, 0);
		tree_free(tree);
	}
}
