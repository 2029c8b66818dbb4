/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BATCH_H
#define PIPELINE_BATCH_H

/**
 * @file
 * Lanes of many requests that are computed together.
 *
 * Lanes are moved 8 at a time, however many a request has: vectors end where its lanes end, and
 * what they hold of the bytes before is overwritten by the next request, as a batch is filled from
 * its end towards its beginning. So no vector reads behind a request, and no loop's length depends
 * on one.
 */

#include "branch.h"
#include "classify.h"

/** The most that the requests of a burst have. */
#define BATCH_LANES (CLASSIFY_BURST * CLASSIFY_GATHERED)

/** Lanes before the first: what a vector may hold besides. */
#define BATCH_MARGIN 32

/** Lanes of one format and operation; slots as in packets. */
struct batch {
	uint32_t first; /**< lanes from here to BATCH_LANES are in use */
	uint16_t x_slots[BATCH_MARGIN + BATCH_LANES] __rte_cache_aligned;
	uint16_t y_slots[BATCH_MARGIN + BATCH_LANES];
	uint16_t z_slots[BATCH_MARGIN + BATCH_LANES];
	uint8_t flag_bytes[BATCH_MARGIN + BATCH_LANES];
};

/**
 * Copy lanes of requests into their groups' batches.
 *
 * @param batches by group
 * @return how many lanes
 */
uint32_t batch_gather(struct batch *batches, struct classified *classified);

/**
 * Compute a batch's lanes, and empty it; its results stay where they are.
 *
 * @param lanes an lcore's working memory, for stages
 */
void batch_run(struct batch *batch, const struct group *group, struct netfc_lanes *lanes);

/**
 * Answer the requests that have been gathered: results, status, checksum.
 *
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t batch_scatter(const struct batch *batches, const struct classified *classified,
	const struct frame *frames);

#endif /* PIPELINE_BATCH_H */
