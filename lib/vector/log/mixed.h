/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_MIXED_H
#define VECTOR_MIXED_H

/**
 * @file
 * The kernel for lanes of any format and operation: where programs of logarithms differ, a lane's
 * mask or a constant of its format decides. Tables are gathered from arrays, with the sets' keys;
 * an index, which has a sign, counts from one place for all of them.
 */

#include "vector.h"

#define MIXED_FORMATS 16

/* Of each format; what vectors choose from by a lane's format. */
struct mixed_words {
	uint16_t of[2 * MIXED_FORMATS];
} __attribute__((aligned(64)));

struct mixed_bases {
	uint32_t of[MIXED_FORMATS];
} __attribute__((aligned(64)));

struct mixed_kernel {
	struct vector_kernel kernel;
	const void *entries; /* where indices count from */
	struct mixed_bases log, mi,
		exp; /* index of each table's first entry, less than 2^31 away */
	struct mixed_words inf, nan;
	struct mixed_words least, greatest; /* theta, for neither operand to be too small */
	struct mixed_words posit;           /* all bits, or none */
	uint16_t own[];                     /* entries, unless they are those of match stages */
};

/* With AVX-512; see vector_mixed_create(). */
int mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], int socket_id,
	struct vector_kernel **kernel);

/* mixed_avx512.c; entries of 2 bytes, or of 4. */
vector_lanes_fn mixed_run_narrow_avx512, mixed_run_wide_avx512;

#endif /* VECTOR_MIXED_H */
