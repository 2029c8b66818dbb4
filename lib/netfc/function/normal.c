/* SPDX-License-Identifier: BSD-3-Clause */
/* The error function and the normal distribution. */
#include "function/elementary.h"

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

	if (real_is_zero(x))
		return half;
	if (is_below(a, TAIL_STARTS))
		return x.negative ? real_subtract(half, middle(a)) : real_add(half, middle(a));
	return x.negative ? upper_tail(a) : real_subtract(REAL_ONE, upper_tail(a));
}
