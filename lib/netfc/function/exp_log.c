/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers and logarithms. */
#include "function/elementary.h"

#define LN_2 REAL(-1, 0xb17217f7d1cf79ab)
#define LOG2_E REAL(0, 0xb8aa3b295c17f0bb)
#define ROOT_OF_2 UINT64_C(0xb504f333f9de6484)

/* Terms of series: behind them comes less than 2^-70. */
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
