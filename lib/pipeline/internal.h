/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_INTERNAL_H
#define PIPELINE_INTERNAL_H

/** @file What the pipeline's files share, and no other file uses. */

#include "batch.h"
#include "classify.h"
#include "pipeline.h"
#include "slow_path.h"

/** More than there are: groups of extended operations run out before. */
#define MAX_KERNELS (NETFC_SET_FORMAT_END + EXTENDED_GROUPS + 1)

struct pipeline {
	struct classifier classifier;
	struct slow_path slow_path;
	struct groups groups;
	batch_fn *compute_gathered;
	const struct vector_kernel *mixed; /**< NULL: each group has its own kernel, or none */
	uint8_t part_bits;                 /**< of groups that differ in their operation */
	unsigned int gathered_groups;      /**< those that have a kernel */
	unsigned int group_lanes;          /**< mixed computes bursts of so many a group at most */
	/* What is after them. */
	struct vector_kernel *kernel[MAX_KERNELS];
	unsigned int kernel_count;
	struct match_stage *match[NETFC_SET_FORMAT_END][NETFC_MAX_TABLES];
};

/**
 * Compute and answer the requests of CLASS_IN_PLACE, whose lanes a kernel computes where they are:
 * those of a group after each other.
 *
 * @param counters their lanes and operations are added
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t in_place_run(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, struct pipeline_counters *counters);

#endif /* PIPELINE_INTERNAL_H */
