/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFERENCE_H
#define REFERENCE_H

/**
 * @file
 * Correctly rounded results by the CPU's binary64 arithmetic, a row of them at once: the operation
 * in 53 bits, rounded once more to the format.
 *
 * Rounding twice is rounding once here. Values of all formats are binary64 numbers of 13 bits or
 * less; the numbers half-way between two neighbours of a format, which decide, have 14 or less.
 * Products have 26 bits and are exact. A quotient that is not such a number is away from it by more
 * than 2^-30 of its size. A sum is exact, or its operands are so far apart that it is nearer to the
 * larger one than any such number is. (Figueroa, "When is double rounding innocuous?", 1995.)
 */

#include <stdint.h>

#include "number_table.h"

/** How a format rounds. */
struct reference {
	const struct number_table *numbers;
	enum netfc_op op;
	bool posit;
	int32_t exponent_bits; /**< IEEE: of the exponent field; posits: behind the regime */
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
