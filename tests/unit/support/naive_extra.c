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
	return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

static struct netfc_result
fma_result(const struct netfc_format *format, uint16_t x, uint16_t y, uint16_t z)
{
	double a = naive_value(format, x), b = naive_value(format, y), c = naive_value(format, z);
	double exact = sum_to_odd(a * b, c);
	struct netfc_result result = {naive_encode(format, exact), 0};
	double rounded = naive_value(format, result.z);

	if (isnan(rounded) && !isnan(a) && !isnan(b) && !isnan(c))
		result.flags = NETFC_INVALID;
	else if (isinf(rounded) && isfinite(a) && isfinite(b) && isfinite(c))
		result.flags = NETFC_OVERFLOW;
	else if (rounded == 0 && exact != 0)
		result.flags = NETFC_UNDERFLOW;
	return result;
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

struct netfc_result
naive_extra(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x, uint16_t y,
	uint16_t z)
{
	double a = naive_value(format, x), b = naive_value(format, y);

	switch (op) {
	case NETFC_MIN:
	case NETFC_MAX:
		return (struct netfc_result){
			naive_encode(format, extremum(a, b, op == NETFC_MAX)), 0};
	case NETFC_COMPARE:
		return (struct netfc_result){naive_encode(format, comparison(format, x, y)), 0};
	case NETFC_FMA:
	default:
		return fma_result(format, x, y, z);
	}
}
