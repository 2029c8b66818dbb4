/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nearly all operations are monotonic in each argument, so that bounds of the result are among the
 * results of bounds, its corners. MPFR rounds each of these and says in which direction.
 */
#include "user/interval.h"

/* The exponent of the greatest angle. */
#define GREATEST_ANGLE (1 << 16)

/* An exact zero has its sign; one that bounds has that of the numbers beside it. */
static void
sign_zero_bounds(struct interval *interval)
{
	if (interval_is_exact(interval))
		return;
	if (mpfr_zero_p(interval->low))
		mpfr_set_zero(interval->low, 1);
	if (mpfr_zero_p(interval->high))
		mpfr_set_zero(interval->high, -1);
}

/* Make the bound less or equal to what is at `low`. */
static void
extend_low(struct interval *interval, bool first, mpfr_srcptr low, bool open)
{
	int order = first ? 1 : mpfr_cmp(interval->low, low);

	if (order > 0)
		mpfr_set(interval->low, low, MPFR_RNDN);
	interval->low_open = order > 0 ? open : interval->low_open && (order < 0 || open);
}

static void
extend_high(struct interval *interval, bool first, mpfr_srcptr high, bool open)
{
	int order = first ? -1 : mpfr_cmp(interval->high, high);

	if (order < 0)
		mpfr_set(interval->high, high, MPFR_RNDN);
	interval->high_open = order < 0 ? open : interval->high_open && (order > 0 || open);
}

/* Include a corner: what was rounded to nearest; `open` if the result is not the corner itself. */
static void
include(struct interval *interval, bool first, mpfr_srcptr nearest, int ternary, bool open)
{
	mpfr_t bound;

	open = open || ternary != 0;
	mpfr_init2(bound, mpfr_get_prec(nearest));
	mpfr_set(bound, nearest, MPFR_RNDN);
	if (ternary > 0)
		mpfr_nextbelow(bound);
	extend_low(interval, first, bound, open);
	mpfr_set(bound, nearest, MPFR_RNDN);
	if (ternary < 0)
		mpfr_nextabove(bound);
	extend_high(interval, first, bound, open);
	mpfr_clear(bound);
}

void
interval_set(struct interval *interval, mpfr_srcptr nearest, int ternary)
{
	interval->kind = INTERVAL_REAL;
	include(interval, true, nearest, ternary, false);
	sign_zero_bounds(interval);
}

static mpfr_srcptr
bound_of(const struct interval *interval, unsigned high)
{
	return high ? interval->high : interval->low;
}

static bool
is_open(const struct interval *interval, unsigned high)
{
	return high ? interval->high_open : interval->low_open;
}

/* Whether a bound that is attained decides the result, whatever the other argument is. */
static bool
absorbs(const struct operation *o, const struct interval *interval, unsigned high)
{
	mpfr_srcptr bound = bound_of(interval, high);

	if (is_open(interval, high))
		return false;
	return mpfr_inf_p(bound) || (mpfr_zero_p(bound) && o->shape != SHAPE_SUM) ||
		(mpfr_cmp_ui(bound, 1) == 0 && o->shape == SHAPE_POWER);
}

/* Whether a result that is exact at a corner is not attained; false where that is not sure. */
static bool
is_corner_open(const struct operation *o, const struct interval *a, unsigned corner)
{
	if (o->arguments == 1)
		return is_open(a, corner);
	if (o->shape == SHAPE_ANGLE)
		return false;
	return (is_open(&a[0], corner & 1) && !absorbs(o, &a[1], corner >> 1)) ||
		(is_open(&a[1], corner >> 1) && !absorbs(o, &a[0], corner & 1));
}

static int
compute_corner(
	const struct operation *o, const struct interval *a, unsigned corner, mpfr_ptr result)
{
	if (o->arguments == 1)
		return o->one(result, bound_of(a, corner), MPFR_RNDN);
	return o->two(result, bound_of(&a[0], corner & 1), bound_of(&a[1], corner >> 1), MPFR_RNDN);
}

/* Whether bounds of an argument are to be looked at: an exact one has but one. */
static bool
is_corner(const struct operation *o, const struct interval *a, unsigned corner)
{
	return !(corner & 1 && interval_is_exact(&a[0])) &&
		!(corner >> 1 && (o->arguments == 1 || interval_is_exact(&a[1])));
}

static bool
any_straddles_zero(const struct operation *o, const struct interval *a)
{
	return interval_straddles_zero(&a[0]) ||
		(o->arguments == 2 && interval_straddles_zero(&a[1]));
}

static void
compute_corners(const struct operation *o, const struct interval *a, struct interval *result)
{
	unsigned corners = 0, undefined = 0;
	mpfr_t value;

	result->kind = INTERVAL_REAL;
	mpfr_init2(value, mpfr_get_prec(result->low));
	for (unsigned corner = 0; corner < 4; corner++) {
		int ternary;

		if (!is_corner(o, a, corner))
			continue;
		ternary = compute_corner(o, a, corner, value);
		if (mpfr_nan_p(value))
			undefined++;
		else
			include(result, corners == undefined, value, ternary,
				is_corner_open(o, a, corner));
		corners++;
	}
	mpfr_clear(value);
	if (undefined == corners && (corners == 1 || !any_straddles_zero(o, a)))
		result->kind = INTERVAL_NAN;
	else if (undefined > 0)
		result->kind = INTERVAL_UNKNOWN;
	else if (mpfr_zero_p(result->low) && mpfr_zero_p(result->high) && any_straddles_zero(o, a))
		result->kind = INTERVAL_UNKNOWN; /* a zero of either sign */
	else
		sign_zero_bounds(result);
}

/*
 * A bit more precise, and if it is open, a bit further inside: no step lies between. Not of the
 * least numbers, beside which is zero, nor where integers have more bits.
 */
static void
step_inside(mpfr_ptr inside, const struct interval *a, unsigned high)
{
	mpfr_srcptr bound = bound_of(a, high);

	mpfr_set(inside, bound, MPFR_RNDN);
	if (!is_open(a, high) || mpfr_inf_p(bound))
		return;
	if (mpfr_regular_p(bound) &&
		(mpfr_get_exp(bound) >= mpfr_get_prec(bound) ||
			mpfr_get_exp(bound) == mpfr_get_emin()))
		return;
	if (high)
		mpfr_nextbelow(inside);
	else
		mpfr_nextabove(inside);
}

static void
compute_steps(const struct operation *o, const struct interval *a, struct interval *result)
{
	struct interval inside = {.kind = INTERVAL_REAL};

	interval_init(&inside, mpfr_get_prec(a->low) + 1);
	step_inside(inside.low, a, 0);
	step_inside(inside.high, a, 1);
	compute_corners(o, &inside, result);
	interval_clear(&inside);
}

static void
set_magnitude(struct interval *result, const struct interval *a)
{
	bool negative = mpfr_sgn(a->low) < 0;

	result->kind = INTERVAL_REAL;
	mpfr_abs(result->low, a->low, MPFR_RNDN);
	mpfr_abs(result->high, a->high, MPFR_RNDN);
	result->low_open = a->low_open;
	result->high_open = a->high_open;
	if (interval_straddles_zero(a)) {
		extend_high(result, false, result->low, result->low_open);
		mpfr_set_zero(result->low, 1);
		result->low_open = false;
	} else if (negative) {
		mpfr_swap(result->low, result->high);
		result->low_open = a->high_open;
		result->high_open = a->low_open;
	}
}

/* Of |x|, and |y|, in which the operation is monotonic. */
static void
compute_even(const struct operation *o, const struct interval *a, struct interval *result)
{
	struct interval magnitude[OPERATION_ARGUMENTS];

	for (unsigned n = 0; n < o->arguments; n++) {
		interval_init(&magnitude[n], mpfr_get_prec(a[n].low));
		set_magnitude(&magnitude[n], &a[n]);
	}
	compute_corners(o, magnitude, result);
	for (unsigned n = 0; n < o->arguments; n++)
		interval_clear(&magnitude[n]);
}

static void
set_range(struct interval *result, long low, long high)
{
	result->kind = INTERVAL_REAL;
	mpfr_set_si(result->low, low, MPFR_RNDN);
	mpfr_set_si(result->high, high, MPFR_RNDN);
	result->low_open = result->high_open = false;
}

static bool
is_below_one(const struct interval *a)
{
	return mpfr_cmp_si(a->low, -1) > 0 && mpfr_cmp_si(a->high, 1) < 0 &&
		!interval_straddles_zero(a);
}

/* MPFR takes as many bits of pi as the argument has before its point. */
static bool
is_too_great(const struct interval *a)
{
	return (mpfr_regular_p(a->low) && mpfr_get_exp(a->low) > GREATEST_ANGLE) ||
		(mpfr_regular_p(a->high) && mpfr_get_exp(a->high) > GREATEST_ANGLE);
}

/* sin and cos: no further from the value at a bound than the argument is from it. */
static void
compute_wave(const struct operation *o, const struct interval *a, struct interval *result)
{
	mpfr_prec_t bits = mpfr_get_prec(result->low);
	struct interval range;
	mpfr_t value, width;

	if (is_too_great(a)) {
		result->kind = INTERVAL_UNKNOWN;
		return;
	}
	if (interval_is_exact(a) || is_below_one(a)) {
		compute_corners(o, a, result);
		return;
	}
	interval_init(&range, bits);
	set_range(&range, -1, 1);
	set_range(result, -1, 1);
	mpfr_inits2(bits, value, width, (mpfr_ptr)NULL);
	mpfr_sub(width, a->high, a->low, MPFR_RNDU);
	if (mpfr_cmp_ui(width, 1) < 0) {
		o->one(value, a->low, MPFR_RNDN);
		mpfr_sub(result->low, value, width, MPFR_RNDD);
		mpfr_add(result->high, value, width, MPFR_RNDU);
		mpfr_nextbelow(result->low); /* value is rounded, too */
		mpfr_nextabove(result->high);
		if (mpfr_less_p(result->low, range.low))
			mpfr_set(result->low, range.low, MPFR_RNDN);
		if (mpfr_greater_p(result->high, range.high))
			mpfr_set(result->high, range.high, MPFR_RNDN);
	}
	mpfr_clears(value, width, (mpfr_ptr)NULL);
	interval_clear(&range);
}

/* Between poles it increases: where it is less at the greater bound, one lies between the bounds.
 */
static void
compute_tangent(const struct operation *o, const struct interval *a, struct interval *result)
{
	mpfr_t low, high;

	result->kind = INTERVAL_UNKNOWN;
	if (is_too_great(a))
		return;
	mpfr_inits2(mpfr_get_prec(result->low), low, high, (mpfr_ptr)NULL);
	mpfr_sub(low, a->high, a->low, MPFR_RNDU);
	if (interval_is_exact(a) || mpfr_cmp_ui(low, 1) < 0)
		compute_corners(o, a, result);
	o->one(low, a->low, MPFR_RNDN);
	o->one(high, a->high, MPFR_RNDN);
	if (mpfr_greater_p(low, high))
		result->kind = INTERVAL_UNKNOWN;
	mpfr_clears(low, high, (mpfr_ptr)NULL);
}

static bool
may_be_infinite(const struct interval *interval)
{
	return mpfr_inf_p(interval->low) || mpfr_inf_p(interval->high);
}

static void
compute_product(const struct operation *o, const struct interval *a, struct interval *result)
{
	compute_corners(o, a, result);
	if (result->kind == INTERVAL_REAL &&
		((interval_may_be_zero(&a[0]) && may_be_infinite(&a[1])) ||
			(may_be_infinite(&a[0]) && interval_may_be_zero(&a[1]))))
		result->kind = INTERVAL_UNKNOWN;
}

static void
compute_quotient(const struct operation *o, const struct interval *a, struct interval *result)
{
	bool exact = interval_is_exact(&a[0]) && interval_is_exact(&a[1]);

	if (interval_may_be_zero(&a[1]) && !exact &&
		(!interval_is_exact(&a[1]) || interval_may_be_zero(&a[0])))
		result->kind = INTERVAL_UNKNOWN;
	else
		compute_corners(o, a, result);
}

static bool
may_be_integer(const struct interval *interval)
{
	mpfr_t least;
	bool may;

	mpfr_init2(least, mpfr_get_prec(interval->low));
	mpfr_ceil(least, interval->low);
	may = mpfr_lessequal_p(least, interval->high);
	mpfr_clear(least);
	return may;
}

/* To an infinite power: the sign of the base is none of the result's, as IEEE 754's pow has it. */
static void
compute_infinite_power(const struct operation *o, const struct interval *a, struct interval *result)
{
	struct interval magnitudes[OPERATION_ARGUMENTS] = {[1] = a[1]};

	interval_init(&magnitudes[0], mpfr_get_prec(a[0].low));
	set_magnitude(&magnitudes[0], &a[0]);
	compute_corners(o, magnitudes, result);
	interval_clear(&magnitudes[0]);
}

/* Of a negative base, integer powers alone; others are no numbers, where they are known as such. */
static void
compute_power(const struct operation *o, const struct interval *a, struct interval *result)
{
	bool integer = interval_is_exact(&a[1]) && mpfr_integer_p(a[1].low);
	bool exact = interval_is_exact(&a[0]) && interval_is_exact(&a[1]);
	bool pole =
		!interval_is_exact(&a[0]) && interval_may_be_zero(&a[0]) && mpfr_sgn(a[1].low) < 0;
	bool either = interval_straddles_zero(&a[0]) || (!integer && may_be_integer(&a[1]));

	if (!exact && interval_is_exact(&a[1]) && mpfr_inf_p(a[1].low))
		compute_infinite_power(o, a, result);
	else if (!exact && (pole || (mpfr_sgn(a[0].low) < 0 && either)))
		result->kind = INTERVAL_UNKNOWN;
	else
		compute_corners(o, a, result);
}

/* atan2 jumps where an argument changes its sign, if that is y, and at zeros. */
static void
compute_angle(const struct operation *o, const struct interval *a, struct interval *result)
{
	if ((!interval_is_exact(&a[0]) && interval_may_be_zero(&a[0])) ||
		(!interval_is_exact(&a[1]) && interval_may_be_zero(&a[1])))
		result->kind = INTERVAL_UNKNOWN;
	else
		compute_corners(o, a, result);
}

/* Of the greater number, the greater bounds; of the lesser one, the lesser bounds. */
static void
compute_choice(const struct operation *o, const struct interval *a, struct interval *result)
{
	bool greater = o->shape == SHAPE_GREATER;
	int sign = greater ? 1 : -1, low = sign * mpfr_cmp(a[0].low, a[1].low),
	    high = sign * mpfr_cmp(a[0].high, a[1].high);
	unsigned from_low = low < 0 || (low == 0 && a[greater].low_open);
	unsigned from_high = high < 0 || (high == 0 && a[!greater].high_open);

	if (interval_is_exact(&a[0]) && interval_is_exact(&a[1])) {
		compute_corners(o, a, result);
		return;
	}
	result->kind = INTERVAL_REAL;
	mpfr_set(result->low, a[from_low].low, MPFR_RNDN);
	mpfr_set(result->high, a[from_high].high, MPFR_RNDN);
	result->low_open = a[from_low].low_open;
	result->high_open = a[from_high].high_open;
	sign_zero_bounds(result);
}

/* The first argument that is no real number decides. */
static bool
is_undefined(const struct operation *o, const struct interval *a, struct interval *result)
{
	for (unsigned n = 0; n < o->arguments; n++) {
		result->kind = a[n].kind;
		if (a[n].kind != INTERVAL_REAL)
			return true;
	}
	return false;
}

void
interval_compute(const struct operation *o, const struct interval *a, struct interval *result)
{
	static void (*const compute[])(
		const struct operation *o, const struct interval *a, struct interval *result) = {
		[SHAPE_MONOTONIC] = compute_corners,
		[SHAPE_STEPS] = compute_steps,
		[SHAPE_EVEN] = compute_even,
		[SHAPE_WAVE] = compute_wave,
		[SHAPE_TANGENT] = compute_tangent,
		[SHAPE_SUM] = compute_corners,
		[SHAPE_PRODUCT] = compute_product,
		[SHAPE_QUOTIENT] = compute_quotient,
		[SHAPE_POWER] = compute_power,
		[SHAPE_ANGLE] = compute_angle,
		[SHAPE_GREATER] = compute_choice,
		[SHAPE_LESSER] = compute_choice,
	};

	if (is_undefined(o, a, result))
		return;
	result->low_open = result->high_open = false;
	compute[o->shape](o, a, result);
}
