/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_INTERNAL_H
#define PIPELINE_INTERNAL_H

/** @file What create.c makes and pipeline.c uses. */

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
	unsigned int group_lanes;          /**< mixed computes bursts of so many a group at most */
	/* What is behind them. */
	struct vector_kernel *kernel[MAX_KERNELS];
	unsigned int kernel_count;
	struct match_stage *match[NETFC_SET_FORMAT_END][NETFC_MAX_TABLES];
};

#endif /* PIPELINE_INTERNAL_H */
