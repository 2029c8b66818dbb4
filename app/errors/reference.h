/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFERENCE_H
#define REFERENCE_H

/**
 * @file
 * Correctly rounded results by the CPU's binary64 arithmetic, a row at a time: the operation is
 * rounded to 53 bits, and the result to the format.
 *
 * Rounding twice gives the same as rounding once here. Values of all formats are binary64 numbers
 * of 13 bits or less; the rounding boundaries, half-way between two neighbours of a format, have 14
 * or less. Products have 26 bits and are exact. The distance of a quotient from a boundary is 0 or
 * more than 2^-30 of its size. A sum is exact, or its operands are so far apart that it is nearer
 * to the larger one than any boundary is. (Figueroa, "When is double rounding innocuous?", 1995.)
 */

#include <stdint.h>

#include "number_table.h"

/** How a format rounds. */
struct reference {
	const struct number_table *numbers;
	enum netfc_op op;
	bool posit;
	int32_t exponent_bits; /**< IEEE: of the exponent field; posits: es */
	uint32_t inf, nan;
};

/** Set up the reference for an operation; it keeps `numbers`. */
void
reference_init(struct reference *reference, const struct number_table *numbers, enum netfc_op op);

/**
 * The results of x with every y.
 *
 * @param z space for ENCODINGS results
 */
void reference_row(const struct reference *reference, uint16_t x, uint16_t *z);

#endif /* REFERENCE_H */
