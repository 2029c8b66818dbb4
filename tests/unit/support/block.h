/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BLOCK_H
#define BLOCK_H

/** @file Many operands at a time, and the sets of a format that compute them. */

#include "unit.h"

#define BLOCK_LANES 0x10000u

/** Operands, results and flags. */
struct block {
	uint16_t x[BLOCK_LANES], y[BLOCK_LANES], z[BLOCK_LANES];
	uint8_t flags[BLOCK_LANES];
};

extern struct block block;

/** The format of the operands; the tests' argument. */
extern const struct netfc_format *format;

/** Sets of the largest scale, plain and floor, and of a scale in the middle. */
#define BLOCK_SETS 3
extern struct netfc_set *block_set[BLOCK_SETS];

/** Setup and teardown of a group of tests: build the sets, free them. */
int block_build_sets(void **state);
int block_free_sets(void **state);

/** Give all lanes the same operand. */
void fill_with(uint16_t *operands, uint16_t value);

/** Give each lane another operand: all that there are. */
void fill_with_all(uint16_t *operands);

/** Fill the block with random operands. */
void block_fill_random(uint64_t *seed);

/** Fill it with operands of which the second is a few steps from the first, or its negative. */
void block_fill_neighbours(uint64_t *seed);

/** Fail, and say what is wrong with a lane. */
void block_fail(const struct netfc_set *set, enum netfc_op op, uint32_t lane, const char *what);

#endif /* BLOCK_H */
