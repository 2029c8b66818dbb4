/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP8_VALUES_H
#define FP8_VALUES_H

/**
 * @file
 * Numbers of 8 bits by their definition (OCP 8-bit Floating Point Specification, revision 1.0,
 * section 5), and rounding to them, in double precision.
 */

#include <stdbool.h>

/** A format, and what becomes of results that are too large. */
struct fp8 {
	bool e4m3, saturates;
	double value[256];
};

/** By the name of its table set, "fp8_e4m3_sat". */
void fp8_define(struct fp8 *fp8, const char *set);

/** The magnitude of the greatest number. */
unsigned fp8_greatest(const struct fp8 *fp8);

/** The only NaN of results. */
unsigned fp8_nan(const struct fp8 *fp8);

/** What becomes of results that are too large, or infinite. */
unsigned fp8_too_large(const struct fp8 *fp8, bool negative);

/** To nearest, ties to even. `over`: a finite value that is too large. */
unsigned fp8_round(const struct fp8 *fp8, double exact, bool *over);

#endif /* FP8_VALUES_H */
