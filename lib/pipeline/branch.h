/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BRANCH_H
#define PIPELINE_BRANCH_H

/**
 * @file
 * How a format's operations are computed: by a kernel, or by a program of its table set, step by
 * step through match stages.
 */

#include "match.h"
#include "vector.h"

/* A step with what it looks up in. */
struct stage {
	const struct netfc_step *step;
	const struct match_stage *match; /* NULL: not a look-up */
};

/* A branch of a table set, ready to run. */
struct branch {
	const struct vector_kernel *kernel; /* NULL: stages */
	unsigned int stage_count;
	struct stage stage[NETFC_MAX_STEPS];
};

/**
 * Compute lanes that have been gathered.
 *
 * @param lanes an lcore's working memory, for stages
 * @param op of all lanes
 * @param x, y, z slots
 * @param flags each lane's exception flags go here
 * @param count 1..NETFC_BATCH
 */
void branch_run(const struct branch *branch, struct netfc_lanes *lanes, enum netfc_op op,
	const uint16_t *x, const uint16_t *y, uint16_t *z, uint8_t *flags, unsigned int count);

/** Exception flags, a count of 16 bits for each. */
static inline uint64_t
flags_spread(uint8_t flags)
{
	return (flags * UINT64_C(0x0000200040008001)) & UINT64_C(0x0001000100010001);
}

#endif /* PIPELINE_BRANCH_H */
