/* SPDX-License-Identifier: BSD-3-Clause */
#include "real.h"

typedef unsigned __int128 uint128;

struct real
real_leading_bits(bool negative, int exponent, uint128 wide)
{
	uint64_t upper = (uint64_t)(wide >> 64);
	int zeros;

	if (wide == 0)
		return (struct real){0};
	zeros = upper != 0 ? __builtin_clzll(upper) : 64 + __builtin_clzll((uint64_t)wide);
	return (struct real){negative, exponent - zeros, (uint64_t)(wide << zeros >> 64)};
}

struct real
real_integer(int64_t value)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

	return real_leading_bits(value < 0, 63, (uint128)magnitude << 64);
}

/* |a| + |b| or |a| - |b|, |a| >= |b|, with the sign of a. */
static struct real
combine(struct real a, struct real b, bool difference)
{
	unsigned shift = (unsigned)(a.exponent - b.exponent);
	uint128 upper = (uint128)a.significand << 63;
	uint128 lower = shift < 127 ? (uint128)b.significand << 63 >> shift : 0;

	return real_leading_bits(
		a.negative, a.exponent + 1, difference ? upper - lower : upper + lower);
}

static bool
is_smaller(struct real a, struct real b)
{
	return a.exponent < b.exponent ||
		(a.exponent == b.exponent && a.significand < b.significand);
}

struct real
real_add(struct real a, struct real b)
{
	if (real_is_zero(b))
		return a;
	if (real_is_zero(a))
		return b;
	return is_smaller(a, b) ? combine(b, a, a.negative != b.negative)
				: combine(a, b, a.negative != b.negative);
}

struct real
real_multiply(struct real a, struct real b)
{
	return real_leading_bits(a.negative != b.negative, a.exponent + b.exponent + 1,
		(uint128)a.significand * b.significand);
}

struct real
real_divide(struct real a, struct real b, bool *exact)
{
	/* The quotient of the significands is in (1/2, 2). */
	bool less = a.significand < b.significand;
	uint128 dividend = (uint128)a.significand << (less ? 64 : 63);
	uint64_t quotient = (uint64_t)(dividend / b.significand);

	if (real_is_zero(a))
		return a;
	if (exact != NULL)
		*exact = (uint128)quotient * b.significand == dividend;
	return (struct real){a.negative != b.negative, a.exponent - b.exponent - less, quotient};
}

struct real
real_sqrt(struct real a, bool *exact)
{
	/* In [1, 4), as a multiple of 2^-126, whose root is one of 2^-63. */
	uint128 square = (uint128)a.significand << (a.exponent & 1 ? 64 : 63);
	uint64_t root = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t trial = root | UINT64_C(1) << bit;

		if ((uint128)trial * trial <= square)
			root = trial;
	}
	if (exact != NULL)
		*exact = (uint128)root * root == square;
	return (struct real){false, (a.exponent - (a.exponent & 1)) / 2, root};
}

/* Whether rounding takes a magnitude up, of whose integer part the last bit is `odd`. */
static bool
goes_up(bool negative, enum real_rounding rounding, bool odd, bool half, bool rest)
{
	switch (rounding) {
	case REAL_DOWN:
		return negative && (half || rest);
	case REAL_UP:
		return !negative && (half || rest);
	case REAL_NEAREST:
		return half && (rest || odd);
	case REAL_TRUNCATE:
	default:
		return false;
	}
}

struct real
real_to_integer(struct real a, enum real_rounding rounding)
{
	bool small = a.exponent < -1;                /* below 1/2 */
	unsigned bits = (unsigned)(63 - a.exponent); /* behind the point */
	uint64_t integer, fraction;

	if (real_is_zero(a) || a.exponent >= 63)
		return a;
	integer = a.exponent >= 0 ? a.significand >> bits : 0;
	fraction = small ? 1 : a.exponent < 0 ? a.significand : a.significand << (64 - bits);
	integer += goes_up(a.negative, rounding, integer & 1, fraction >> 63, fraction << 1 != 0);
	return real_leading_bits(a.negative, 63, (uint128)integer << 64);
}

int32_t
real_integer_value(struct real a)
{
	int32_t magnitude = a.exponent < 0 ? 0 : (int32_t)(a.significand >> (63 - a.exponent));

	return a.negative ? -magnitude : magnitude;
}
