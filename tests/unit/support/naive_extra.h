/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAIVE_EXTRA_H
#define NAIVE_EXTRA_H

/**
 * @file
 * min, max, compare and fma once more, in double precision, whose comparisons are IEEE 754's and in
 * which products of these formats are exact and sums can be rounded to odd.
 */

#include <stdbool.h>

#include "naive.h"

/** The result and its flags by their definitions. */
struct netfc_result naive_extra(const struct netfc_format *format, enum netfc_extra_op op,
	uint16_t x, uint16_t y, uint16_t z);

/** Lanes with one x, and what they are said to be. */
struct naive_lanes {
	uint16_t x;
	const uint16_t *y, *z; /**< `count` each, like those below */
	const uint16_t *result;
	const uint8_t *flags;
	uint32_t count;
};

/** How many lanes are not naive_extra(), but without its search for each encoding. */
uint32_t naive_extra_wrong(
	const struct netfc_format *format, enum netfc_extra_op op, const struct naive_lanes *lanes);

#endif /* NAIVE_EXTRA_H */
