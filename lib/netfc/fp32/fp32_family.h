/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP32_FAMILY_H
#define FP32_FAMILY_H

/**
 * @file
 * What the files of binary32's table set share (docs/exact.md).
 *
 * Significands are too wide to be looked up whole. They are shifted by constants, which tables
 * choose, and multiplied in digits of 12 bits. There are three programs: sums, products and
 * quotients.
 */

#include "internal.h"

#define FP32_FRACTION 23
#define FP32_SIGNIFICAND 24
#define FP32_EXPONENT_BITS 8
#define FP32_EXPONENT_END 255
#define FP32_BIAS 127

/* Indices of its tables. */
enum fp32_table {
	FP32_EXPS,
	FP32_LEAD,
	FP32_NORM,
	FP32_SQUARE,
	FP32_DIFFER,
	FP32_RECIP,
	FP32_CROSS,
	FP32_SCALE,
	FP32_ROUND,
	FP32_DECIDE
};

/*
 * A significand that is to be normalised has 28 bits. First it is shifted left by 14 places if its
 * upper half is zero, then as the lead table says, whose key is the upper half.
 */
#define FP32_WIDE 28
#define FP32_HALF 14
#define FP32_LEAD_BITS 4

/*
 * exps. The key: x's exponent above y's. The word: the greater exponent, that of a subnormal number
 * being 1; the places by which x's and y's significands are shifted right; their hidden bits.
 * Significands have three bits after them, and after 27 places nothing is left of one.
 */
#define FP32_SHIFT_X_AT 8
#define FP32_SHIFT_Y_AT 13
#define FP32_SHIFT_BITS 5
#define FP32_HIDDEN_X_AT 18
#define FP32_HIDDEN_Y_AT 19
#define FP32_EXPS_BITS 20
#define FP32_GUARD_BITS 3
#define FP32_MAX_ALIGN (FP32_SIGNIFICAND + FP32_GUARD_BITS)

/*
 * norm. The key: the greater exponent; lead's places; whether they come after 14 others; the sum's
 * sign. The word: the places by which the sum is shifted left, and what stands above the fraction:
 * sign and exponent, less one where the significand brings its hidden bit.
 */
#define FP32_NORM_PLACES_AT 8
#define FP32_NORM_COARSE_AT 12
#define FP32_NORM_SIGN_AT 13
#define FP32_NORM_KEY_BITS 14
#define FP32_NORM_UPPER_AT FP32_SHIFT_BITS
#define FP32_NORM_BITS (FP32_NORM_UPPER_AT + 1 + FP32_EXPONENT_BITS)
/* So many places leave nothing, below infinity's exponent. */
#define FP32_NORM_CLEAR FP32_WIDE

/* Digits of significands. a * b = square[a + b] - differ[a - b]. */
#define FP32_DIGIT 12
#define FP32_SQUARE_KEY_BITS (FP32_DIGIT + 1)

/*
 * recip. The key: the 13 bits after the divisor's leading one. The word: 2^39 / divisor, for the
 * least divisor that is greater than all of that key, rounded down.
 */
#define FP32_RECIP_KEY_BITS 13
#define FP32_RECIP_BITS 16
#define FP32_RECIP_SCALE 39

/* cross: 16 times the product of two numbers of 4 bits. */
#define FP32_CROSS_DIGIT 4
#define FP32_CROSS_BITS (3 * FP32_CROSS_DIGIT)

/*
 * scale. The key: the sum or difference of the exponents, 10 bits, two's complement; the leading
 * bit of the product or quotient; whether it is a quotient. The word: the places by which it is
 * shifted right, and the exponent less one.
 */
#define FP32_SCALE_EXPONENT_BITS 10
#define FP32_SCALE_LEAD_AT FP32_SCALE_EXPONENT_BITS
#define FP32_SCALE_DIV_AT (FP32_SCALE_LEAD_AT + 1)
#define FP32_SCALE_KEY_BITS (FP32_SCALE_DIV_AT + 1)
#define FP32_SCALE_BASE_AT FP32_SHIFT_BITS
#define FP32_SCALE_BITS (FP32_SCALE_BASE_AT + FP32_EXPONENT_BITS)
#define FP32_SCALE_CLEAR 31

/* round. The key: the last bit, the one after it, whether any bit below them is set. */
#define FP32_ROUND_KEY_BITS 3

/* Programs of the set. */
enum fp32_program {
	FP32_SUM = NETFC_ADDITIVE,
	FP32_PRODUCT = NETFC_MULTIPLICATIVE,
	FP32_QUOTIENT,
};

/* The fields of its programs. */
enum fp32_field {
	FIELD_E = FIELD_FAMILY,
	FIELD_A,
	FIELD_B,
	FIELD_A1,
	FIELD_A0,
	FIELD_B1,
	FIELD_B0,
	FIELD_INDEX,
	FIELD_T,
	FIELD_LOST, /* follows T: what a shift of T to the right lost */
	FIELD_U,
	FIELD_V,
	FIELD_RECIP,
	FIELD_Q,
	FP32_FIELDS
};

/* fp32_program.c */
void fp32_program(struct netfc_set *set);

#endif /* FP32_FAMILY_H */
