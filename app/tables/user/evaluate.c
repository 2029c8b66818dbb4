/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ziv's strategy: a value is computed to more and more bits until all that it may be is rounded to
 * the same encoding, with the same exception flags.
 */
#include "user/evaluate.h"

#include <math.h>

#include "decimal.h"

/* A double that the format rounds as it rounds the number next to the bound. */
static double
bound_value(mpfr_srcptr bound, bool open, int inside)
{
	double value = mpfr_get_d(bound, MPFR_RNDN);
	int order = mpfr_cmp_d(bound, value);

	return round_to_odd(value, order == 0 && open ? inside : order);
}

/* Whether all numbers of an interval are one in the format, and tell the same flags. */
static bool
is_decided(
	const struct interval *interval, const struct netfc_format *format, struct rounded *result)
{
	double low, high;

	if (interval->kind != INTERVAL_REAL)
		return false;
	low = bound_value(interval->low, interval->low_open, 1);
	high = bound_value(interval->high, interval->high_open, -1);
	result->z = netfc_encode(format, low);
	result->value = low;
	return result->z == netfc_encode(format, high) && (low == 0) == (high == 0) &&
		isinf(low) == isinf(high);
}

/* How an evaluation ends. */
enum evaluation {
	EVALUATED,
	EVALUATION_NAN,
	EVALUATION_LIMIT, /* NaN, but at an infinity there may be a limit */
	EVALUATION_UNDECIDED,
};

static enum evaluation
evaluate_at(struct expression *expression, const struct netfc_format *format, mpfr_srcptr x,
	bool settle, struct rounded *result)
{
	for (mpfr_prec_t bits = EVALUATE_FIRST_BITS; bits <= EVALUATE_LAST_BITS; bits *= 4) {
		struct precision precision = {bits, settle && bits == EVALUATE_LAST_BITS};
		struct expression_value value = expression_compute(expression, x, precision);

		result->pole = value.pole;
		if (value.interval->kind == INTERVAL_NAN)
			return value.has_limit ? EVALUATION_LIMIT : EVALUATION_NAN;
		if (is_decided(value.interval, format, result))
			return EVALUATED;
	}
	return EVALUATION_UNDECIDED;
}

/* What the values of greater and greater numbers are in the format, if that is one and the same. */
static enum evaluation
evaluate_limit(struct expression *expression, const struct netfc_format *format, int sign,
	struct rounded *result)
{
	static const mpfr_exp_t exponents[] = {1 << 10, 1 << 20, 1 << 28};
	enum evaluation evaluation = EVALUATED;
	struct rounded one;
	mpfr_t x;

	mpfr_init2(x, MPFR_PREC_MIN);
	for (unsigned e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++) {
		mpfr_set_si_2exp(x, sign, exponents[e], MPFR_RNDN);
		if (evaluate_at(expression, format, x, false, &one) != EVALUATED ||
			(e > 0 && one.z != result->z))
			evaluation = EVALUATION_NAN;
		*result = one;
	}
	result->value = netfc_decode(format, result->z);
	result->pole = false;
	mpfr_clear(x);
	return evaluation;
}

bool
evaluate(struct expression *expression, const struct netfc_format *format, uint16_t x,
	struct rounded *result)
{
	double argument = netfc_decode(format, x);
	enum evaluation evaluation;
	mpfr_t value;

	mpfr_init2(value, EVALUATE_FIRST_BITS);
	mpfr_set_d(value, argument, MPFR_RNDN);
	evaluation = evaluate_at(expression, format, value, true, result);
	mpfr_clear(value);
	if (evaluation == EVALUATION_LIMIT && isinf(argument))
		evaluation = evaluate_limit(expression, format, argument < 0 ? -1 : 1, result);
	if (evaluation == EVALUATION_NAN || evaluation == EVALUATION_LIMIT)
		*result = (struct rounded){netfc_nan(format), NAN, false};
	return evaluation != EVALUATION_UNDECIDED;
}
