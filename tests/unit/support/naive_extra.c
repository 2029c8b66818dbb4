/* SPDX-License-Identifier: BSD-3-Clause */
#include "naive_extra.h"

#include <math.h>
#include <string.h>

/*
 * a + b rounded to odd: cut off, and the last bit set if that lost anything. So no further rounding
 * to a few bits less is wrong (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums",
 * 2008).
 */
static double
sum_to_odd(double a, double b)
{
	double sum = a + b, part = sum - a;
	double error = (a - (sum - part)) + (b - part); /* Knuth's two-sum */
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	if (!isfinite(sum) || error == 0 || bits & 1)
		return sum;
	bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
	memcpy(&sum, &bits, sizeof(sum));
	return sum;
}

static bool
is_real(const struct netfc_format *format, uint16_t bits)
{
	return isfinite(naive_value(format, bits));
}

static bool
is_no_number(const struct netfc_format *format, uint16_t bits)
{
	return isnan(naive_value(format, bits));
}

/* The flags of x * y + z, which is `exact` and was rounded to `result`. */
static uint8_t
fma_flags(const struct netfc_format *format, uint16_t x, uint16_t y, uint16_t z, double exact,
	uint16_t result)
{
	double rounded = naive_value(format, result);

	if (isnan(rounded))
		return is_no_number(format, x) || is_no_number(format, y) || is_no_number(format, z)
			? 0
			: NETFC_INVALID;
	if (isinf(rounded))
		return is_real(format, x) && is_real(format, y) && is_real(format, z)
			? NETFC_OVERFLOW
			: 0;
	return rounded == 0 && exact != 0 ? NETFC_UNDERFLOW : 0;
}

/* The lesser or the greater number; zeros are told apart by their signs. */
static double
extremum(double a, double b, bool greatest)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return (signbit(a) != 0) == greatest ? b : a;
	return (a > b) == greatest ? a : b;
}

static double
comparison(const struct netfc_format *format, uint16_t x, uint16_t y)
{
	double a = naive_value(format, x), b = naive_value(format, y);

	if (netfc_format_is_posit(format) && (isnan(a) || isnan(b)))
		return (isnan(b) ? 1 : 0) - (isnan(a) ? 1 : 0);
	if (isnan(a) || isnan(b))
		return NAN;
	return (a > b) - (a < b);
}

/* The result before it is rounded, or rounded to odd. */
static double
value_of(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x, uint16_t y,
	uint16_t z)
{
	double a = naive_value(format, x), b = naive_value(format, y);

	switch (op) {
	case NETFC_MIN:
	case NETFC_MAX:
		return extremum(a, b, op == NETFC_MAX);
	case NETFC_COMPARE:
		return comparison(format, x, y);
	case NETFC_FMA:
	default:
		return sum_to_odd(a * b, naive_value(format, z));
	}
}

struct netfc_result
naive_extra(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x, uint16_t y,
	uint16_t z)
{
	double value = value_of(format, op, x, y, z);
	struct netfc_result result = {naive_encode(format, value), 0};

	if (op == NETFC_FMA)
		result.flags = fma_flags(format, x, y, z, value, result.z);
	return result;
}

bool
naive_extra_is(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x, uint16_t y,
	uint16_t z, struct netfc_result result)
{
	double value = value_of(format, op, x, y, z);
	uint8_t flags = 0;

	if (op == NETFC_FMA)
		flags = fma_flags(format, x, y, z, value, result.z);
	return flags == result.flags && naive_encodes(format, value, result.z);
}
