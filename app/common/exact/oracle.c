/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <netfc.h>

#include "oracle.h"

#define MOST_LIMBS 36

/* In two's complement, lowest limb first. */
struct wide {
	int limbs;
	int unit; /* of the lowest limb's bit 0 */
	uint64_t limb[MOST_LIMBS];
};

static struct wide
zero_of(unsigned int format)
{
	/* A mean has bits below those of any value. */
	if (format == AGGREGATE_FP64)
		return (struct wide){.limbs = MOST_LIMBS, .unit = -1152};
	return (struct wide){.limbs = 7, .unit = -256};
}

static const struct oracle_ieee ieee[AGGREGATE_FORMAT_END] = {
	[AGGREGATE_FP16] = {10, 15, 0x8000, 0x7c00, 0x7e00},
	[AGGREGATE_BF16] = {7, 127, 0x8000, 0x7f80, 0x7fc0},
	[AGGREGATE_FP32] = {23, 127, 0x80000000, 0x7f800000, 0x7fc00000},
	[AGGREGATE_FP8_E4M3] = {3, 7, 0x80, 0x7f, 0x7f},
	[AGGREGATE_FP8_E5M2] = {2, 15, 0x80, 0x7c, 0x7e},
	[AGGREGATE_FP64] = {52, 1023, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52,
		UINT64_C(0xfff) << 51},
};

const struct oracle_ieee *
oracle_ieee(unsigned int format)
{
	return &ieee[format];
}

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

double
oracle_value(unsigned int format, uint64_t bits)
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

static void
add_limb(struct wide *sum, int at, uint64_t limb)
{
	for (; at < sum->limbs && limb != 0; at++) {
		sum->limb[at] += limb;
		limb = sum->limb[at] < limb;
	}
}

static void
subtract_limb(struct wide *sum, int at, uint64_t limb)
{
	for (; at < sum->limbs && limb != 0; at++) {
		uint64_t before = sum->limb[at];

		sum->limb[at] -= limb;
		limb = before < limb;
	}
}

/* Any finite double that the unit allows. */
static void
add_double(struct wide *sum, double value)
{
	uint64_t bits, significand;
	int exponent, place, shift;

	memcpy(&bits, &value, sizeof(bits));
	if (bits << 1 == 0)
		return;
	exponent = (int)(bits >> 52 & 0x7ff);
	significand = (bits & 0xfffffffffffff) | (exponent != 0 ? 0x10000000000000 : 0);
	place = (exponent != 0 ? exponent : 1) - 1023 - 52 - sum->unit;
	shift = place % 64;
	if (value > 0) {
		add_limb(sum, place / 64, significand << shift);
		if (shift != 0)
			add_limb(sum, place / 64 + 1, significand >> (64 - shift));
	} else {
		subtract_limb(sum, place / 64, significand << shift);
		if (shift != 0)
			subtract_limb(sum, place / 64 + 1, significand >> (64 - shift));
	}
}

static bool
is_negative(const struct wide *number)
{
	return number->limb[number->limbs - 1] >> 63;
}

static bool
is_zero(const struct wide *number)
{
	for (int l = 0; l < number->limbs; l++)
		if (number->limb[l] != 0)
			return false;
	return true;
}

static struct wide
negated(const struct wide *number)
{
	struct wide result = *number;

	for (int l = 0; l < number->limbs; l++)
		result.limb[l] = ~number->limb[l];
	add_limb(&result, 0, 1);
	return result;
}

/* Returns whether something was left. */
static bool
divide(struct wide *number, unsigned int divisor)
{
	unsigned __int128 rest = 0;

	for (int l = number->limbs - 1; l >= 0; l--) {
		rest = rest << 64 | number->limb[l];
		number->limb[l] = (uint64_t)(rest / divisor);
		rest %= divisor;
	}
	return rest != 0;
}

static bool
bit_at(const struct wide *number, int place)
{
	return place >= 0 && (number->limb[place / 64] >> (place % 64) & 1);
}

static bool
any_below(const struct wide *number, int place)
{
	for (int l = 0; l < place / 64; l++)
		if (number->limb[l] != 0)
			return true;
	return place % 64 != 0 && number->limb[place / 64] << (64 - place % 64) != 0;
}

static int
highest_bit(const struct wide *number)
{
	int place = 64 * number->limbs - 1;

	while (!bit_at(number, place))
		place--;
	return place;
}

/* A magnitude, and whether there is more of it below. */
static uint64_t
round_ieee(unsigned int format, const struct wide *number, bool more)
{
	int fraction_bits = ieee[format].fraction_bits, least = 1 - ieee[format].bias;
	int exponent = is_zero(number) ? least : highest_bit(number) + number->unit;
	int last = (exponent > least ? exponent : least) - fraction_bits;
	uint64_t integer = 0, bits;

	for (int place = fraction_bits + 1; place >= 0; place--)
		integer = integer << 1 | bit_at(number, last + place - number->unit);
	if (bit_at(number, last - 1 - number->unit) &&
		(more || any_below(number, last - 1 - number->unit) || (integer & 1) != 0))
		integer++;
	if (integer >> (fraction_bits + 1) != 0) {
		integer >>= 1;
		last++;
	}
	bits = integer;
	if (integer >> fraction_bits != 0)
		bits = (integer & ((UINT64_C(1) << fraction_bits) - 1)) |
			(uint64_t)(last + fraction_bits + ieee[format].bias) << fraction_bits;
	return bits > ieee[format].inf ? ieee[format].inf : bits;
}

/* One bit after the other. */
double
oracle_posit_value(uint32_t bits, int n, int exponent_bits)
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

/* The sign of number (and more) - value. */
static int
compare(const struct wide *number, bool more, double value)
{
	struct wide difference = *number;

	add_double(&difference, -value);
	if (is_negative(&difference))
		return -1;
	return is_zero(&difference) && !more ? 0 : 1;
}

static uint32_t
round_posit(unsigned int format, const struct wide *number, bool more)
{
	int exponent_bits = format == AGGREGATE_POSIT16 ? 1 : 2;
	uint32_t low = 1, high = 0x8000;
	int side;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (compare(number, more, oracle_posit_value(middle, 16, exponent_bits)) >= 0)
			low = middle;
		else
			high = middle;
	}
	if (low == 0x7fff)
		return low;
	side = compare(number, more, oracle_posit_value(low << 1 | 1, 17, exponent_bits));
	return low + (side > 0 || (side == 0 && (low & 1) != 0));
}

/* Values of one format, the result of another, maybe. */
static struct oracle_result
reduce_finite(unsigned int op, unsigned int from, unsigned int format, const uint64_t *values,
	unsigned int workers)
{
	struct oracle_result result = {0, 0};
	struct wide sum = zero_of(from);
	bool negative, all_negative = true, more = false;

	for (unsigned int w = 0; w < workers; w++) {
		double value = oracle_value(from, values[w]);

		add_double(&sum, value);
		all_negative = all_negative && signbit(value);
	}
	if (is_zero(&sum)) {
		result.bits = all_negative && !is_posit(format) ? ieee[format].sign : 0;
		return result;
	}
	negative = is_negative(&sum);
	if (negative)
		sum = negated(&sum);
	if (op == AGGREGATE_MEAN)
		more = divide(&sum, workers);
	if (is_posit(format)) {
		result.bits = round_posit(format, &sum, more);
		result.bits = negative ? 0x10000 - result.bits : result.bits;
		return result;
	}
	result.bits = round_ieee(format, &sum, more);
	result.flags = result.bits == ieee[format].inf ? NETFC_OVERFLOW
		: result.bits == 0                     ? NETFC_UNDERFLOW
						       : 0;
	if (result.bits != ieee[format].nan)
		result.bits |= negative ? ieee[format].sign : 0;
	return result;
}

static struct oracle_result
reduce_sum(unsigned int op, unsigned int from, unsigned int format, const uint64_t *values,
	unsigned int workers)
{
	uint64_t nan = is_posit(format) ? 0x8000 : ieee[format].nan;
	bool plus = false, minus = false;

	for (unsigned int w = 0; w < workers; w++) {
		double value = oracle_value(from, values[w]);

		if (isnan(value))
			return (struct oracle_result){nan, 0};
	}
	for (unsigned int w = 0; w < workers; w++) {
		double value = oracle_value(from, values[w]);

		plus = plus || (isinf(value) && value > 0);
		minus = minus || (isinf(value) && value < 0);
	}
	if (plus && minus)
		return (struct oracle_result){nan, NETFC_INVALID};
	if (plus || minus)
		return (struct oracle_result){
			ieee[format].inf | (minus ? ieee[format].sign : 0), 0};
	return reduce_finite(op, from, format, values, workers);
}

/* IEEE 754-2019, section 9.6: minimum and maximum. */
static struct oracle_result
reduce_order(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers)
{
	uint64_t best = values[0];

	for (unsigned int w = 0; w < workers; w++) {
		double x = oracle_value(format, values[w]), y = oracle_value(format, best);
		bool less = x < y || (x == 0 && y == 0 && signbit(x) && !signbit(y));
		bool greater = x > y || (x == 0 && y == 0 && !signbit(x) && signbit(y));

		if (isnan(x))
			return (struct oracle_result){
				is_posit(format) ? 0x8000 : ieee[format].nan, 0};
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
