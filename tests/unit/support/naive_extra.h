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

/** Whether a result is naive_extra(), but without its search for the encoding. */
bool naive_extra_is(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x,
	uint16_t y, uint16_t z, struct netfc_result result);

#endif /* NAIVE_EXTRA_H */
