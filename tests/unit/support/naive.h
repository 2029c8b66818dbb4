/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAIVE_H
#define NAIVE_H

/**
 * @file
 * The number formats and their rules once more, written from the standards and the specification
 * alone: as plainly as possible, sharing nothing with the library.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "netfc.h"

/** A posit of `width` bits and `es` exponent bits other than zero and NaR. */
double naive_posit(uint32_t bits, unsigned width, unsigned es);

/** The value of an encoding; NaN for NaR. */
double naive_value(const struct netfc_format *format, uint16_t bits);

/** The magnitude after the greatest finite one: infinity's, or 0x8000. */
uint32_t naive_end(const struct netfc_format *format);

/** Magnitudes that a positive number can round to, infinity included. */
uint32_t naive_least(const struct netfc_format *format);
uint32_t naive_greatest(const struct netfc_format *format);

/** Above this value a number rounds to `magnitude` + 1, naive_least() <= magnitude < _greatest().
 */
double naive_boundary(const struct netfc_format *format, uint32_t magnitude);

/** The magnitude that a positive number, infinity included, rounds to. */
uint16_t naive_round(const struct netfc_format *format, double value);

/** Encode a number: naive_round() with a sign, zeros and NaN. */
uint16_t naive_encode(const struct netfc_format *format, double value);

/**
 * A number as an integer, in the order of their values, -0 before +0: so a range of numbers is one
 * comparison with each of its ends, signs of zeros included. NaN, as NAN has it, is one more
 * number, above infinity.
 */
static inline int64_t
naive_order(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (bits < 0 ? INT64_MAX : 0);
}

/** The numbers that an encoding stands for, by naive_order(); none if it is a NaN of no result. */
struct naive_range {
	int64_t least, greatest;
};

/** Of all 65,536 encodings: naive_encode(), but without its search. */
const struct naive_range *naive_ranges(const struct netfc_format *format);

/** naive_value() of all 65,536 encodings. */
const double *naive_values(const struct netfc_format *format);

/** x (op) y in double precision, whose zeros, infinities and NaN are IEEE 754's. */
double naive_result(const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y);

/**
 * Whether a zero, infinite or NaN operand or a difference of equals decides the result.
 *
 * @param z the result, if so
 */
bool naive_special(
	const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y, uint16_t *z);

/** The exception flags of z = x (op) y by their definitions. */
uint8_t naive_flags(
	const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y, uint16_t z);

#endif /* NAIVE_H */
