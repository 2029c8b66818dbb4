/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "exact.h"

/* Sums of 64 values are exact, and quotients differ from every boundary that they are not. */
#define PRECISION 512
#define PRECISION_FP64 2304

/* What an IEEE format is made of; inf is what is too large: NaN in fp8_e4m3. */
struct ieee {
	int fraction_bits, bias;
	uint64_t sign, inf, nan;
};

static const struct ieee ieee_formats[AGGREGATE_FORMAT_END] = {
	[AGGREGATE_FP16] = {10, 15, 0x8000, 0x7c00, 0x7e00},
	[AGGREGATE_BF16] = {7, 127, 0x8000, 0x7f80, 0x7fc0},
	[AGGREGATE_FP32] = {23, 127, 0x80000000, 0x7f800000, 0x7fc00000},
	[AGGREGATE_FP8_E4M3] = {3, 7, 0x80, 0x7f, 0x7f},
	[AGGREGATE_FP8_E5M2] = {2, 15, 0x80, 0x7c, 0x7e},
	[AGGREGATE_FP64] = {52, 1023, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52,
		UINT64_C(0xfff) << 51},
};

static bool
is_posit(unsigned int format)
{
	return format == AGGREGATE_POSIT16 || format == AGGREGATE_POSIT16_ES2;
}

static double
value_of_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static double
value_of_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The value of an encoding; infinities and NaN (NaR) as such. */
static double
value_of(unsigned int format, uint64_t bits)
{
	static double values[AGGREGATE_FORMAT_END][65536];
	static bool filled[AGGREGATE_FORMAT_END];

	if (format == AGGREGATE_FP32)
		return value_of_float((uint32_t)bits);
	if (format == AGGREGATE_FP64)
		return value_of_double(bits);
	if (!filled[format]) {
		for (uint32_t b = 0; b >> (8 * aggregate_value_bytes(format)) == 0; b++)
			values[format][b] = netfc_decode(netfc_format_by_id(format), (uint16_t)b);
		filled[format] = true;
	}
	return values[format][bits];
}

/* Of a positive posit of n bits: one bit after the other. */
static double
posit_value(uint32_t bits, int n, int exponent_bits)
{
	int at = n - 2, run = 0, exponent = 0, regime;
	bool ones = bits >> at & 1;
	double fraction = 1, weight = 0.5;

	while (at >= 0 && (bits >> at & 1) == ones) {
		at--;
		run++;
	}
	regime = ones ? run - 1 : -run;
	at--;
	for (int e = 0; e < exponent_bits; e++, at--)
		exponent = exponent << 1 | (at >= 0 ? bits >> at & 1 : 0);
	for (; at >= 0; at--, weight /= 2)
		fraction += (bits >> at & 1) * weight;
	return ldexp(fraction, regime * (1 << exponent_bits) + exponent);
}

/* ---- rounding ------------------------------------------------------------------------------ */

/* The magnitude of the posit that is nearest to a positive number. */
static uint32_t
nearest_posit(unsigned int format, mpfr_t number)
{
	const int exponent_bits = format == AGGREGATE_POSIT16 ? 1 : 2;
	uint32_t bits = 1;

	/* Up while the number is above the boundary; on it, if the next one is even. */
	for (uint32_t step = 0x4000; step > 0; step /= 2) {
		uint32_t next = bits + step;
		int side;

		if (next > 0x7fff)
			continue;
		side = mpfr_cmp_d(number, posit_value((next - 1) << 1 | 1, 17, exponent_bits));
		if (side > 0 || (side == 0 && (next & 1) == 0))
			bits = next;
	}
	return bits;
}

static uint64_t
round_posit(unsigned int format, mpfr_t number)
{
	const bool negative = mpfr_sgn(number) < 0;
	uint64_t bits;

	if (mpfr_zero_p(number))
		return 0;
	mpfr_abs(number, number, MPFR_RNDN);
	bits = nearest_posit(format, number);
	return negative ? 0x10000 - bits : bits;
}

/* Of a number that the format has. */
static uint64_t
encode_ieee(const struct ieee *ieee, mpfr_t number)
{
	const uint64_t sign = mpfr_signbit(number) ? ieee->sign : 0;
	double value = fabs(mpfr_get_d(number, MPFR_RNDN)), fraction;
	uint64_t bits = 0;
	int exponent;

	fraction = frexp(value, &exponent);
	if (isinf(value))
		bits = ieee->inf;
	else if (value != 0 && exponent - 1 >= 1 - ieee->bias)
		bits = (uint64_t)ldexp(fraction, ieee->fraction_bits + 1) +
			((uint64_t)(exponent - 2 + ieee->bias) << ieee->fraction_bits);
	else if (value != 0)
		bits = (uint64_t)ldexp(value, ieee->bias - 1 + ieee->fraction_bits);
	return bits != ieee->nan ? bits | sign : bits;
}

static uint64_t
round_ieee(const struct ieee *ieee, mpfr_t number)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	mpfr_t result;
	uint64_t bits;
	int ternary;

	mpfr_init2(result, ieee->fraction_bits + 1);
	mpfr_set_emin(2 - ieee->bias - ieee->fraction_bits);
	/* Without infinity, its exponent has numbers, too. */
	mpfr_set_emax(ieee->bias + 1 + (ieee->inf == ieee->nan));
	ternary = mpfr_set(result, number, MPFR_RNDN);
	ternary = mpfr_check_range(result, ternary, MPFR_RNDN);
	mpfr_subnormalize(result, ternary, MPFR_RNDN);
	bits = encode_ieee(ieee, result);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	mpfr_clear(result);
	return bits;
}

uint64_t
oracle_round(unsigned int format, mpfr_t number)
{
	return is_posit(format) ? round_posit(format, number)
				: round_ieee(&ieee_formats[format], number);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static uint64_t
nan_of(unsigned int format)
{
	return is_posit(format) ? 0x8000 : ieee_formats[format].nan;
}

/* The exact sum of values of a format, or the mean. */
static void
add_up(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers,
	mpfr_t sum)
{
	mpfr_set_zero(sum, -1);
	for (unsigned int w = 0; w < workers; w++)
		mpfr_add_d(sum, sum, value_of(format, values[w]), MPFR_RNDN);
	if (op == AGGREGATE_MEAN)
		mpfr_div_ui(sum, sum, workers, MPFR_RNDN);
}

/* Of a sum that is finite and not 0. */
static uint8_t
flags_of(unsigned int format, uint64_t bits)
{
	if (is_posit(format))
		return 0;
	bits &= ~ieee_formats[format].sign;
	return bits == ieee_formats[format].inf ? NETFC_OVERFLOW : bits == 0 ? NETFC_UNDERFLOW : 0;
}

/* Values of one format, the result of another, maybe. */
static struct oracle_result
reduce_sum(unsigned int op, unsigned int from, unsigned int format, const uint64_t *values,
	unsigned int workers)
{
	struct oracle_result result = {0, 0};
	bool finite;
	mpfr_t sum;

	for (unsigned int w = 0; w < workers; w++)
		if (isnan(value_of(from, values[w])))
			return (struct oracle_result){nan_of(format), 0};
	mpfr_init2(sum, from == AGGREGATE_FP64 ? PRECISION_FP64 : PRECISION);
	add_up(op, from, values, workers, sum);
	if (mpfr_nan_p(sum)) {
		result = (struct oracle_result){nan_of(format), NETFC_INVALID};
	} else {
		finite = mpfr_regular_p(sum);
		result.bits = oracle_round(format, sum);
		result.flags = finite ? flags_of(format, result.bits) : 0;
	}
	mpfr_clear(sum);
	return result;
}

/* IEEE 754-2019, section 9.6: minimum and maximum. */
static struct oracle_result
reduce_order(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers)
{
	uint64_t best = values[0];

	for (unsigned int w = 0; w < workers; w++) {
		double x = value_of(format, values[w]), y = value_of(format, best);
		bool less = x < y || (x == 0 && y == 0 && signbit(x) && !signbit(y));
		bool greater = x > y || (x == 0 && y == 0 && !signbit(x) && signbit(y));

		if (isnan(x))
			return (struct oracle_result){nan_of(format), 0};
		if (op == AGGREGATE_MIN ? less : greater)
			best = values[w];
	}
	return (struct oracle_result){best, 0};
}

static int64_t
integer_of(unsigned int format, uint64_t bits)
{
	return format == AGGREGATE_INT32 ? (int32_t)bits : (int64_t)bits;
}

static uint64_t
bits_of(unsigned int format, __int128 integer)
{
	return format == AGGREGATE_INT32 ? (uint32_t)integer : (uint64_t)integer;
}

/* To nearest, ties to even, by trying. */
static __int128
nearest_quotient(__int128 sum, int divisor)
{
	__int128 quotient = sum / divisor - 2;

	while (2 * (sum - quotient * divisor) > divisor ||
		(2 * (sum - quotient * divisor) == divisor && quotient % 2 != 0))
		quotient++;
	return quotient;
}

static struct oracle_result
reduce_integers(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers)
{
	const __int128 most = format == AGGREGATE_INT32 ? INT32_MAX : INT64_MAX;
	int64_t least = INT64_MAX, greatest = INT64_MIN;
	__int128 sum = 0;

	for (unsigned int w = 0; w < workers; w++) {
		int64_t value = integer_of(format, values[w]);

		sum += value;
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
	}
	switch (op) {
	case AGGREGATE_MIN:
		return (struct oracle_result){bits_of(format, least), 0};
	case AGGREGATE_MAX:
		return (struct oracle_result){bits_of(format, greatest), 0};
	case AGGREGATE_MEAN:
		return (struct oracle_result){
			bits_of(format, nearest_quotient(sum, (int)workers)), 0};
	default:
		break;
	}
	if (sum > most)
		return (struct oracle_result){bits_of(format, most), NETFC_OVERFLOW};
	if (sum < -most - 1)
		return (struct oracle_result){bits_of(format, -most - 1), NETFC_OVERFLOW};
	return (struct oracle_result){bits_of(format, sum), 0};
}

struct oracle_result
oracle_reduce(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers)
{
	if (format == AGGREGATE_INT32 || format == AGGREGATE_INT64)
		return reduce_integers(op, format, values, workers);
	if (op == AGGREGATE_MIN || op == AGGREGATE_MAX)
		return reduce_order(op, format, values, workers);
	return reduce_sum(op, aggregate_values_format(format), aggregate_results_format(format),
		values, workers);
}
