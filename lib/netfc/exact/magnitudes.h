/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MAGNITUDES_H
#define NETFC_MAGNITUDES_H

/** @file Sums and products of magnitudes, exact as far as rounding to a format can tell. */

#include "internal.h"

/* No format has more bits in a significand: the upper ones. */
#define SIG_BITS 24
/* No summand has more: a number of any format, or a product of two of 16 bits. */
#define SUMMAND_BITS 26

/* A number from a wide significand, value = wide * 2^exponent, wide not zero. */
static inline struct number
normalise(uint64_t wide, int exponent, bool sticky)
{
	int zeros = __builtin_clzll(wide);

	return (struct number){
		.exponent = exponent + 63 - zeros, .significand = wide << zeros, .sticky = sticky};
}

/*
 * |x| + |y| or |x| - |y|, x >= y, x > y if it is a difference; of up to SUMMAND_BITS each. The
 * places below x's last bit hold all of y or nothing but a sticky bit.
 */
static inline struct number
sum_of_magnitudes(struct number x, struct number y, bool difference)
{
	int shift = x.exponent - y.exponent;
	uint64_t a = x.significand >> 1, b = y.significand >> 1;
	bool sticky = shift > 63 - SUMMAND_BITS;

	b = sticky ? 0 : b >> shift;
	if (!difference)
		return normalise(a + b, x.exponent - 62, sticky);
	return normalise(a - b - sticky, x.exponent - 62, sticky);
}

/* |x * y|, of two numbers of a format. */
static inline struct number
product_of_magnitudes(struct number x, struct number y)
{
	uint64_t product = (x.significand >> 32) * (y.significand >> 32);

	return normalise(product, x.exponent + y.exponent - 62, false);
}

#endif /* NETFC_MAGNITUDES_H */
