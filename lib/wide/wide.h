/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIDE_H
#define WIDE_H

/**
 * @file
 * Lanes of 32 bits: what computes the four operations of binary32, one kernel each.
 *
 * A kernel computes the lanes of a packet where they are, 32 bits each, and gives, bit for bit,
 * what netfc_fp32_compute() gives. It is one of the processor's own binary32, whose sums, products
 * and quotients are those of IEEE 754 as the table set's are, or it walks the set's programs, with
 * a match stage for each table.
 */

#include <netfc.h>

#include "further_kernel.h"
#include "match.h"
#include "vector.h"

/** What computes a table set. It never changes, so lcores may share it. */
struct wide;

/**
 * Make the kernels of a table set.
 *
 * @param set `fp32_exact`; the kernels refer to its programs
 * @param match what the tables are made of; MATCH_DIRECT and MATCH_FPU use the processor's
 *   arithmetic, the former if the set's entries are those that its name stands for
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param wide where they go; free them with wide_free()
 * @return 0, or an error of match_create()
 */
int wide_create(const struct netfc_set *set, enum match_kind match, enum vector_isa isa,
	int socket_id, struct wide **wide);

/** Free it; NULL is allowed. */
void wide_free(struct wide *wide);

/** The kernel of an operation. It belongs to `wide`: further_free() leaves it as it is. */
struct further_kernel *wide_kernel(struct wide *wide, enum netfc_op op);

/** What computes it, for people; NULL: match stages, step by step. */
const char *wide_description(const struct wide *wide);

#endif /* WIDE_H */
