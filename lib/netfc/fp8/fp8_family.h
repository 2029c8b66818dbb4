/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FP8_FAMILY_H
#define NETFC_FP8_FAMILY_H

/**
 * @file
 * What the files of the table sets of 8 bits share (docs/exact.md).
 *
 * F is the width of the format's fraction. A number is decoded to its **wide** encoding: the
 * exponent plus fp8_bias(), below it the F bits of the fraction. Subnormal numbers are normalised
 * in it, and it has exponents beyond the greatest. So what a sum adds to the wide encoding of its
 * larger operand depends on no exponent, and no sum is rounded but to F bits: one that is subnormal
 * is exact. A product or quotient has two bits more, the last of which is set if it is not exact:
 * enough to round it wherever its exponent says. All widths follow from the format.
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
/* Bits that a product or quotient carries after the fraction. */
#define FP8_GUARD_BITS 2

static inline int
fp8_format_bias(const struct netfc_format *format)
{
	return (1 << (format->exp_bits - 1)) - 1;
}

/* Width of operands' exponents, two's complement: from the least to the greatest number's. */
static inline unsigned
fp8_exponent_bits(const struct netfc_format *format)
{
	const int least = 1 - fp8_format_bias(format) - format->fraction_bits;
	const int greatest =
		(int)((format->inf - 1) >> format->fraction_bits) - fp8_format_bias(format);
	unsigned bits = 5;

	while (least < -(1 << (bits - 1)) || greatest >= 1 << (bits - 1))
		bits++;
	return bits;
}

/* Of a result's exponent, of which a product's is the sum. */
static inline unsigned
fp8_sum_bits(const struct netfc_format *format)
{
	return fp8_exponent_bits(format) + 1;
}

/* Exponents plus this are at least 0. */
static inline int
fp8_bias(const struct netfc_format *format)
{
	return 1 << (fp8_exponent_bits(format) - 1);
}

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

/* A sum of two numbers that cancel has an exponent of up to F + 1 less than the larger one's. */
static inline unsigned
fp8_offset_bits(const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits;

	return 33u - (unsigned)__builtin_clz(((f + 1u) << f) - 1u);
}

static inline uint32_t
fp8_offset_bias(const struct netfc_format *format)
{
	return UINT32_C(1) << (fp8_offset_bits(format) - 1);
}

/* Of a sum's wide encoding plus fp8_offset_bias(): that of the greatest number, and the bias. */
static inline unsigned
fp8_wide_bits(const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits;
	const int rebias = fp8_bias(format) - fp8_format_bias(format);
	const uint32_t greatest = format->inf - 1 + ((uint32_t)rebias << f);

	return 32u -
		(unsigned)__builtin_clz(greatest + (UINT32_C(1) << f) + fp8_offset_bias(format));
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
 * it a class, how to round: 0 normal; 1 to F + 1 subnormal, the significand is shifted right by so
 * much more; and the two below.
 */
#define FP8_NORMAL 0
#define FP8_CLASS_AT FP8_MAGNITUDE_BITS

/* As normal, but nothing is greater than what is too large. */
static inline uint32_t
fp8_greatest_class(const struct netfc_format *format)
{
	return format->fraction_bits > 3 ? format->fraction_bits + 2u : 5;
}

/* The base is the result: zero, or too large. */
static inline uint32_t
fp8_nothing_class(const struct netfc_format *format)
{
	return fp8_greatest_class(format) + 1;
}

static inline unsigned
fp8_class_bits(const struct netfc_format *format)
{
	return 32u - (unsigned)__builtin_clz(fp8_nothing_class(format));
}

#endif /* NETFC_FP8_FAMILY_H */
