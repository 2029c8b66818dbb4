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

/* Operations on lanes. */
#define BRANCH_OPS 4

/* Requests of one format and one operation are a group. */
#define GROUPS (NETFC_FORMAT_END * BRANCH_OPS)

static inline unsigned int
group_index(unsigned int format, enum netfc_op op)
{
	return format * BRANCH_OPS + (op - NETFC_ADD);
}

/* What computes a group. */
struct group {
	const struct branch *branch;
	enum netfc_op op;
};

/**
 * Compute lanes that have been gathered.
 *
 * @param lanes an lcore's working memory, for stages
 * @param x, y, z slots
 * @param flags each lane's exception flags go here
 * @param count at least 1; up to NETFC_BATCH where there is no kernel
 */
void group_run(const struct group *group, struct netfc_lanes *lanes, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, unsigned int count);

/** Exception flags, a count of 16 bits for each. */
static inline uint64_t
flags_spread(uint8_t flags)
{
	return (flags * UINT64_C(0x0000200040008001)) & UINT64_C(0x0001000100010001);
}

#endif /* PIPELINE_BRANCH_H */
