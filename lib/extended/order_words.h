/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * min, max and compare of words of one width, for order.c, which includes this once for each: WORD,
 * its signed type RANK, and BITS. Words of that type alone, so that vectors have as many of them.
 */

#define NAMED_(name, bits) name##_##bits
#define NAMED__(name, bits) NAMED_(name, bits)
#define NAMED(name) NAMED__(name, BITS)
#define MAGNITUDE ((WORD) - 1 >> 1)

/* Encodings in the order of their values, -0 before +0; NaR before all posits. */
INLINE RANK
NAMED(rank_of)(WORD word, const bool posit)
{
	return (RANK)(posit ? word : word ^ (WORD)((RANK)word >> (BITS - 1) & MAGNITUDE));
}

/* Without a branch between the two, so that vectors have both. */
INLINE bool
NAMED(is_any_nan)(const struct order_limits *limits, WORD x, WORD y, const bool posit)
{
	const WORD last = (WORD)limits->last, nan = (WORD)limits->nan;
	const WORD mx = x & MAGNITUDE, my = y & MAGNITUDE;

	return posit ? ((int)(x == nan) | (int)(y == nan)) != 0
		     : ((int)(mx > last) | (int)(my > last)) != 0;
}

/* The lesser or the greater. */
INLINE WORD
NAMED(extremum)(
	const struct order_limits *limits, WORD x, WORD y, const bool greatest, const bool posit)
{
	const RANK a = NAMED(rank_of)(x, posit), b = NAMED(rank_of)(y, posit);
	const WORD z = (greatest ? a > b : a < b) ? x : y;

	return NAMED(is_any_nan)(limits, x, y, posit) ? (WORD)limits->nan : z;
}

/* Zeros are equal, whatever their signs; a posit's NaR is less than any. */
INLINE WORD
NAMED(compare)(const struct order_limits *limits, WORD x, WORD y, const bool posit)
{
	const RANK a = NAMED(rank_of)(x, posit), b = NAMED(rank_of)(y, posit);
	const WORD one = (WORD)limits->one, minus_one = (WORD)limits->minus_one;
	WORD z = a < b ? minus_one : a > b ? one : 0;

	if (posit)
		return z;
	z = ((x | y) & MAGNITUDE) == 0 ? 0 : z;
	return NAMED(is_any_nan)(limits, x, y, false) ? (WORD)limits->nan : z;
}

INLINE struct lane
NAMED(order)(const struct order_limits *limits, uint32_t x, uint32_t y,
	const enum netfc_extra_op op, const bool posit)
{
	const WORD a = (WORD)slot_swap(x, BITS), b = (WORD)slot_swap(y, BITS);
	const WORD c = op == NETFC_COMPARE ? NAMED(compare)(limits, a, b, posit)
					   : NAMED(extremum)(limits, a, b, op == NETFC_MAX, posit);

	return (struct lane){slot_swap(c, BITS), 0};
}

#undef MAGNITUDE
#undef NAMED
#undef NAMED__
#undef NAMED_
