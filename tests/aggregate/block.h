/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_BLOCK_H
#define AGGREGATE_BLOCK_H

/**
 * @file
 * Many lanes of many workers, reduced by a kernel and compared with the oracle lane by lane.
 */

#include <stdbool.h>
#include <stdint.h>

#include <aggregate.h>

#include "oracle.h"

#define BLOCK_BYTES 1448
#define BLOCK_LANES BLOCK_BYTES

/** Values by lane and worker, and the packets made of them, at odd addresses. */
struct block {
	unsigned int format, workers;
	uint32_t count;
	uint64_t values[BLOCK_LANES][AGGREGATE_MAX_WORKERS];
	struct oracle_result expected[BLOCK_LANES];
	uint8_t packets[AGGREGATE_MAX_WORKERS][BLOCK_BYTES + 65];
	uint8_t result[BLOCK_BYTES + 65];
	struct aggregate_lanes *lanes;
};

/** All that is allocated; never NULL: ends the program instead. */
struct block *block_new(void);
void block_free(struct block *block);

/** Lanes that fit. */
uint32_t block_most(unsigned int format);

/** Put the values into packets. */
void block_pack(struct block *block);

/** Have the oracle reduce all lanes. */
void block_expect(struct block *block, unsigned int op);

/**
 * Reduce and compare; the first difference is printed.
 *
 * @return lanes that are wrong, one more if the flags are
 */
uint32_t block_check(struct block *block, enum aggregate_isa isa, unsigned int op);

#endif /* AGGREGATE_BLOCK_H */
