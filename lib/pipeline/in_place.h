/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_IN_PLACE_H
#define PIPELINE_IN_PLACE_H

/** @file Requests of so many lanes that a kernel computes them where they are. */

#include "branch.h"
#include "classify.h"

/**
 * Compute and answer the requests of CLASS_IN_PLACE, those of a group after each other.
 *
 * @param groups by index
 * @param lanes what is computed is added
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t in_place_run(const struct group *groups, const struct classified *classified,
	const struct frame *frames, uint64_t *lanes);

/** Leave requests whose groups have no kernel to the general walk. */
void in_place_defer(const struct group *groups, struct classified *classified);

#endif /* PIPELINE_IN_PLACE_H */
