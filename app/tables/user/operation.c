/* SPDX-License-Identifier: BSD-3-Clause */
#include "user/interval.h"

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
