/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FP8_FAMILY_H
#define NETFC_FP8_FAMILY_H

/**
 * @file
 * What the files of the table sets of 8 bits share (docs/exact.md).
 *
 * F is the width of the format's fraction. A number is decoded to its **wide** encoding: the
 * exponent plus FP8_BIAS, below it the F bits of the fraction. Subnormal numbers are normalised in
 * it, and it has exponents beyond the greatest. So what a sum adds to the wide encoding of its
 * larger operand depends on no exponent, and no sum is rounded but to F bits: one that is subnormal
 * is exact. A product or quotient has two bits more, the last of which is set if it is not exact:
 * enough to round it wherever its exponent says.
 */

#include "internal.h"

/* Indices of its tables. */
enum fp8_table {
	FP8_DECODE,
	FP8_DIFFER,
	FP8_ENCODE,
	FP8_PART,
	FP8_CLASS,
	FP8_ROUND,
	FP8_DECIDE
};

#define FP8_MAGNITUDE_BITS 7
/* Wide exponents, plus this, are at least 0; those of operands have 5 bits, those of sums up to 6.
 */
#define FP8_BIAS 16
#define FP8_EXPONENT_BITS 5
#define FP8_WIDE_BITS 8
/* Bits that a product or quotient carries behind the fraction. */
#define FP8_GUARD_BITS 2
/* Width of a result's exponent, two's complement, of which a product's is the sum. */
#define FP8_SUM_BITS 6

/*
 * The differ table's key: the difference of the wide encodings; above it the larger one's fraction;
 * above that whether the signs differ. The value is what to add to the larger one, plus
 * fp8_offset_bias().
 */
static inline unsigned
fp8_difference_bits(const struct netfc_format *format)
{
	return format->fraction_bits + 3u;
}

static inline unsigned
fp8_offset_bits(const struct netfc_format *format)
{
	return format->fraction_bits + 3u;
}

static inline uint32_t
fp8_offset_bias(const struct netfc_format *format)
{
	return UINT32_C(1) << (format->fraction_bits + 2);
}

/* From this difference on, the smaller operand adds nothing. */
static inline uint32_t
fp8_far_difference(const struct netfc_format *format)
{
	return (format->fraction_bits + 2u) << format->fraction_bits;
}

/*
 * A word of the part table: the fraction of the product or quotient, with its guard bits; above it
 * whether the exponent is one more than that of the least one.
 *
 * A word of the class table: the base, which is what the greatest fraction below 1 adds to; above
 * it how to round.
 */
enum fp8_class {
	FP8_NORMAL = 0,
	/* 1 to F + 1: subnormal; the significand is shifted right by so much more. */
	FP8_GREATEST = 5, /* as FP8_NORMAL; nothing is greater than what is too large */
	FP8_NOTHING = 6,  /* the base is the result: zero, or too large */
};
#define FP8_CLASS_AT FP8_MAGNITUDE_BITS
#define FP8_CLASS_BITS 3

/* fp8_fill.c */
int fp8_fill(struct netfc_set *set);
void fp8_mark(struct netfc_set *set);
/* fp8_program.c */
void fp8_program(struct netfc_set *set);

#endif /* NETFC_FP8_FAMILY_H */
