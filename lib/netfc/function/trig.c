/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sine and cosine. Arguments go up to 2^128, so that 2/pi has as many bits as the largest of them
 * needs (Payne, Hanek, "Radian reduction for trigonometric functions", 1983).
 */
#include "function/elementary.h"

#define PI_HALF REAL(0, 0xc90fdaa22168c234)

/* 2/pi, bits behind the point. */
static const uint64_t two_over_pi[] = {
	UINT64_C(0xa2f9836e4e441529),
	UINT64_C(0xfc2757d1f534ddc0),
	UINT64_C(0xdb6295993c439041),
	UINT64_C(0xfe5163abdebbc561),
	UINT64_C(0xb7246e3a424dd2e0),
};

/* Arguments have significands of so many bits, and exponents from -1 to 128. */
#define ARGUMENT_BITS 26

/* Terms of the series: behind them comes less than 2^-70. */
#define TERMS 12

/* 64 bits of 2/pi from the bit behind the point with that number on, 0 the first; or before it. */
static uint64_t
bits_from(int bit)
{
	int word = (bit + 64) / 64 - 1, offset = (bit + 64) % 64;
	uint64_t first = word >= 0 ? two_over_pi[word] : 0;

	return offset == 0 ? first : first << offset | two_over_pi[word + 1] >> (64 - offset);
}

/* An angle as a number of quarter turns and a rest from -pi/4 to pi/4. */
struct angle {
	unsigned quarters; /* 0..3 */
	struct real rest;
};

/*
 * |x| = m * 2^e with an integer m, so that bits of 2^e * 2/pi that are multiples of 4 do not
 * matter. 128 bits below them are enough: no argument comes as near to a multiple of pi/2 as their
 * error.
 */
static struct angle
reduce(struct real x)
{
	unsigned __int128 turn;
	uint64_t m = x.significand >> (64 - ARGUMENT_BITS);
	int first = x.exponent - (ARGUMENT_BITS - 1) - 2;
	struct angle angle;
	bool beyond_half;

	if (x.exponent < -1)
		return (struct angle){0, real_abs(x)};
	/* As a multiple of 2^-126 of a quarter turn, modulo 4. */
	turn = ((unsigned __int128)bits_from(first) << 64 | bits_from(first + 64)) * m;
	angle.quarters = (unsigned)(turn >> 126);
	turn <<= 2;
	beyond_half = turn >> 127;
	angle.quarters = (angle.quarters + beyond_half) & 3;
	if (beyond_half)
		turn = -turn;
	angle.rest = real_multiply(real_leading_bits(beyond_half, -1, turn), PI_HALF);
	return angle;
}

/* 1 - square / (k (k + 1)) (1 - square / ((k + 2) (k + 3)) (...)). */
static struct real
series(struct real square, int k)
{
	struct real sum = REAL_ONE;

	for (int n = k + 2 * TERMS; n >= k; n -= 2)
		sum = real_subtract(REAL_ONE,
			real_multiply(real_divide(square, real_integer((int64_t)n * (n + 1)), NULL),
				sum));
	return sum;
}

/* The sine of an angle that is so many quarter turns more. */
static struct real
sin_of(struct angle angle, unsigned more)
{
	unsigned quarters = (angle.quarters + more) & 3;
	struct real square = real_multiply(angle.rest, angle.rest);
	struct real result =
		quarters & 1 ? series(square, 1) : real_multiply(angle.rest, series(square, 2));

	return quarters & 2 ? real_negate(result) : result;
}

struct real
real_sin(struct real x)
{
	struct real result = sin_of(reduce(x), 0);

	return x.negative ? real_negate(result) : result;
}

struct real
real_cos(struct real x)
{
	return sin_of(reduce(x), 1);
}
