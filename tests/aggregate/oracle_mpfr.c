/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include <mpfr.h>

#include "oracle.h"
#include "oracle_mpfr.h"

/* The magnitude of the posit that is nearest to a positive number. */
static uint32_t
mpfr_to_posit(unsigned int format, mpfr_t number)
{
	int exponent_bits = format == AGGREGATE_POSIT16 ? 1 : 2;
	uint32_t bits = 1;

	/* Up while the number is above the boundary; on it, if the next one is even. */
	for (uint32_t step = 0x4000; step > 0; step /= 2) {
		uint32_t next = bits + step;
		int side;

		if (next > 0x7fff)
			continue;
		side = mpfr_cmp_d(
			number, oracle_posit_value((next - 1) << 1 | 1, 17, exponent_bits));
		if (side > 0 || (side == 0 && (next & 1) == 0))
			bits = next;
	}
	return bits;
}

static uint64_t
mpfr_to_ieee(unsigned int format, mpfr_t number, int ternary)
{
	const struct oracle_ieee *ieee = oracle_ieee(format);
	int fraction_bits = ieee->fraction_bits, bias = ieee->bias;
	int sign = mpfr_signbit(number) ? -1 : 1, exponent;
	double value, fraction;
	uint64_t bits;

	mpfr_check_range(number, ternary, MPFR_RNDN);
	mpfr_subnormalize(number, ternary, MPFR_RNDN);
	if (mpfr_inf_p(number))
		return ieee->inf | (sign < 0 && ieee->inf != ieee->nan ? ieee->sign : 0);
	value = fabs(mpfr_get_d(number, MPFR_RNDN));
	fraction = frexp(value, &exponent);
	if (value == 0)
		bits = 0;
	else if (exponent - 1 >= 1 - bias)
		bits = (uint64_t)ldexp(fraction, fraction_bits + 1) +
			((uint64_t)(exponent - 2 + bias) << fraction_bits);
	else
		bits = (uint64_t)ldexp(value, bias - 1 + fraction_bits);
	return bits | (sign < 0 && bits != ieee->nan ? ieee->sign : 0);
}

static uint64_t
round_posit(unsigned int format, mpfr_t sum)
{
	const bool negative = mpfr_sgn(sum) < 0;
	uint64_t bits;

	mpfr_abs(sum, sum, MPFR_RNDN);
	bits = mpfr_to_posit(format, sum);
	return negative ? 0x10000 - bits : bits;
}

uint64_t
oracle_mpfr_round(unsigned int format, mpfr_t sum)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	const struct oracle_ieee *ieee = oracle_ieee(format);
	mpfr_t result;
	uint64_t bits;
	int ternary;

	if (format == AGGREGATE_POSIT16 || format == AGGREGATE_POSIT16_ES2)
		return round_posit(format, sum);
	mpfr_init2(result, ieee->fraction_bits + 1);
	mpfr_set_emin(2 - ieee->bias - ieee->fraction_bits);
	/* Without infinity, its exponent has numbers, too. */
	mpfr_set_emax(ieee->bias + 1 + (ieee->inf == ieee->nan));
	ternary = mpfr_set(result, sum, MPFR_RNDN);
	bits = mpfr_to_ieee(format, result, ternary);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	mpfr_clear(result);
	return bits;
}

/* 4500 bits are more than a quotient by 64 needs to tell on which side it is. */
uint64_t
oracle_mpfr(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers)
{
	mpfr_t sum;
	uint64_t bits;

	mpfr_init2(sum, 4500);
	mpfr_set_zero(sum, 1);
	for (unsigned int w = 0; w < workers; w++)
		mpfr_add_d(sum, sum, oracle_value(aggregate_values_format(format), values[w]),
			MPFR_RNDN);
	if (op == AGGREGATE_MEAN)
		mpfr_div_ui(sum, sum, workers, MPFR_RNDN);
	bits = oracle_mpfr_round(aggregate_results_format(format), sum);
	mpfr_clear(sum);
	return bits;
}
