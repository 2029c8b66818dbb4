/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

struct block block;
const struct netfc_format *format;
struct netfc_set *block_set[BLOCK_SETS];

int
block_build_sets(void **state __attribute__((unused)))
{
	unsigned max = netfc_format_max_scale(format);
	const struct netfc_set_id ids[] = {
		{format, max, NETFC_NEAREST, NETFC_FAMILY_LOG},
		{format, max, NETFC_FLOOR, NETFC_FAMILY_LOG},
		{format, 1u << __builtin_ctz(max) / 2, NETFC_NEAREST, NETFC_FAMILY_LOG},
	};
	char name[NETFC_SET_NAME_SIZE];

	for (unsigned s = 0; s < BLOCK_SETS; s++) {
		netfc_set_format_name(&ids[s], name);
		block_set[s] = must_build(name);
	}
	return 0;
}

int
block_free_sets(void **state __attribute__((unused)))
{
	for (unsigned s = 0; s < BLOCK_SETS; s++)
		netfc_set_free(block_set[s]);
	return 0;
}

void
block_fail(const struct netfc_set *s, enum netfc_op op, uint32_t lane, const char *what)
{
	fail_msg("%s: %#x %s %#x = %#x, flags %#x: %s", netfc_set_name(s), block.x[lane],
		netfc_op_symbol(op), block.y[lane], block.z[lane], block.flags[lane], what);
}

void
fill_with(uint16_t *operands, uint16_t value)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
		operands[lane] = value;
}

void
fill_with_all(uint16_t *operands)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
		operands[lane] = (uint16_t)lane;
}

void
block_fill_random(uint64_t *seed)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		block.x[lane] = (uint16_t)next_random(seed);
		block.y[lane] = (uint16_t)next_random(seed);
	}
}

/* Operands that nearly cancel: the second is a few steps from the first, or from its negative. */
void
block_fill_neighbours(uint64_t *seed)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		uint64_t random = next_random(seed);
		uint16_t x = (uint16_t)random, y = (uint16_t)(x + (random >> 16 & 7) - 4);

		block.x[lane] = x;
		block.y[lane] = random >> 63 ? netfc_negate(format, y) : y;
	}
}
