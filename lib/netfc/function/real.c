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
	unsigned bits = (unsigned)(63 - a.exponent); /* after the point */
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

/* Powers and logarithms. */

#define LN_2 REAL(-1, 0xb17217f7d1cf79ab)
#define LOG2_E REAL(0, 0xb8aa3b295c17f0bb)
#define ROOT_OF_2 UINT64_C(0xb504f333f9de6484)

/* Terms of series: after them comes less than 2^-70. */
#define EXP_TERMS 24
#define ATANH_TERMS 14

/* From 2^HUGE_EXPONENT on, a power is beyond any format; so it is where arithmetic goes on. */
#define HUGE_EXPONENT 10
#define HUGE_POWER 2000

/* (e^x - 1) / x = 1 + x/2 (1 + x/3 (1 + ...)), |x| < 1. */
static struct real
exp_series(struct real x)
{
	struct real sum = REAL_ONE;

	for (int n = EXP_TERMS; n >= 2; n--)
		sum = real_add(REAL_ONE, real_multiply(real_divide(x, real_integer(n), NULL), sum));
	return sum;
}

struct real
real_exp2(struct real x)
{
	struct real whole, part;

	if (x.exponent >= HUGE_EXPONENT)
		return real_scale(REAL_ONE, x.negative ? -HUGE_POWER : HUGE_POWER);
	whole = real_to_integer(x, REAL_NEAREST);
	part = real_multiply(real_subtract(x, whole), LN_2);
	return real_scale(real_add(REAL_ONE, real_multiply(part, exp_series(part))),
		real_integer_value(whole));
}

struct real
real_exp(struct real x)
{
	return real_exp2(real_multiply(x, LOG2_E));
}

struct real
real_expm1(struct real x)
{
	if (x.exponent < -1)
		return real_multiply(x, exp_series(x));
	return real_subtract(real_exp(x), REAL_ONE);
}

/* A number as m * 2^exponent, m from 1/sqrt(2) to sqrt(2): then ln m, by 2 atanh((m-1)/(m+1)). */
static struct real
ln_of_rest(struct real x, int *exponent)
{
	struct real m = {false, x.significand > ROOT_OF_2 ? -1 : 0, x.significand}, s, square, sum;

	*exponent = x.exponent - m.exponent;
	s = real_divide(real_subtract(m, REAL_ONE), real_add(m, REAL_ONE), NULL);
	square = real_multiply(s, s);
	sum = real_divide(REAL_ONE, real_integer(2 * ATANH_TERMS + 1), NULL);
	for (int n = 2 * ATANH_TERMS - 1; n >= 1; n -= 2)
		sum = real_add(
			real_divide(REAL_ONE, real_integer(n), NULL), real_multiply(square, sum));
	return real_scale(real_multiply(s, sum), 1);
}

struct real
real_ln(struct real x)
{
	int exponent;
	struct real rest = ln_of_rest(x, &exponent);

	return real_add(real_multiply(real_integer(exponent), LN_2), rest);
}

struct real
real_log2(struct real x)
{
	int exponent;
	struct real rest = ln_of_rest(x, &exponent);

	return real_add(real_integer(exponent), real_multiply(rest, LOG2_E));
}

/*
 * Sine and cosine. Arguments go up to 2^128, so that 2/pi has as many bits as the largest of them
 * needs (Payne, Hanek, "Radian reduction for trigonometric functions", 1983).
 */

#define PI_HALF REAL(0, 0xc90fdaa22168c234)

/* 2/pi, bits after the point. */
static const uint64_t two_over_pi[] = {
	UINT64_C(0xa2f9836e4e441529),
	UINT64_C(0xfc2757d1f534ddc0),
	UINT64_C(0xdb6295993c439041),
	UINT64_C(0xfe5163abdebbc561),
	UINT64_C(0xb7246e3a424dd2e0),
};

/* Arguments have significands of so many bits, and exponents from -1 to 128. */
#define ARGUMENT_BITS 26

/* Terms of the series: after them comes less than 2^-70. */
#define TERMS 12

/* 64 bits of 2/pi from the bit after the point with that number on, 0 the first; or before it. */
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

/* The error function and the normal distribution. */

#define TWO_OVER_ROOT_OF_PI REAL(0, 0x906eba8214db688d)
#define DENSITY_AT_0 REAL(-2, 0xcc42299ea1b28468) /* 1 / sqrt(2 pi) */

/* Where erf(x) is 1 but for less than 2^-55. */
#define ERF_ENDS 6

/* The tail is a continued fraction from here on, of so many terms. */
#define TAIL_STARTS 2
#define TAIL_TERMS 160

/*
 * 1 + q/3 (1 + q/5 (1 + ...)), the sum of q^n / (1 * 3 * ... * (2n + 1)): all terms are positive,
 * so that nothing cancels (Abramowitz, Stegun, "Handbook of Mathematical
 * Functions", 7.1.6, 26.2.11).
 */
static struct real
odd_factorials(struct real q)
{
	struct real sum = REAL_ONE, term = REAL_ONE;

	for (int n = 3; term.exponent > sum.exponent - 70; n += 2) {
		term = real_divide(real_multiply(term, q), real_integer(n), NULL);
		sum = real_add(sum, term);
		if (real_is_zero(term))
			break;
	}
	return sum;
}

static bool
is_below(struct real a, int limit)
{
	return real_subtract(a, real_integer(limit)).negative;
}

struct real
real_erf(struct real x)
{
	struct real square = real_multiply(x, x), result = REAL_ONE;

	if (is_below(real_abs(x), ERF_ENDS))
		result = real_multiply(real_multiply(TWO_OVER_ROOT_OF_PI, real_abs(x)),
			real_multiply(real_exp(real_negate(square)),
				odd_factorials(real_scale(square, 1))));
	return x.negative ? real_negate(result) : result;
}

/* The density e^(-a^2 / 2) / sqrt(2 pi). */
static struct real
density(struct real square)
{
	return real_multiply(DENSITY_AT_0, real_exp(real_negate(real_scale(square, -1))));
}

/*
 * The probability of a value above a > 0: density / (a + 1/(a + 2/(a + 3/(a + ...)))). Convergents
 * lie on alternate sides of it (Abramowitz, Stegun, 26.2.14).
 */
static struct real
upper_tail(struct real a)
{
	struct real fraction = a;

	for (int n = TAIL_TERMS; n >= 1; n--)
		fraction = real_add(a, real_divide(real_integer(n), fraction, NULL));
	return real_divide(density(real_multiply(a, a)), fraction, NULL);
}

/* The probability of a value between 0 and a. */
static struct real
middle(struct real a)
{
	struct real square = real_multiply(a, a);

	return real_multiply(real_multiply(a, density(square)), odd_factorials(square));
}

struct real
real_normal(struct real x)
{
	struct real a = real_abs(x), half = real_scale(REAL_ONE, -1);

	if (is_below(a, TAIL_STARTS))
		return x.negative ? real_subtract(half, middle(a)) : real_add(half, middle(a));
	return x.negative ? upper_tail(a) : real_subtract(REAL_ONE, upper_tail(a));
}
