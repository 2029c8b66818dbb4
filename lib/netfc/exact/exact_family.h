/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_EXACT_FAMILY_H
#define NETFC_EXACT_FAMILY_H

/**
 * @file
 * What the files of the correctly rounded family share: its tables, and how words are laid out.
 *
 * F is the width of the format's fraction, W that of its exponent. A significand is an integer of
 * F + 1 bits with its leading one (if normal), in units of the last place. Sums carry three bits
 * more after it: guard, round and sticky.
 */

#include "internal.h"

/* Indices of its tables. */
enum exact_table {
	EXACT_EXPS,
	EXACT_ALIGN,
	EXACT_NORM,
	EXACT_SUBN,
	EXACT_PRENORM,
	EXACT_PART,
	EXACT_CLASS,
	EXACT_ROUND,
	EXACT_DECIDE
};

/* Bits that a sum carries after the significand. */
#define EXACT_GUARD_BITS 3
/* Width of a shift, and of the code of a small exponent. */
#define EXACT_SHIFT_BITS 4

/*
 * A word of the exps table, from its lowest bit: base exponent (the larger one, less 1), W bits;
 * the same plus 1 if a sum can become subnormal, else 0, 4 bits; whether a sum can overflow, 1 bit;
 * y's code, x's code, 5 bits each.
 */
#define EXACT_CODE_BITS (EXACT_SHIFT_BITS + 1)

static inline unsigned
exact_small_at(const struct netfc_format *format)
{
	return format->exp_bits;
}

static inline unsigned
exact_overflow_at(const struct netfc_format *format)
{
	return exact_small_at(format) + EXACT_SHIFT_BITS;
}

static inline unsigned
exact_code_y_at(const struct netfc_format *format)
{
	return exact_overflow_at(format) + 1;
}

static inline unsigned
exact_code_x_at(const struct netfc_format *format)
{
	return exact_code_y_at(format) + EXACT_CODE_BITS;
}

/* Width of a sum, two's complement: significand, guard bits, carry, sign. */
static inline unsigned
exact_sum_bits(const struct netfc_format *format)
{
	return format->fraction_bits + 1 + EXACT_GUARD_BITS + 2;
}

/* Shifts from here on leave nothing but the sticky bit. */
static inline unsigned
exact_max_shift(const struct netfc_format *format)
{
	return format->fraction_bits + 1 + EXACT_GUARD_BITS;
}

/* The largest exponent with which a sum can become subnormal, but for zero. */
static inline unsigned
exact_small_exponent(const struct netfc_format *format)
{
	return format->fraction_bits + EXACT_GUARD_BITS;
}

/* The largest exponent of a finite number. */
static inline unsigned
exact_top_exponent(const struct netfc_format *format)
{
	return (1u << format->exp_bits) - 2;
}

/*
 * A word of the prenorm table: the fraction of the normalised significand, F bits; above it the
 * exponent that goes with it, which is 1 - F for the least subnormal, plus exact_bias().
 */
static inline unsigned
exact_bias(const struct netfc_format *format)
{
	return format->fraction_bits - 1;
}

/* Width of a sum or difference of prenorm's exponents, modulo 2^width. */
static inline unsigned
exact_exponent_bits(const struct netfc_format *format)
{
	return format->exp_bits + 2;
}

/*
 * Whether a product or quotient comes out of two look-ups, of the halves of x's fraction, and a
 * sum. Else it is looked up whole.
 */
static inline bool
exact_has_halves(const struct netfc_format *format)
{
	return format->fraction_bits > 7;
}

/* Bits after the binary point of a product or quotient in [1, 4) or (1/2, 2) made of halves. */
static inline unsigned
exact_point_bits(const struct netfc_format *format)
{
	return 2 * (format->fraction_bits + 1);
}

/* A product's bits that count one by one: significand, one above, two below. */
static inline unsigned
exact_top_bits(const struct netfc_format *format)
{
	return format->fraction_bits + 3;
}

/* A word of the class table: the base, 16 bits; above it what to do with the product. */
enum exact_class {
	/* 0 to F + 1: subnormal; the significand is shifted right by so much more. */
	EXACT_NOTHING = 12,  /* the base is the result: zero or infinity */
	EXACT_NORMAL = 13,   /* round to F + 1 bits */
	EXACT_GREATEST = 14, /* likewise, and what is too large becomes infinity */
};
#define EXACT_CLASS_AT 16
#define EXACT_CLASS_BITS 4

/* exact_fill.c */
int exact_fill(struct netfc_set *set);

#endif /* NETFC_EXACT_FAMILY_H */
