/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact.h"
#include "tree.h"

/* Half of the workers have nothing but zeros, or all of them. */
static void
clear_some(struct tree *tree, struct tree_chunk *chunk)
{
	const bool all = next_random(&tree->seed) % 2 == 0;

	for (unsigned int w = 0; w < tree->workers; w++) {
		if (!all && next_random(&tree->seed) % 2 == 0)
			continue;
		for (uint32_t lane = 0; lane < chunk->count; lane++)
			chunk->values[lane][w] = 0;
	}
}

static uint32_t
fill_chunk(struct tree *tree, unsigned int format, struct tree_chunk *chunk)
{
	enum data_kind kind = (enum data_kind)(next_random(&tree->seed) % DATA_KINDS);
	uint32_t most;

	chunk->op = AGGREGATE_SUM + (unsigned int)(next_random(&tree->seed) % 5);
	chunk->format = format;
	if (aggregate_has_format(chunk->op, AGGREGATE_INTO(format, AGGREGATE_FP32)) &&
		next_random(&tree->seed) % 2 == 0)
		chunk->format = AGGREGATE_INTO(format, AGGREGATE_FP32);
	most = TREE_BYTES / aggregate_lane_bytes(chunk->format);
	most = most < TREE_MAX_LANES ? most : TREE_MAX_LANES;
	chunk->count =
		chunk->op == AGGREGATE_COPY ? 0 : (uint16_t)(1 + next_random(&tree->seed) % most);
	for (uint32_t lane = 0; lane < chunk->count; lane++)
		data_fill(kind, chunk->format, chunk->values[lane], tree->workers, &tree->seed);
	if (next_random(&tree->seed) % 2 == 0)
		clear_some(tree, chunk);
	return chunk->count;
}

uint64_t
tree_fill(struct tree *tree, unsigned int chunks)
{
	uint64_t lanes = 0;

	tree->chunks = chunks;
	for (unsigned int c = 0; c < chunks; c++)
		lanes += fill_chunk(tree, 1 + c % (AGGREGATE_FORMAT_END - 1), &tree->chunk[c]);
	return lanes;
}

/* Below a switch: workers, or more switches with at least one. */
static void
grow(struct tree *tree, unsigned int at, unsigned int levels, unsigned int most)
{
	unsigned int members = 1 + (unsigned int)(next_random(&tree->seed) % most);

	for (unsigned int m = 0; m < members; m++) {
		if (levels == 0)
			tree_add_worker(tree, at);
		else if (tree->switches < TREE_MAX_SWITCHES)
			grow(tree,
				tree_add_switch(
					tree, at, 1 + (uint32_t)(next_random(&tree->seed) % 3)),
				levels - 1, most);
	}
}

/* All ask for zeros, nobody, or some. */
static void
ask_for_zeros(struct tree *tree)
{
	const uint64_t who = next_random(&tree->seed) % 4;

	for (unsigned int w = 0; w < tree->workers; w++)
		tree->worker[w].asks_for_zeros =
			who >= 2 || (who == 1 && next_random(&tree->seed) % 2 == 0);
}

struct tree *
tree_grow(uint64_t seed, unsigned int levels, unsigned int most)
{
	struct tree *tree = tree_new(seed);

	tree->slots = (uint16_t)(1u << next_random(&tree->seed) % 4);
	grow(tree, tree_add_switch(tree, 0, 1 + (uint32_t)(seed % 3)), levels - 1, most);
	ask_for_zeros(tree);
	return tree;
}
