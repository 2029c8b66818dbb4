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

#include "exact.h"

#define BLOCK_BYTES 1448
#define BLOCK_LANES BLOCK_BYTES
#define BLOCK_TOTALS_BYTES 131072

/** Exact sums, and all of them as one part. */
struct block_sums {
	int64_t totals[BLOCK_TOTALS_BYTES / sizeof(int64_t)];
	uint8_t part[BLOCK_TOTALS_BYTES];
	size_t bytes;
};

/** Values by lane and worker, and the packets made of them, at odd addresses. */
struct block {
	unsigned int format, workers;
	uint32_t count;
	uint64_t values[BLOCK_LANES][AGGREGATE_MAX_WORKERS];
	struct oracle_result expected[BLOCK_LANES];
	struct block_sums sums, from_lanes; /* as they should be; out of the accumulators */
	uint8_t packets[AGGREGATE_MAX_WORKERS][BLOCK_BYTES + 65];
	uint8_t result[BLOCK_BYTES + 65];
	struct aggregate_lanes *lanes;
};

/** Memory for tables, accumulators or anything, all 0; never NULL: ends the program instead. */
void *allocate(size_t bytes);

/** All that is allocated; never NULL: ends the program instead. */
struct block *block_new(void);
void block_free(struct block *block);

/** Lanes that fit. */
uint32_t block_most(unsigned int format);

/** Put the values into packets. */
void block_pack(struct block *block);

/** Have the oracle reduce all lanes; for a sum, add all up exactly. */
void block_expect(struct block *block, unsigned int op);

/**
 * Reduce and compare; of a sum, the exact sums as well. The first difference is printed.
 *
 * @return lanes that are wrong, one more if the flags are, or exact sums
 */
uint32_t block_check(struct block *block, enum aggregate_isa isa, unsigned int op);

#endif /* AGGREGATE_BLOCK_H */
