/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random trees of one, two and three levels over a network that loses, doubles and delays packets:
 * every worker's every result against the oracle, which is what one switch gives.
 * Usage: aggregate_sweep_tree LANES [SEED]: so many lanes of each number of levels
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree.h"

#define MAX_LEVELS 3
#define MAX_TICKS 400000

static const struct tree_network bad = {.loss = 20, .twice = 20, .disorder = 30};

/* Members of a switch, so that there are up to 64 workers or 16 switches. */
static const unsigned int most_members[MAX_LEVELS] = {12, 6, 3};

struct count {
	uint64_t trees, lanes, results, wrong;
};

static void
run_tree(unsigned int levels, uint64_t seed, struct count *count)
{
	struct tree *tree = tree_grow(seed, levels, most_members[levels - 1]);

	tree->network = bad;
	tree_start(tree);
	count->lanes += tree_fill(tree, TREE_MAX_CHUNKS);
	tree_run(tree, MAX_TICKS);
	count->trees++;
	for (unsigned int w = 0; w < tree->workers; w++)
		count->results += tree->worker[w].results;
	if (tree->wrong != 0 || !tree_is_done(tree))
		printf("seed %" PRIu64 ", %u levels: %s\n", seed, levels,
			tree->wrong != 0 ? "a result is wrong" : "not all results");
	count->wrong += tree->wrong != 0 || !tree_is_done(tree);
	tree_free(tree);
}

int
main(int argc, char **argv)
{
	const uint64_t lanes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, wrong = 0;

	if (lanes == 0) {
		fprintf(stderr, "usage: %s LANES [SEED]\n", argv[0]);
		return 2;
	}
	for (unsigned int levels = 1; levels <= MAX_LEVELS; levels++) {
		struct count count = {0};

		while (count.lanes < lanes)
			run_tree(levels, seed++, &count);
		printf("%u levels: %" PRIu64 " trees, %" PRIu64 " lanes, %" PRIu64
		       " results of workers, %" PRIu64 " trees wrong\n",
			levels, count.trees, count.lanes, count.results, count.wrong);
		fflush(stdout);
		wrong += count.wrong;
	}
	return wrong != 0;
}
