/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function of one number at all 65,536 arguments, against MPFR: the value lies between the
 * rounding boundaries of z, ties go to the even encoding, special values and flags are those of
 * the standards. Reports how near the nearest value is to a boundary, and how far approximations
 * are off.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "function/function.h"
#include "naive.h"
#include "unit.h"

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "mpfr_functions.h"

#define WORKING_BITS 160
/* gelu and silu of the least numbers: x/2 and no more than 2^-135 of it. */
#define TINY 0x1p-20
#define TINY_BITS 400

/* Every so many arguments are computed alone, too. */
#define ALONE 15

/* What approximations may be off; the library allows for 2^-NEARNESS_BITS. */
#define ERROR_BOUND 0x1p-53

static const struct netfc_format *format;

static mpfr_function *
find_function(const char *name)
{
	mpfr_function *function = mpfr_function_of(name);

	if (function == NULL)
		fail_msg("%s: a function that the test does not know", name);
	return function;
}

/* A value of a function, and what is expected of it. */
struct check {
	const struct netfc_function *function;
	struct netfc_slot from, to;
	uint16_t x;
	double argument;
	struct netfc_result result;
	mpfr_t value;
	bool exact; /* MPFR's value is */
	bool pole;
};

static void
fail_value(const struct check *c, const char *what)
{
	fail_msg("%s: %s(%#x = %g) = %#x, flags %#x: %s", netfc_format_name(format),
		netfc_function_name(c->function), c->x, c->argument, c->result.z, c->result.flags,
		what);
}

static bool
is_posit(const struct netfc_format *number_format)
{
	return netfc_format_is_posit(number_format);
}

static double
argument_of(struct netfc_slot slot, uint16_t x)
{
	if (slot.format != NULL)
		return naive_value(slot.format, x);
	if (x == 0x8000 && is_posit(format))
		return NAN;
	return ldexp((int16_t)x, -(int)slot.point);
}

/* Beyond MPFR's exponents: what is merely that large or small does as well. */
static void
undo_range(mpfr_t value)
{
	int sign = mpfr_signbit(value) ? -1 : 1;

	if (mpfr_inf_p(value) && mpfr_overflow_p())
		mpfr_set_si_2exp(value, sign, 5000, MPFR_RNDN);
	if (mpfr_zero_p(value) && (mpfr_underflow_p() || mpfr_overflow_p()))
		mpfr_set_si_2exp(value, sign, -5000, MPFR_RNDN);
}

static void
compute_value(struct check *c)
{
	mpfr_t x;

	mpfr_init2(x, 53);
	mpfr_set_d(x, c->argument, MPFR_RNDN);
	mpfr_set_prec(c->value, fabs(c->argument) < TINY ? TINY_BITS : WORKING_BITS);
	mpfr_clear_flags();
	c->exact = find_function(netfc_function_name(c->function))(c->value, x, MPFR_RNDN) == 0;
	c->pole = mpfr_divby0_p() && isfinite(c->argument);
	undo_range(c->value);
	mpfr_clear(x);
}

/* Kept over all values of a function. */
static double nearest_boundary, worst_error;

static void
keep_distance(const struct check *c, double boundary)
{
	mpfr_t distance;

	mpfr_init2(distance, WORKING_BITS);
	mpfr_abs(distance, c->value, MPFR_RNDN);
	mpfr_div_d(distance, distance, boundary, MPFR_RNDN);
	mpfr_sub_ui(distance, distance, 1, MPFR_RNDN);
	nearest_boundary = fmin(nearest_boundary, fabs(mpfr_get_d(distance, MPFR_RNDN)));
	mpfr_clear(distance);
}

/* On which side of a boundary |value| lies; 0 for a tie. */
static int
side_of(const struct check *c, double boundary)
{
	mpfr_t bound;
	int side;

	mpfr_init2(bound, 53);
	mpfr_set_d(bound, boundary, MPFR_RNDN);
	side = mpfr_cmpabs(c->value, bound);
	mpfr_clear(bound);
	if (side == 0 && !c->exact)
		fail_value(c, "too close to a boundary for MPFR to tell");
	if (!c->exact && boundary != 0)
		keep_distance(c, boundary);
	return side;
}

static void
expect_nearest(const struct check *c)
{
	const struct netfc_format *to = c->to.format;
	uint32_t magnitude = netfc_magnitude(to, c->result.z);
	bool even = magnitude % 2 == 0;
	int below = 1, above = -1;

	if (magnitude > naive_least(to))
		below = side_of(c, naive_boundary(to, magnitude - 1));
	if (magnitude < naive_greatest(to))
		above = side_of(c, naive_boundary(to, magnitude));
	if (!((below > 0 || (below == 0 && even)) && (above < 0 || (above == 0 && even))))
		fail_value(c, "not the nearest");
	if (netfc_is_negative(to, c->result.z) != (mpfr_signbit(c->value) != 0))
		fail_value(c, "the sign is wrong");
}

static void
expect_flags(const struct check *c)
{
	double z = naive_value(c->to.format, c->result.z);
	uint8_t flags = 0;

	if (c->pole)
		flags = NETFC_DIVBYZERO;
	else if (isnan(z) && !isnan(c->argument))
		flags = NETFC_INVALID;
	else if (isinf(z) && isfinite(c->argument))
		flags = NETFC_OVERFLOW;
	else if (z == 0 && !mpfr_zero_p(c->value))
		flags = NETFC_UNDERFLOW;
	if (c->result.flags != flags)
		fail_value(c, "the flags are others by their definitions");
}

static double
special_value(const struct check *c)
{
	if (mpfr_zero_p(c->value))
		return copysign(0, mpfr_signbit(c->value) ? -1 : 1);
	return mpfr_get_d(c->value, MPFR_RNDN);
}

static void
expect_number(const struct check *c)
{
	if (mpfr_regular_p(c->value))
		expect_nearest(c);
	else if (c->result.z != naive_encode(c->to.format, special_value(c)))
		fail_value(c, "a special value is wrong");
	expect_flags(c);
}

static void
expect_fixed(const struct check *c)
{
	double multiple = rint(ldexp(c->argument, (int)c->to.point));
	double least = multiple < -0x1p15 ? -0x1p15 : multiple;
	double clamped = least > 0x7fff ? 0x7fff : least;

	if (isnan(c->argument)) {
		if (c->result.z != (is_posit(format) ? 0x8000 : 0) ||
			c->result.flags != (is_posit(format) ? 0 : NETFC_INVALID))
			fail_value(c, "not what NaN gives");
		return;
	}
	if ((int16_t)c->result.z != (int)clamped)
		fail_value(c, "not the nearest multiple");
	if (c->result.flags != (clamped == multiple ? 0 : NETFC_INVALID))
		fail_value(c, "the flag does not say whether it fits");
}

/* How far the approximation is from MPFR's value, as a part of it. */
static double
error_of(const struct check *c, struct real approximation)
{
	double error;
	mpfr_t ratio;

	mpfr_init2(ratio, WORKING_BITS);
	mpfr_set_uj_2exp(ratio, approximation.significand, approximation.exponent - 63, MPFR_RNDN);
	mpfr_div(ratio, ratio, c->value, MPFR_RNDN);
	mpfr_abs(ratio, ratio, MPFR_RNDN);
	mpfr_sub_ui(ratio, ratio, 1, MPFR_RNDN);
	error = fabs(mpfr_get_d(ratio, MPFR_RNDN));
	mpfr_clear(ratio);
	return error;
}

/* What is beyond every format need not be precise. */
static bool
is_in_range(const struct check *c)
{
	return mpfr_regular_p(c->value) && labs(mpfr_get_exp(c->value)) < 400;
}

static void
expect_approximation(const struct check *c)
{
	struct approximation a;
	double error;

	if (!is_in_range(c) || !isfinite(c->argument) || c->argument == 0)
		return;
	a = c->function->real((struct real){signbit(c->argument) != 0, ilogb(c->argument),
		(uint64_t)ldexp(fabs(c->argument), 63 - ilogb(c->argument))});
	if (a.certainty != CERTAIN_NEAR)
		return;
	error = error_of(c, a.value);
	if (error > ERROR_BOUND)
		fail_value(c, "the approximation is off by more than its bound");
	worst_error = fmax(worst_error, error);
}

/* The table has what the function gives for a single x. */
static void
expect_same_alone(const struct check *c)
{
	struct netfc_result result;

	assert_int_equal(netfc_function_value(c->function, format, c->x, &result), NETFC_OK);
	if (result.z != c->result.z || result.flags != c->result.flags)
		fail_value(c, "alone it is another");
}

static void
check_all(const struct netfc_function *function)
{
	struct check c = {.function = function,
		.from = netfc_function_argument(function, format),
		.to = netfc_function_result(function, format)};
	static uint16_t z[NETFC_FUNCTION_ENTRIES];
	static uint8_t flags[NETFC_FUNCTION_ENTRIES];

	assert_int_equal(netfc_function_table(function, format, z, flags), NETFC_OK);
	mpfr_init2(c.value, WORKING_BITS);
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++) {
		c.x = (uint16_t)x;
		c.argument = argument_of(c.from, c.x);
		c.result = (struct netfc_result){z[x], flags[x]};
		if (x % ALONE == 0)
			expect_same_alone(&c);
		compute_value(&c);
		if (c.to.format == NULL)
			expect_fixed(&c);
		else
			expect_number(&c);
		expect_approximation(&c);
	}
	mpfr_clear(c.value);
}

TEST(every_value_is_rounded_to_nearest)
{
	const struct netfc_function *function;

	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++) {
		const struct netfc_slot to = netfc_function_result(function, format);

		/* test_fp8_functions.c has these. */
		if (to.format != NULL && netfc_format_width(to.format) != 16)
			continue;
		nearest_boundary = 1;
		worst_error = 0;
		check_all(function);
		if (worst_error > 0)
			REPORT("%s: off by up to 2^%.1f, no nearer to a boundary than 2^%.1f\n",
				netfc_function_name(function), log2(worst_error),
				log2(nearest_boundary));
	}
}

TEST(functions_are_found_by_name_and_number)
{
	const struct netfc_function *function;

	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++) {
		unsigned number = netfc_function_number(function);

		assert_ptr_equal(netfc_function_by_name(netfc_function_name(function)), function);
		assert_ptr_equal(netfc_function_by_number(number), function);
		assert_in_range(number, 64, 191);
		assert_true(strlen(netfc_function_meaning(function)) > 0);
	}
	assert_null(netfc_function_by_name("cbrt"));
	assert_null(netfc_function_by_name(""));
	assert_null(netfc_function_by_number(0));
	assert_null(netfc_function_by_number(192));
}

FORMAT_MAIN(NULL, NULL)
