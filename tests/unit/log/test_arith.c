/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of table sets: programs against the reference, both against the rules for special
 * values and flags. The argument is a format.
 */
#include "block.h"
#include "naive.h"
#include "operands.h"

static void
expect_lane(const struct netfc_set *s, enum netfc_op op, uint32_t lane)
{
	uint16_t x = block.x[lane], y = block.y[lane], z = block.z[lane], special;
	struct netfc_result result = netfc_calc(s, op, x, y);

	if (result.z != z || result.flags != block.flags[lane])
		block_fail(s, op, lane, "the reference differs");
	if (naive_flags(format, op, x, y, z) != block.flags[lane])
		block_fail(s, op, lane, "the flags are others by their definitions");
	if (naive_special(format, op, x, y, &special) && special != z)
		block_fail(s, op, lane, "a special value is wrong");
}

static void
check_block(void)
{
	for (unsigned s = 0; s < BLOCK_SETS; s++) {
		FOREACH_OP(op)
		{
			netfc_compute(block_set[s], op, block.x, block.y, block.z, block.flags,
				BLOCK_LANES);
			for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
				expect_lane(block_set[s], op, lane);
		}
	}
}

TEST(edge_operands_with_every_other)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(format, edges);

	for (unsigned e = 0; e < count; e++) {
		fill_with(block.x, edges[e]);
		fill_with_all(block.y);
		check_block();
		fill_with_all(block.x);
		fill_with(block.y, edges[e]);
		check_block();
	}
}

TEST(random_operands_with_every_other)
{
	uint64_t seed = 2;

	fill_with_all(block.y);
	for (unsigned i = 0; i < 8; i++) {
		fill_with(block.x, (uint16_t)next_random(&seed));
		check_block();
	}
}

TEST(random_pairs_and_neighbours)
{
	uint64_t seed = 3;

	for (unsigned i = 0; i < 4; i++) {
		block_fill_random(&seed);
		check_block();
		block_fill_neighbours(&seed);
		check_block();
	}
}

FORMAT_MAIN(block_build_sets, block_free_sets)
