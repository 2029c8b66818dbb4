/* SPDX-License-Identifier: BSD-3-Clause */
#include "user/interval.h"

/* Of the numbers that results are taken for: those between encodings have 17. */
#define SETTLED_BITS 64

void
interval_init(struct interval *interval, mpfr_prec_t bits)
{
	mpfr_inits2(bits, interval->low, interval->high, (mpfr_ptr)NULL);
}

void
interval_set_bits(struct interval *interval, mpfr_prec_t bits)
{
	mpfr_set_prec(interval->low, bits);
	mpfr_set_prec(interval->high, bits);
}

void
interval_clear(struct interval *interval)
{
	mpfr_clears(interval->low, interval->high, (mpfr_ptr)NULL);
}

void
interval_swap(struct interval *a, struct interval *b)
{
	struct interval before = *a;

	*a = *b;
	*b = before;
}

bool
interval_is_exact(const struct interval *interval)
{
	return interval->kind == INTERVAL_REAL && !interval->low_open && !interval->high_open &&
		mpfr_equal_p(interval->low, interval->high);
}

/* Whether the interval is small beside a number in it; of zero, beside 1. */
static bool
is_small(const struct interval *interval, mpfr_srcptr number)
{
	mpfr_prec_t bits = mpfr_get_prec(interval->low);
	mpfr_exp_t exponent = mpfr_zero_p(number) ? 0 : mpfr_get_exp(number);
	mpfr_t width;
	bool small;

	mpfr_init2(width, bits);
	mpfr_sub(width, interval->high, interval->low, MPFR_RNDU);
	small = mpfr_regular_p(width) && mpfr_get_exp(width) < exponent - bits / 2;
	mpfr_clear(width);
	return small;
}

static bool
contains(const struct interval *interval, mpfr_srcptr number)
{
	int low = mpfr_cmp(number, interval->low), high = mpfr_cmp(number, interval->high);

	return (low > 0 || (low == 0 && !interval->low_open)) &&
		(high < 0 || (high == 0 && !interval->high_open));
}

void
interval_settle(struct interval *interval)
{
	mpfr_t number;

	if (interval->kind != INTERVAL_REAL || interval_is_exact(interval))
		return;
	mpfr_init2(number, SETTLED_BITS);
	if (interval_may_be_zero(interval))
		mpfr_set_zero(number, 1);
	else
		mpfr_set(number, interval->low, MPFR_RNDU);
	if (!mpfr_inf_p(number) && contains(interval, number) && is_small(interval, number)) {
		mpfr_set(interval->low, number, MPFR_RNDN);
		mpfr_set(interval->high, number, MPFR_RNDN);
		interval->low_open = interval->high_open = false;
	}
	mpfr_clear(number);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* IEEE 754-2019's maximum and minimum: -0 is less than +0, NaN counts. */
static int
choose(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, int sign)
{
	int order = sign * mpfr_cmp(x, y);

	if (mpfr_zero_p(x) && mpfr_zero_p(y))
		order = sign * (mpfr_signbit(x) ? -1 : 1);
	return mpfr_set(result, order > 0 ? x : y, MPFR_RNDN);
}

static int
greater(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding)
{
	(void)rounding;
	return choose(result, x, y, 1);
}

static int
lesser(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding)
{
	(void)rounding;
	return choose(result, x, y, -1);
}

/* mpfr_abs() and the like are macros. */
static int
absolute(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_abs(result, x, rounding);
}

static int
negative(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_neg(result, x, rounding);
}

#define ONE(name, shape, function) {name, SHAPE_##shape, 1, function, NULL}
#define TWO(name, shape, function) {name, SHAPE_##shape, 2, NULL, function}

static const struct operation functions[] = {
	ONE("abs", EVEN, absolute),
	ONE("acos", MONOTONIC, mpfr_acos),
	ONE("asin", MONOTONIC, mpfr_asin),
	ONE("atan", MONOTONIC, mpfr_atan),
	TWO("atan2", ANGLE, mpfr_atan2),
	ONE("cbrt", MONOTONIC, mpfr_cbrt),
	ONE("ceil", STEPS, mpfr_rint_ceil),
	ONE("cos", WAVE, mpfr_cos),
	ONE("cosh", EVEN, mpfr_cosh),
	ONE("erf", MONOTONIC, mpfr_erf),
	ONE("erfc", MONOTONIC, mpfr_erfc),
	ONE("exp", MONOTONIC, mpfr_exp),
	ONE("exp2", MONOTONIC, mpfr_exp2),
	ONE("expm1", MONOTONIC, mpfr_expm1),
	ONE("floor", STEPS, mpfr_rint_floor),
	TWO("hypot", EVEN, mpfr_hypot),
	ONE("ln", MONOTONIC, mpfr_log),
	ONE("log10", MONOTONIC, mpfr_log10),
	ONE("log1p", MONOTONIC, mpfr_log1p),
	ONE("log2", MONOTONIC, mpfr_log2),
	TWO("max", GREATER, greater),
	TWO("min", LESSER, lesser),
	TWO("pow", POWER, mpfr_pow),
	ONE("round", STEPS, mpfr_rint_roundeven),
	ONE("sin", WAVE, mpfr_sin),
	ONE("sinh", MONOTONIC, mpfr_sinh),
	ONE("sqrt", MONOTONIC, mpfr_sqrt),
	ONE("tan", TANGENT, mpfr_tan),
	ONE("tanh", MONOTONIC, mpfr_tanh),
	ONE("trunc", STEPS, mpfr_rint_trunc),
};

static const struct operation add = TWO("+", SUM, mpfr_add), sub = TWO("-", SUM, mpfr_sub),
			      mul = TWO("*", PRODUCT, mpfr_mul),
			      quotient = TWO("/", QUOTIENT, mpfr_div),
			      power = TWO("^", POWER, mpfr_pow),
			      neg = ONE("-", MONOTONIC, negative);

const struct operation *const operation_add = &add, *const operation_sub = &sub,
			      *const operation_mul = &mul, *const operation_div = &quotient,
			      *const operation_pow = &power, *const operation_neg = &neg;

const struct operation *
operation_function(size_t index)
{
	return index < sizeof(functions) / sizeof(functions[0]) ? &functions[index] : NULL;
}
