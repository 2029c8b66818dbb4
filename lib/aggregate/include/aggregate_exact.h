/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_EXACT_H
#define AGGREGATE_EXACT_H

/**
 * @file
 * The exact sum of one process's numbers or products, as integers. Processes add up these integers
 * in any order; then one of them rounds.
 */

#include <stddef.h>
#include <stdint.h>

#include "aggregate_format.h"

/** 32-bit digits in units of 2^-2148, the smallest product; for integers, in units of 1. */
#define AGGREGATE_EXACT_DIGITS 136

/** Counts by kind. */
enum aggregate_exact_kind {
	AGGREGATE_EXACT_NAN,
	AGGREGATE_EXACT_PLUS_INF,
	AGGREGATE_EXACT_MINUS_INF,
	AGGREGATE_EXACT_MINUS_ZERO,
	AGGREGATE_EXACT_INVALID, /**< products of zero and infinity, which are NaN as well */
	AGGREGATE_EXACT_COUNT,   /**< all numbers */
	AGGREGATE_EXACT_KINDS
};

/**
 * A sum. Its integers may be added element by element to those of up to 2^20 processes: each digit
 * has 32 bits, and the last one is signed.
 */
struct aggregate_exact {
	int64_t digits[AGGREGATE_EXACT_DIGITS];
	int64_t kinds[AGGREGATE_EXACT_KINDS];
};

/** Formats that can be summed: fp32, fp64, int32, int64. */
bool aggregate_exact_has(unsigned int format);

/**
 * Add numbers.
 *
 * @param values `count` of them, in host byte order; up to 2^40 in a sum, with those before
 */
void aggregate_exact_add(
	struct aggregate_exact *sum, unsigned int format, const void *values, uint64_t count);

/** Add the exact products of pairs of numbers, of fp32 or fp64. */
void aggregate_exact_add_products(struct aggregate_exact *sum, unsigned int format, const void *x,
	const void *y, uint64_t count);

/**
 * Round once, to nearest, ties to even; integers saturate. A zero sum is +0, but -0 if all numbers
 * were -0 and there was at least one.
 *
 * @param result a value of the format, in host byte order
 * @return enum netfc_flag
 */
uint8_t aggregate_exact_round(const struct aggregate_exact *sum, unsigned int format, void *result);

#endif /* AGGREGATE_EXACT_H */
