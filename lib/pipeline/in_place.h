/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_IN_PLACE_H
#define PIPELINE_IN_PLACE_H

/** @file Requests whose lanes a kernel computes where they are. */

#include "classify.h"
#include "pipeline.h"

/**
 * Compute and answer the requests of CLASS_IN_PLACE, those of a group after each other.
 *
 * @param counters their lanes and operations are added
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t in_place_run(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, struct pipeline_counters *counters);

#endif /* PIPELINE_IN_PLACE_H */
