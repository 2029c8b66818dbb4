/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_CHECKSUM_H
#define PIPELINE_CHECKSUM_H

/** @file Internet checksums of memory, in the vector unit. */

#include <ip_headers.h>

#include "isa.h"
#include "vector.h"

/*
 * The sum of a piece of memory: two words at a time, which fill vectors. rte_raw_cksum(), compiled
 * for the least processor that DPDK runs on, takes three times as long.
 */
typedef uint16_t checksum_fn(const void *bytes, size_t length);

/* One for each instruction set. */
checksum_fn checksum_sum_plain, checksum_sum_avx2, checksum_sum_avx512;

/* The one to use, with an instruction set up to vector_isa_best(). */
static inline checksum_fn *
checksum_choose(enum vector_isa isa)
{
	return VECTOR_CHOOSE(checksum_sum, isa);
}

#endif /* PIPELINE_CHECKSUM_H */
