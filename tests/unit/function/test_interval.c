/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interval arithmetic of expressions: whatever numbers lie between the bounds of the arguments, the
 * result lies between those of the result, and is none of them that is open. MPFR computes it to
 * many more bits.
 */
#include <string.h>

#include "unit.h"
#include "user/interval.h"

#define BITS 64
#define PRECISE_BITS 700
#define ROUNDS 1000

static gmp_randstate_t random_state;

static unsigned long
draw(unsigned long end)
{
	return gmp_urandomm_ui(random_state, end);
}

/* A number of few bits: integers, halves and the like, zeros and powers of two are frequent. */
static void
draw_number(mpfr_ptr number)
{
	long significand = (long)draw(draw(2) ? 9 : 1000) - (long)(draw(2) ? 4 : 500);
	long exponent = draw(4) ? (long)draw(8) - 5 : (long)draw(200) - 100;

	mpfr_set_si_2exp(number, significand, exponent, MPFR_RNDN);
	if (draw(20) == 0)
		mpfr_set_inf(number, draw(2) ? 1 : -1);
}

/* An interval: a number, all those beside it, or any. */
static void
draw_interval(struct interval *interval)
{
	interval->kind = INTERVAL_REAL;
	draw_number(interval->low);
	mpfr_set(interval->high, interval->low, MPFR_RNDN);
	if (draw(2))
		draw_number(interval->high);
	else if (draw(2) && !mpfr_zero_p(interval->high))
		mpfr_nextabove(interval->high);
	if (draw(2) && mpfr_regular_p(interval->low))
		mpfr_nextbelow(interval->low);
	if (mpfr_greater_p(interval->low, interval->high))
		mpfr_swap(interval->low, interval->high);
	interval->low_open = interval->high_open = false;
	if (mpfr_equal_p(interval->low, interval->high)) {
		if (mpfr_zero_p(interval->low))
			mpfr_set(interval->high, interval->low, MPFR_RNDN);
		return;
	}
	interval->low_open = mpfr_inf_p(interval->low) || draw(2);
	interval->high_open = mpfr_inf_p(interval->high) || draw(2);
	if (mpfr_zero_p(interval->low))
		mpfr_set_zero(interval->low, 1);
	if (mpfr_zero_p(interval->high))
		mpfr_set_zero(interval->high, -1);
}

static bool
contains(const struct interval *interval, mpfr_srcptr number)
{
	int low = mpfr_cmp(number, interval->low), high = mpfr_cmp(number, interval->high);

	return (low > 0 || (low == 0 && !interval->low_open)) &&
		(high < 0 || (high == 0 && !interval->high_open));
}

/* A number of the interval: a bound, one very near to it, one somewhere between, or zero. */
static void
draw_inside(const struct interval *interval, mpfr_ptr number)
{
	mpfr_t part;

	mpfr_set(number, draw(2) ? interval->low : interval->high, MPFR_RNDN);
	if (interval_is_exact(interval))
		return;
	if (draw(2) == 0 && mpfr_number_p(interval->low) && mpfr_number_p(interval->high)) {
		mpfr_init2(part, PRECISE_BITS);
		mpfr_urandomb(part, random_state);
		if (draw(2))
			mpfr_div_2ui(part, part, 300, MPFR_RNDN);
		mpfr_sub(number, interval->high, interval->low, MPFR_RNDN);
		mpfr_mul(number, number, part, MPFR_RNDN);
		mpfr_add(number, number, interval->low, MPFR_RNDN);
		mpfr_clear(part);
	} else if (draw(3) == 0) {
		mpfr_set_zero(number, draw(2) ? 1 : -1);
	} else if (mpfr_inf_p(number)) {
		mpfr_set_si_2exp(number, mpfr_sgn(number), 200, MPFR_RNDN);
	} else if (mpfr_equal_p(number, interval->low)) {
		mpfr_nextabove(number);
	} else {
		mpfr_nextbelow(number);
	}
	if (!contains(interval, number))
		draw_inside(interval, number);
}

/*
 * From a rounded result a bit towards the number that it stands for, and not beyond it; false where
 * there is nothing between that and zero.
 */
static bool
step_back(mpfr_ptr rounded, int ternary)
{
	mpfr_prec_round(rounded, PRECISE_BITS + 1, MPFR_RNDN);
	if (ternary > 0)
		mpfr_nextbelow(rounded);
	else if (ternary < 0)
		mpfr_nextabove(rounded);
	return ternary == 0 ||
		(!mpfr_zero_p(rounded) && mpfr_get_exp(rounded) > mpfr_get_emin() + 1);
}

static bool
is_told(const struct interval *result, mpfr_srcptr number)
{
	if (mpfr_nan_p(number) || result->kind == INTERVAL_NAN)
		return mpfr_nan_p(number) && result->kind == INTERVAL_NAN;
	return contains(result, number);
}

static void
check_inside(
	const struct operation *o, const struct interval *arguments, const struct interval *result)
{
	mpfr_t x, y, z;
	int ternary;

	mpfr_inits2(PRECISE_BITS, x, y, z, (mpfr_ptr)NULL);
	draw_inside(&arguments[0], x);
	draw_inside(&arguments[1], y);
	ternary = o->arguments == 1 ? o->one(z, x, MPFR_RNDN) : o->two(z, x, y, MPFR_RNDN);
	if (step_back(z, ternary) && !is_told(result, z)) {
		mpfr_fprintf(stderr,
			"%s of %Ra (%Ra..%Ra), %Ra (%Ra..%Ra) is %Ra: not %d %Ra..%Ra %d%d\n",
			o->name, x, arguments[0].low, arguments[0].high, y, arguments[1].low,
			arguments[1].high, z, result->kind, result->low, result->high,
			result->low_open, result->high_open);
		fail();
	}
	mpfr_clears(x, y, z, (mpfr_ptr)NULL);
}

/* How many of the results were known. */
static unsigned
check_operation(const struct operation *o)
{
	struct interval arguments[OPERATION_ARGUMENTS], result;
	unsigned known = 0;

	interval_init(&arguments[0], BITS);
	interval_init(&arguments[1], BITS);
	interval_init(&result, BITS);
	for (unsigned round = 0; round < ROUNDS; round++) {
		draw_interval(&arguments[0]);
		draw_interval(&arguments[1]);
		interval_compute(o, arguments, &result);
		if (result.kind == INTERVAL_UNKNOWN)
			continue;
		known++;
		for (unsigned n = 0; n < 4; n++)
			check_inside(o, arguments, &result);
	}
	interval_clear(&arguments[0]);
	interval_clear(&arguments[1]);
	interval_clear(&result);
	return known;
}

TEST(results_lie_between_their_bounds)
{
	const struct operation *const others[] = {operation_add, operation_sub, operation_mul,
		operation_div, operation_pow, operation_neg};
	const struct operation *function;

	for (unsigned o = 0; o < 6; o++)
		assert_true(check_operation(others[o]) > ROUNDS / 4);
	for (size_t f = 0; (function = operation_function(f)) != NULL; f++)
		assert_true(check_operation(function) > ROUNDS / 4);
}

static void
set(struct interval *interval, const char *low, const char *high, bool open)
{
	interval->kind = INTERVAL_REAL;
	mpfr_strtofr(interval->low, low, NULL, 0, MPFR_RNDN);
	mpfr_strtofr(interval->high, high, NULL, 0, MPFR_RNDN);
	interval->low_open = interval->high_open = open;
}

TEST(small_intervals_settle_on_a_number_within)
{
	struct interval interval;

	interval_init(&interval, 1024);
	set(&interval, "0x1.8p0", "0x1.8p0", false);
	mpfr_nextabove(interval.high);
	interval_settle(&interval);
	assert_true(interval_is_exact(&interval) && mpfr_cmp_d(interval.low, 1.5) == 0);
	set(&interval, "0x1.8p0", "0x1.8p0", true);
	mpfr_nextabove(interval.high);
	interval_settle(&interval); /* more than 1.5 */
	assert_false(interval_is_exact(&interval));
	set(&interval, "-0x1p-900", "0x1p-800", true);
	interval_settle(&interval);
	assert_true(interval_is_exact(&interval) && mpfr_zero_p(interval.low));
	set(&interval, "0", "0x1p-800", true);
	interval_settle(&interval); /* more than 0 */
	assert_false(interval_is_exact(&interval));
	set(&interval, "1", "0x1.00001p0", false);
	interval_settle(&interval); /* not small */
	assert_false(interval_is_exact(&interval));
	interval_clear(&interval);
}

int
main(void)
{
	int failed;

	gmp_randinit_default(random_state);
	gmp_randseed_ui(random_state, 1);
	failed = tests_run(NULL, NULL);
	gmp_randclear(random_state);
	mpfr_free_cache();
	return failed;
}
