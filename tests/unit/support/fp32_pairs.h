/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP32_PAIRS_H
#define FP32_PAIRS_H

/** @file Pairs of binary32 operands to test with, and what the processor makes of them. */

#include <netfc.h>

/** Pairs of one structure: of each of the kinds that fp32_pairs.c lists, as many as of any other.
 */
#define FP32_KINDS 16

/** All pairs of exponents, crossed with signs and with fractions at the edges. */
#define FP32_EDGES 5u
#define FP32_CROSSED (FP32_EDGES * FP32_EDGES << 18)

/**
 * Random pairs, which the seed determines.
 *
 * @param seed any number; becomes that of the pairs that follow
 * @param x, y receive `count` operands each
 */
void fp32_random_pairs(uint64_t *seed, uint32_t *x, uint32_t *y, unsigned count);

/**
 * Random pairs of one kind, less than FP32_KINDS: as good as others, but branches that depend on
 * operands are predicted.
 */
void fp32_pairs_of_kind(unsigned kind, uint64_t *seed, uint32_t *x, uint32_t *y, unsigned count);

/** The crossed pairs from number `first`, less than FP32_CROSSED, on. */
void fp32_crossed_pairs(uint32_t first, uint32_t *x, uint32_t *y, unsigned count);

/**
 * The processor's results, NaN being 0x7fc00000, and the flags that follow from their meaning.
 *
 * @param x, y, z, flags `count` each
 */
void fp32_processor(enum netfc_op op, const uint32_t *x, const uint32_t *y, uint32_t *z,
	uint8_t *flags, unsigned count);

#endif /* FP32_PAIRS_H */
