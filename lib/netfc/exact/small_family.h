/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_SMALL_FAMILY_H
#define NETFC_SMALL_FAMILY_H

/**
 * @file
 * What the files of the correctly rounded family's small layout share.
 *
 * A number is a significand of S = F + 1 bits and an exponent. IEEE formats give both as they are;
 * posits look them up. The result is shifted right to where its format cuts it off, which is how
 * IEEE's subnormal numbers and all of a posit's regimes come about.
 */

#include "internal.h"

/* Indices of its tables. */
enum small_table {
	SMALL_DECODE,
	SMALL_SHIFT,
	SMALL_ALIGN,
	SMALL_FACTOR,
	SMALL_SQUARE,
	SMALL_NORM,
	SMALL_SCALE,
	SMALL_INC,
	SMALL_DECIDE
};

#define SMALL_GUARD_BITS 3
#define SMALL_SHIFT_BITS 4
#define SMALL_MAX_SHIFT 15

/* A format's widths in bits. */
struct small_shape {
	bool posit;
	unsigned fraction;    /* F */
	unsigned significand; /* S */
	unsigned exponent;    /* of a decoded number's exponent */
	unsigned sum;         /* of a sum, difference or what else becomes of exponents */
	unsigned tail;        /* posits: of what goes into the encoding besides the fraction */
	unsigned body;        /* of what is shifted right into the encoding */
	unsigned wide;        /* of the wider of significand and body */
	unsigned low;         /* of the low half of that */
	int bias;             /* what decoding adds to exponents */
};

/* A posit's greatest exponent: that of 2^(14 * 2^es). */
static inline int
small_greatest_scale(const struct netfc_format *format)
{
	return 14 << format->exp_bits;
}

static inline struct small_shape
small_shape(const struct netfc_format *format)
{
	struct small_shape shape = {.posit = format->posit};

	shape.tail = format->posit ? format->exp_bits : 0;
	shape.fraction = format->posit ? 13 - format->exp_bits : format->fraction_bits;
	shape.significand = shape.fraction + 1;
	shape.exponent = format->posit ? 5 + format->exp_bits : format->exp_bits;
	shape.sum = shape.exponent + 2;
	shape.body = format->posit ? 13 : shape.significand;
	shape.wide = shape.body > shape.significand ? shape.body : shape.significand;
	shape.low = shape.wide / 2;
	shape.bias = format->posit ? small_greatest_scale(format) : (int)shape.fraction;
	return shape;
}

/*
 * A word of the decode table: the fraction of the normalised significand, F bits; above it, of
 * posits the exponent plus the bias; of IEEE formats what to add to the exponent: the bias, less
 * the places that a subnormal significand was shifted left.
 *
 * A word of the align table, of either half of a significand: at bit 2 the half in its place with
 * guard bits, shifted right; at bit 0 (the high half's) or 1 (the low half's) whether any bit was
 * lost. Halves do not overlap, so that the sum of the two words is the shifted significand.
 */
#define SMALL_ALIGNED_AT 2

/*
 * A word of the norm table: how the bits below the significand are to be read (enum small_rest), 2
 * bits; the fraction, F bits; the places it was shifted left, plus 1.
 */
enum small_rest {
	REST_OVER_0 = 0, /* sum in [2, 4): the round bit, 0, is known; three more bits follow */
	REST_OVER_1 = 1, /* likewise, the round bit being 1 */
	REST_ONE = 2,    /* sum in [1, 2): the round bit is the first of three bits */
	REST_LESS = 3,   /* sum below 1: the round bit is the second of three bits */
};
#define SMALL_FRACTION_AT 2
#define SMALL_LEFT_BITS 4

/*
 * A word of the scale table: the base, 15 bits; how far to shift the body right, 4 bits; posits:
 * the exponent's lowest bits, which belong to the body.
 */
#define SMALL_BASE_BITS 15
#define SMALL_RIGHT_AT SMALL_BASE_BITS
#define SMALL_TAIL_AT (SMALL_RIGHT_AT + SMALL_SHIFT_BITS)

/*
 * The inc table's key: the shifted body's last bit, or the base's where nothing of the body is
 * left, and three below, 4 bits; whether more was lost, 1 bit; whether it was shifted at all, 1
 * bit; enum small_rest, 2 bits; the three bits, which are those below the significand before it was
 * normalised.
 */
#define SMALL_INC_BITS 11

/* Whether values of squares are too wide for a match stage and looked up in two halves. */
static inline bool
small_has_wide_squares(struct small_shape shape)
{
	return 2 * shape.significand + 2 > 24;
}

/* small_program.c */
void small_program(struct netfc_set *set);

#endif /* NETFC_SMALL_FAMILY_H */
