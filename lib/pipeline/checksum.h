/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_CHECKSUM_H
#define PIPELINE_CHECKSUM_H

/**
 * @file
 * Incremental update of an Internet checksum (RFC 1624, equation 3). Words are as they stand in
 * memory: a one's complement sum does not depend on the byte order (RFC 1071, section 2.B).
 */

#include <stddef.h>
#include <stdint.h>

#include "isa.h"
#include "vector.h"

/* What a word that changes adds to the sum. A packet's words cannot make it overflow. */
static inline uint32_t
checksum_change(uint16_t before, uint16_t after)
{
	return (uint32_t)(uint16_t)~before + after;
}

/* A one's complement sum in 16 bits. */
static inline uint16_t
checksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* What a piece's sum adds to that of a packet in which it stands so far behind the start (RFC 1071,
 * section 2 (B)). */
static inline uint16_t
checksum_at(size_t offset, uint16_t sum)
{
	return offset % 2 == 0 ? sum : __builtin_bswap16(sum);
}

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

/* The checksum after all changes. UDP writes a zero as ones (RFC 768). */
static inline uint16_t
checksum_update(uint16_t checksum, uint64_t changes)
{
	uint16_t updated = (uint16_t)~checksum_fold((uint16_t)~checksum + changes);

	return updated != 0 ? updated : 0xffff;
}

#endif /* PIPELINE_CHECKSUM_H */
