/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_SPECIAL_H
#define VECTOR_SPECIAL_H

/**
 * @file
 * What programs of logarithms decide (paper, table I, and special values): z and its exception
 * flags, of IEEE formats and posits, of sums, products and quotients. Masks that are constants cost
 * nothing.
 */

#include "lanes/vec.h"

/* What decides, of each lane. */
struct decision {
	vec16 x, y;     /* y negated for a subtraction */
	vec16 inf, nan; /* of the format; a posit has no infinity, and any `inf` */
	mask16 posit, product, division;
	/* Sums: the other operand is too small, or there is no result, which is taken for 0. */
	mask16 is_x, is_y, no_result;
};

/* A posit's is a two's complement; that of NaR is zero. */
INLINE vec16
magnitudes_of(vec16 words, mask16 posit)
{
	return magnitudes(choose(posit, ABSOLUTE(words), words));
}

INLINE vec16
give_sign(vec16 magnitude, mask16 sign, mask16 posit)
{
	const vec16 ieee = choose(sign, magnitude | all_words(INT16_MIN), magnitude);

	return choose(posit & sign, minus(magnitude), ieee);
}

/* Of magnitudes mx and my. */
INLINE mask16
nans(const struct decision *in, vec16 mx, vec16 my)
{
	return ((GREATER(mx, in->inf) | GREATER(my, in->inf)) & ~in->posit) |
		((EQUAL(in->x, in->nan) | EQUAL(in->y, in->nan)) & in->posit);
}

/*
 * z of the special lanes: with an infinity, a NaN, or a product's zero. Others stay as they are.
 * They raise no other flags than these two.
 */
INLINE vec16
decide_special(const struct decision *in, mask16 special, vec16 z, struct flags *flags)
{
	const vec16 none = all_words(0), x = in->x, y = in->y;
	const mask16 posit = in->posit, product = in->product, division = in->division;
	const mask16 sum = ~product, multiplied = product & ~division;
	const vec16 mx = magnitudes_of(x, posit), my = magnitudes_of(y, posit);
	const mask16 zero_x = EQUAL(mx, none), zero_y = EQUAL(my, none);
	const mask16 inf_x = EQUAL(mx, in->inf) & ~posit, inf_y = EQUAL(my, in->inf) & ~posit;
	const mask16 nan = nans(in, mx, my);
	const mask16 infinite = product & (inf_x | (division & zero_y) | (multiplied & inf_y));
	const mask16 zero = product & (zero_x | (division & inf_y) | (multiplied & zero_y));
	const mask16 invalid = ~nan & ((sum & inf_x & inf_y & negative(x ^ y)) | (infinite & zero));
	const mask16 by_zero = division & zero_y & ~(zero_x | inf_x | nan);
	const vec16 signs = choose(posit, none, (x ^ y) & all_words(INT16_MIN));

	flags->invalid = invalid;
	flags->divbyzero = by_zero;
	z = choose(product & special, signs, z) | choose(infinite, in->inf, none);
	z = choose(sum & inf_y, y, z);
	z = choose(sum & inf_x, x, z);
	return choose(nan | invalid | (posit & by_zero), in->nan, z);
}

/* z, of the magnitude e that was computed, by precedence. */
INLINE vec16
decide(const struct decision *in, vec16 e, struct flags *flags)
{
	const vec16 none = all_words(0), x = in->x, y = in->y;
	const mask16 sum = ~in->product, no_result = sum & in->no_result;
	const vec16 mx = magnitudes_of(x, in->posit), my = magnitudes_of(y, in->posit);
	const mask16 differ = negative(x ^ y), greater = GREATER(mx, my);
	const mask16 zero_x = EQUAL(mx, none), zero_y = EQUAL(my, none);
	const mask16 is_x = sum & (in->is_x | zero_y);
	const mask16 is_y = sum & (in->is_y | zero_x) & ~zero_y;
	const mask16 opposite = sum & differ & EQUAL(mx, my);
	const mask16 infinite = (EQUAL(mx, in->inf) | EQUAL(my, in->inf)) & ~in->posit;
	const mask16 special = (in->product & (zero_x | zero_y)) | infinite | nans(in, mx, my);
	const mask16 computed = ~(is_x | is_y | opposite | special);
	const mask16 sign = (sum & ((greater & negative(x)) | (~greater & negative(y)))) |
		(in->product & differ);
	vec16 z;

	e = choose(no_result, none, e);
	*flags = (struct flags){
		.overflow = computed & EQUAL(e, in->inf),
		.underflow = computed & EQUAL(e, none),
	};
	z = give_sign(e, sign & ~no_result, in->posit);
	z = choose(is_x, x, z);
	z = choose(is_y, y, z);
	z = choose(opposite, none, z);
	return decide_special(in, special, z, flags);
}

#endif /* VECTOR_SPECIAL_H */
