/* SPDX-License-Identifier: BSD-3-Clause */
#include "precise.h"

#include <math.h>

#include "unit.h"

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#define WORKING_BITS 224

/* Whatever is computed here in a few steps of that precision is off by less than this of one. */
#define WORKING_ERROR 0x1p-190

static int128
whole_number(mpfr_t value)
{
	int128 high;
	mpfr_t top;

	mpfr_init2(top, WORKING_BITS);
	mpfr_div_2ui(top, value, 64, MPFR_RNDN);
	mpfr_floor(top, top);
	high = mpfr_get_sj(top, MPFR_RNDN);
	mpfr_mul_2ui(top, top, 64, MPFR_RNDN);
	mpfr_sub(top, value, top, MPFR_RNDN);
	high = high * ((int128)1 << 64) + mpfr_get_uj(top, MPFR_RNDN);
	mpfr_clear(top);
	return high;
}

/* Round an irrational number down; that it is no whole multiple must show. */
static struct precise
round_down(mpfr_t value)
{
	struct precise precise = {.exact = false};
	double error = ldexp(WORKING_ERROR, PRECISE_BITS), fraction;
	mpfr_t down;

	mpfr_init2(down, WORKING_BITS);
	mpfr_mul_2ui(value, value, PRECISE_BITS, MPFR_RNDN);
	mpfr_floor(down, value);
	precise.floor = whole_number(down);
	mpfr_sub(down, value, down, MPFR_RNDN);
	fraction = mpfr_get_d(down, MPFR_RNDD);
	mpfr_clear(down);
	if (fraction < error || fraction > 1 - 0x1p-50)
		fail_msg("too close to a multiple of 2^-%d to tell", PRECISE_BITS);
	return precise;
}

static struct precise
whole(int value)
{
	return (struct precise){.floor = value * ((int128)1 << PRECISE_BITS), .exact = true};
}

struct precise
precise_log2_significand(uint64_t significand)
{
	struct precise precise;
	mpfr_t value;

	if (significand == SIG_ONE)
		return whole(0);
	mpfr_init2(value, WORKING_BITS);
	mpfr_set_uj_2exp(value, significand, -63, MPFR_RNDN);
	mpfr_log2(value, value, MPFR_RNDN);
	precise = round_down(value);
	mpfr_clear(value);
	return precise;
}

struct precise
precise_log2(double value)
{
	int exponent;
	uint64_t significand = (uint64_t)ldexp(frexp(value, &exponent), 64);
	struct precise precise = precise_log2_significand(significand);

	precise.floor += whole(exponent - 1).floor;
	return precise;
}

/* 2^(num/den) for num of either sign. */
static void
power_of_two(mpfr_t power, int64_t num, uint32_t den)
{
	mpfr_set_sj(power, num, MPFR_RNDN);
	mpfr_div_ui(power, power, den, MPFR_RNDN);
	mpfr_exp2(power, power, MPFR_RNDN);
}

/* Only two of these are rational: log2(1 + 1) and log2(1 - 1/2). */
struct precise
precise_log2_one(int sign, uint32_t num, uint32_t den)
{
	struct precise precise;
	mpfr_t value, log_of_2;

	if (sign > 0 ? num == 0 : num == den)
		return whole(sign);
	mpfr_inits2(WORKING_BITS, value, log_of_2, (mpfr_ptr)NULL);
	power_of_two(value, -(int64_t)num, den);
	mpfr_mul_si(value, value, sign, MPFR_RNDN);
	mpfr_log1p(value, value, MPFR_RNDN);
	mpfr_const_log2(log_of_2, MPFR_RNDN);
	mpfr_div(value, value, log_of_2, MPFR_RNDN);
	precise = round_down(value);
	mpfr_clears(value, log_of_2, (mpfr_ptr)NULL);
	return precise;
}

struct precise
precise_exp2(uint32_t num, uint32_t den)
{
	struct precise precise;
	mpfr_t power;

	if (num % den == 0)
		return whole(1 << num / den);
	mpfr_init2(power, WORKING_BITS);
	power_of_two(power, num, den);
	precise = round_down(power);
	mpfr_clear(power);
	return precise;
}
