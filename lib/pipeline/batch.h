/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BATCH_H
#define PIPELINE_BATCH_H

/**
 * @file
 * Lanes of many requests that are computed together.
 *
 * Lanes are moved 8 at a time, however many a request has: vectors end where its lanes end, and
 * what they hold of the bytes before is overwritten by the next request, as a batch is filled from
 * its end towards its beginning. So no vector reads after a request, and no loop's length depends
 * on one.
 */

#include "classify.h"
#include "kernel_groups.h"
#include "replies.h"

/** Maximum number of gathered lanes in a burst. */
#define BATCH_LANES (CLASSIFY_BURST * CLASSIFY_GATHERED)

/** Space before the first lane of a group, which a vector may overwrite. */
#define BATCH_MARGIN 32

#define BATCH_STRIDE (BATCH_MARGIN + BATCH_LANES)

/** How a burst's lanes are computed. */
struct batch_plan {
	const struct vector_kernel
		*mixed; /**< all at once, by it; NULL: by their groups' kernels */
	/** Groups whose numbers agree in these bits are computed together. */
	uint8_t part_bits;
};

#define BATCH_ALONE 0xff /**< each group */
#define BATCH_PAIRS 0xfe /**< sums with differences, products with quotients */

/** Lanes of all groups; slots as in packets. What is computed together is a part. */
struct batches {
	uint16_t first[GATHERED_GROUPS]; /**< lanes from here to the part's end are in use */
	struct replies replies;
	uint16_t x[GATHERED_GROUPS * BATCH_STRIDE] __rte_cache_aligned;
	uint16_t y[GATHERED_GROUPS * BATCH_STRIDE] __rte_cache_aligned;
	uint16_t z[GATHERED_GROUPS * BATCH_STRIDE + CLASSIFY_VECTOR] __rte_cache_aligned;
	uint8_t flags[GATHERED_GROUPS * BATCH_STRIDE + CLASSIFY_VECTOR] __rte_cache_aligned;
	uint8_t group[GATHERED_GROUPS * BATCH_STRIDE] __rte_cache_aligned; /**< of each lane */
};

_Static_assert(UINT16_MAX >= GATHERED_GROUPS * BATCH_STRIDE, "lanes are numbered in 16 bits");

/** Where a part ends. */
static inline uint16_t
batch_end(unsigned int part)
{
	return (uint16_t)((part + 1) * BATCH_STRIDE);
}

/** Empty all. */
static inline void
batch_clear(struct batches *batches)
{
	for (unsigned int g = 0; g < GATHERED_GROUPS; g++)
		batches->first[g] = batch_end(g);
}

/**
 * Compute and answer the requests that are gathered: lanes of each part are copied after each
 * other, computed, and results written back with status and checksum.
 *
 * @param batches empty, before and after
 * @param lanes what is computed is added
 * @return their exceptions, counted as by flags_spread()
 */
typedef uint64_t batch_fn(struct batches *batches, struct classified *classified,
	const struct groups *groups, struct batch_plan plan, uint64_t *lanes);

/* One for each instruction set. */
batch_fn batch_compute_plain, batch_compute_avx2, batch_compute_avx512;

#endif /* PIPELINE_BATCH_H */
