/* SPDX-License-Identifier: BSD-3-Clause */
/* The correctly rounded result, in integers: unpack, compute, round (IEEE 754, section 4.3). */
#include "internal.h"

#include <string.h>

/* Sums and products of magnitudes, exact as far as rounding to a format can tell. */

/* No format has more bits in a significand: the upper ones. */
#define SIG_BITS 24
/* No summand has more: a number of any format, or a product of two of 16 bits. */
#define SUMMAND_BITS 26

/* A number from a wide significand, value = wide * 2^exponent, wide not zero. */
static inline struct number
normalise(uint64_t wide, int exponent, bool sticky)
{
	int zeros = __builtin_clzll(wide);

	return (struct number){
		.exponent = exponent + 63 - zeros, .significand = wide << zeros, .sticky = sticky};
}

/*
 * |x| + |y| or |x| - |y|, x >= y, x > y if it is a difference; of up to SUMMAND_BITS each. The
 * places below x's last bit hold all of y or nothing but a sticky bit.
 */
static inline struct number
sum_of_magnitudes(struct number x, struct number y, bool difference)
{
	int shift = x.exponent - y.exponent;
	uint64_t a = x.significand >> 1, b = y.significand >> 1;
	bool sticky = shift > 63 - SUMMAND_BITS;

	b = sticky ? 0 : b >> shift;
	if (!difference)
		return normalise(a + b, x.exponent - 62, sticky);
	return normalise(a - b - sticky, x.exponent - 62, sticky);
}

/* |x * y|, of two numbers of a format. */
static inline struct number
product_of_magnitudes(struct number x, struct number y)
{
	uint64_t product = (x.significand >> 32) * (y.significand >> 32);

	return normalise(product, x.exponent + y.exponent - 62, false);
}

/* The magnitudes of results, up to format->inf. */

static uint32_t
exact_sum(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	uint32_t magnitude_x = bits_magnitude(format, x), magnitude_y = bits_magnitude(format, y);
	bool difference = is_negative(format, x) != is_negative(format, y);

	if (magnitude_x < magnitude_y)
		return exact_sum(format, y, x);
	return netfc_round_nearest(format,
		sum_of_magnitudes(netfc_unpack(format, magnitude_x),
			netfc_unpack(format, magnitude_y), difference));
}

static uint32_t
exact_product(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	struct number a = netfc_unpack(format, bits_magnitude(format, x));
	struct number b = netfc_unpack(format, bits_magnitude(format, y));

	return netfc_round_nearest(format, product_of_magnitudes(a, b));
}

static uint32_t
exact_quotient(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	struct number a = netfc_unpack(format, bits_magnitude(format, x));
	struct number b = netfc_unpack(format, bits_magnitude(format, y));
	uint64_t divisor = b.significand >> (64 - SIG_BITS);
	uint64_t quotient = a.significand / divisor;
	bool sticky = quotient * divisor != a.significand;

	return netfc_round_nearest(
		format, normalise(quotient, a.exponent - b.exponent - (64 - SIG_BITS), sticky));
}

static uint32_t
exact_finite(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y)
{
	switch (op) {
	case NETFC_MUL:
		return exact_product(format, x, y);
	case NETFC_DIV:
		return exact_quotient(format, x, y);
	case NETFC_SUB:
	case NETFC_ADD:
	default:
		return exact_sum(format, x, y);
	}
}

struct netfc_result
netfc_exact(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y)
{
	uint32_t y_signed = op == NETFC_SUB ? negated(format, y) : y;
	uint32_t mx = bits_magnitude(format, x), my = bits_magnitude(format, y_signed);
	uint32_t word = netfc_decide(format,
		netfc_decide_key(op - NETFC_ADD, operand_class(format, x),
			operand_class(format, y_signed), is_negative(format, x),
			is_negative(format, y_signed),
			mx > my            ? NETFC_GREATER
				: mx == my ? NETFC_EQUAL
					   : NETFC_LESS));
	struct netfc_result result = {0, (uint8_t)netfc_decide_flags(word)};
	uint32_t magnitude;

	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		result.z = x;
		return result;
	case NETFC_FROM_Y:
		result.z = y_signed;
		return result;
	case NETFC_FROM_CONSTANT:
		result.z = decided_constant(format, word);
		return result;
	default:
		break;
	}
	magnitude = exact_finite(format, op, x, y_signed);
	result.z = rounded_bits(format, magnitude, netfc_decide_sign(word));
	result.flags = rounding_flags(format, magnitude);
	return result;
}

uint8_t
netfc_exact_lanes(const struct netfc_format *format, enum netfc_op op, const void *x, const void *y,
	void *z, uint8_t *flags, uint32_t count)
{
	uint8_t all = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		struct netfc_result result = netfc_exact(
			format, op, encoding_at(format, x, lane), encoding_at(format, y, lane));

		put_encoding(format, z, lane, result.z);
		if (flags != NULL)
			flags[lane] = result.flags;
		all |= result.flags;
	}
	return all;
}

/* Least, greatest, comparison, and the fused multiply-add. */

/* Of which the compiler says if one is missing. */
static const char *
name_of(enum netfc_extra_op op)
{
	switch (op) {
	case NETFC_MIN:
		return "min";
	case NETFC_MAX:
		return "max";
	case NETFC_COMPARE:
		return "compare";
	case NETFC_FMA:
		return "fma";
	}
	return NULL;
}

const char *
netfc_extra_name(unsigned op)
{
	return name_of((enum netfc_extra_op)op);
}

unsigned
netfc_extra_by_name(const char *name)
{
	for (unsigned op = NETFC_MIN; op < NETFC_EXTRA_END; op++) {
		if (strcmp(netfc_extra_name(op), name) == 0)
			return op;
	}
	return 0;
}

static bool
is_nan(const struct netfc_format *format, uint32_t bits)
{
	return operand_class(format, bits) == NETFC_NAN;
}

static bool
is_zero(const struct netfc_format *format, uint32_t bits)
{
	return operand_class(format, bits) == NETFC_ZERO;
}

static bool
is_infinite(const struct netfc_format *format, uint32_t bits)
{
	return operand_class(format, bits) == NETFC_INF;
}

/* Encodings in the order of their values, -0 before +0; NaR before all posits. */
static int
rank(const struct netfc_format *format, uint32_t bits)
{
	if (format->posit)
		return (int16_t)bits;
	return is_negative(format, bits) ? -1 - (int)bits_magnitude(format, bits) : (int)bits;
}

static struct netfc_result
number_result(uint32_t z)
{
	return (struct netfc_result){z, 0};
}

/* IEEE 754-2019, section 9.6: minimum and maximum, to which any NaN is one. */
static struct netfc_result
extremum(const struct netfc_format *format, uint32_t x, uint32_t y, bool greatest)
{
	if (is_nan(format, x) || is_nan(format, y))
		return number_result(format->nan);
	return number_result((rank(format, x) > rank(format, y)) == greatest ? x : y);
}

static struct netfc_result
compare(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	uint32_t one = netfc_round_nearest(format, (struct number){0, SIG_ONE, false});
	int a = rank(format, x), b = rank(format, y);

	if (!format->posit && (is_nan(format, x) || is_nan(format, y)))
		return number_result(format->nan);
	if (a == b || (is_zero(format, x) && is_zero(format, y)))
		return number_result(0);
	return number_result(signed_magnitude(format, one, a < b));
}

static struct netfc_result
rounded(const struct netfc_format *format, struct number number, bool negative)
{
	uint32_t magnitude = netfc_round_nearest(format, number);

	return (struct netfc_result){
		rounded_bits(format, magnitude, negative), rounding_flags(format, magnitude)};
}

static bool
is_less(struct number a, struct number b)
{
	return a.exponent < b.exponent ||
		(a.exponent == b.exponent && a.significand < b.significand);
}

static bool
is_equal(struct number a, struct number b)
{
	return a.exponent == b.exponent && a.significand == b.significand;
}

/* The sum of a product and z, none of them zero. */
static struct netfc_result
fused_sum(const struct netfc_format *format, struct number product, bool negative, uint32_t z)
{
	struct number addend = netfc_unpack(format, bits_magnitude(format, z));
	bool difference = negative != is_negative(format, z);

	if (difference && is_equal(product, addend))
		return number_result(0);
	if (is_less(product, addend))
		return rounded(format, sum_of_magnitudes(addend, product, difference),
			is_negative(format, z));
	return rounded(format, sum_of_magnitudes(product, addend, difference), negative);
}

/* z added to a zero product. */
static struct netfc_result
zero_product(const struct netfc_format *format, bool negative, uint32_t z)
{
	if (!is_zero(format, z))
		return number_result(z);
	return number_result(signed_magnitude(format, 0, negative && is_negative(format, z)));
}

/* An operand is infinite, none is NaN. */
static struct netfc_result
infinite_sum(const struct netfc_format *format, uint32_t x, uint32_t y, uint32_t z)
{
	bool negative = is_negative(format, x) != is_negative(format, y);
	bool infinite_product = is_infinite(format, x) || is_infinite(format, y);

	if (infinite_product && (is_zero(format, x) || is_zero(format, y)))
		return (struct netfc_result){format->nan, NETFC_INVALID};
	if (!infinite_product)
		return number_result(overflowed(format, is_negative(format, z)));
	if (is_infinite(format, z) && is_negative(format, z) != negative)
		return (struct netfc_result){format->nan, NETFC_INVALID};
	return number_result(overflowed(format, negative));
}

/* IEEE 754-2019, section 5.4.1: fusedMultiplyAdd. */
static struct netfc_result
fused_multiply_add(const struct netfc_format *format, uint32_t x, uint32_t y, uint32_t z)
{
	bool negative = is_negative(format, x) != is_negative(format, y);
	struct number product;

	if (is_nan(format, x) || is_nan(format, y) || is_nan(format, z))
		return number_result(format->nan);
	if (is_infinite(format, x) || is_infinite(format, y) || is_infinite(format, z))
		return infinite_sum(format, x, y, z);
	if (is_zero(format, x) || is_zero(format, y))
		return zero_product(format, negative, z);
	product = product_of_magnitudes(netfc_unpack(format, bits_magnitude(format, x)),
		netfc_unpack(format, bits_magnitude(format, y)));
	if (is_zero(format, z))
		return rounded(format, product, negative);
	return fused_sum(format, product, negative, z);
}

struct netfc_result
netfc_extra(const struct netfc_format *format, enum netfc_extra_op op, uint32_t x, uint32_t y,
	uint32_t z)
{
	switch (op) {
	case NETFC_MIN:
		return extremum(format, x, y, false);
	case NETFC_MAX:
		return extremum(format, x, y, true);
	case NETFC_COMPARE:
		return compare(format, x, y);
	case NETFC_FMA:
		return fused_multiply_add(format, x, y, z);
	}
	return number_result(format->nan);
}

uint8_t
netfc_extra_lanes(const struct netfc_format *format, enum netfc_extra_op op, const void *x,
	const void *y, void *z, uint8_t *flags, uint32_t count)
{
	uint8_t all = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		struct netfc_result result = netfc_extra(format, op, encoding_at(format, x, lane),
			encoding_at(format, y, lane), encoding_at(format, z, lane));

		put_encoding(format, z, lane, result.z);
		if (flags != NULL)
			flags[lane] = result.flags;
		all |= result.flags;
	}
	return all;
}
