/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of real numbers that packets can ask for, and how much is known of each value. */
#include "function/real.h"
#include "function/function.h"

/* Below 2^-LINEAR, x/2 is gelu and silu but for less than 2^-SIDE_BITS of it. */
#define LINEAR (SIDE_BITS + 2)

static struct approximation
exact(struct real value)
{
	return (struct approximation){value, CERTAIN_EXACT};
}

static struct approximation
near(struct real value)
{
	return (struct approximation){value, CERTAIN_NEAR};
}

static const struct approximation undefined = {.certainty = CERTAIN_UNDEFINED};

struct approximation
netfc_real_same(struct real x)
{
	return exact(x);
}

struct approximation
netfc_real_negated(struct real x)
{
	return exact(real_negate(x));
}

struct approximation
netfc_real_absolute(struct real x)
{
	return exact(real_abs(x));
}

struct approximation
netfc_real_floor(struct real x)
{
	return exact(real_to_integer(x, REAL_DOWN));
}

struct approximation
netfc_real_ceil(struct real x)
{
	return exact(real_to_integer(x, REAL_UP));
}

struct approximation
netfc_real_trunc(struct real x)
{
	return exact(real_to_integer(x, REAL_TRUNCATE));
}

struct approximation
netfc_real_round(struct real x)
{
	return exact(real_to_integer(x, REAL_NEAREST));
}

/* A quotient or root cut off after 64 bits. */
static struct approximation
cut_off(struct real value, bool is_exact)
{
	return (struct approximation){value, is_exact ? CERTAIN_EXACT : CERTAIN_ABOVE};
}

struct approximation
netfc_real_sqrt(struct real x)
{
	bool is_exact;
	struct real root;

	if (x.negative)
		return undefined;
	root = real_sqrt(x, &is_exact);
	return cut_off(root, is_exact);
}

struct approximation
netfc_real_reciprocal(struct real x)
{
	bool is_exact;
	struct real quotient = real_divide(REAL_ONE, x, &is_exact);

	return cut_off(quotient, is_exact);
}

static bool
is_power_of_two(struct real x)
{
	return x.significand == SIG_ONE;
}

/* Of an odd number other than 1, the inverse of the root has no end. */
struct approximation
netfc_real_rsqrt(struct real x)
{
	struct real root;

	if (x.negative)
		return undefined;
	root = real_sqrt(real_divide(REAL_ONE, x, NULL), NULL);
	return is_power_of_two(x) && x.exponent % 2 == 0 ? exact(root) : near(root);
}

struct approximation
netfc_real_exp(struct real x)
{
	return near(real_exp(x));
}

static bool
is_integer(struct real x)
{
	struct real integer = real_to_integer(x, REAL_TRUNCATE);

	return integer.exponent == x.exponent && integer.significand == x.significand;
}

struct approximation
netfc_real_exp2(struct real x)
{
	return is_integer(x) ? exact(real_exp2(x)) : near(real_exp2(x));
}

struct approximation
netfc_real_ln(struct real x)
{
	return x.negative ? undefined : near(real_ln(x));
}

struct approximation
netfc_real_log2(struct real x)
{
	if (x.negative)
		return undefined;
	return is_power_of_two(x) ? exact(real_log2(x)) : near(real_log2(x));
}

struct approximation
netfc_real_sin(struct real x)
{
	return near(real_sin(x));
}

struct approximation
netfc_real_cos(struct real x)
{
	return near(real_cos(x));
}

/* (1 - e^-2x) / (1 + e^-2x), x > 0. */
struct approximation
netfc_real_tanh(struct real x)
{
	struct real less = real_expm1(real_scale(real_negate(real_abs(x)), 1));
	struct real result = real_divide(real_negate(less), real_add(real_integer(2), less), NULL);

	return near(x.negative ? real_negate(result) : result);
}

/* 1 / (1 + e^-x). */
static struct real
sigmoid(struct real x)
{
	return real_divide(REAL_ONE, real_add(REAL_ONE, real_exp(real_negate(x))), NULL);
}

struct approximation
netfc_real_sigmoid(struct real x)
{
	return near(sigmoid(x));
}

struct approximation
netfc_real_erf(struct real x)
{
	return near(real_erf(x));
}

/*
 * x times a probability that is 1/2 + cx near 0, 0 < c < 1/2. There the result is all but x/2,
 * which may be half-way between two numbers; on which side of it tells the sign of x.
 */
static struct approximation
weighted(struct real x, struct real (*probability)(struct real x))
{
	if (x.exponent < -LINEAR)
		return (struct approximation){
			real_scale(x, -1), x.negative ? CERTAIN_BELOW : CERTAIN_ABOVE};
	return near(real_multiply(x, probability(x)));
}

struct approximation
netfc_real_gelu(struct real x)
{
	return weighted(x, real_normal);
}

struct approximation
netfc_real_silu(struct real x)
{
	return weighted(x, sigmoid);
}
