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

/* Operands, and what is made of them before it is rounded to a format, or rounded to odd. */
struct numbers {
	double x, y, z, exact;
};

/* The flags of x * y + z, which was rounded to `result`. */
static uint8_t
fma_flags(const struct numbers *n, double result)
{
	if (isnan(result))
		return isnan(n->x) || isnan(n->y) || isnan(n->z) ? 0 : NETFC_INVALID;
	if (isinf(result))
		return isfinite(n->x) && isfinite(n->y) && isfinite(n->z) ? NETFC_OVERFLOW : 0;
	return result == 0 && n->exact != 0 ? NETFC_UNDERFLOW : 0;
}

static uint8_t
flags_of(enum netfc_extra_op op, const struct numbers *n, double result)
{
	return op == NETFC_FMA ? fma_flags(n, result) : 0;
}

/* The lesser or the greater number; zeros are told apart by their signs. */
static inline double
extremum(double a, double b, bool greatest)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return (signbit(a) != 0) == greatest ? b : a;
	return (a > b) == greatest ? a : b;
}

/* NaR is a posit like others: less than all of them. */
static double
comparison(double a, double b, bool posit)
{
	if (posit && (isnan(a) || isnan(b)))
		return (isnan(b) ? 1 : 0) - (isnan(a) ? 1 : 0);
	if (isnan(a) || isnan(b))
		return NAN;
	return (a > b) - (a < b);
}

static double
exact(enum netfc_extra_op op, bool posit, const struct numbers *n)
{
	switch (op) {
	case NETFC_MIN:
	case NETFC_MAX:
		return extremum(n->x, n->y, op == NETFC_MAX);
	case NETFC_COMPARE:
		return comparison(n->x, n->y, posit);
	case NETFC_FMA:
		return sum_to_odd(n->x * n->y, n->z);
	}
	return NAN;
}

struct netfc_result
naive_extra(const struct netfc_format *format, enum netfc_extra_op op, uint16_t x, uint16_t y,
	uint16_t z)
{
	const double *value = naive_values(format);
	struct numbers n = {value[x], value[y], value[z], 0};
	uint16_t result;

	n.exact = exact(op, netfc_format_is_posit(format), &n);
	result = naive_encode(format, n.exact);
	return (struct netfc_result){result, flags_of(op, &n, value[result])};
}

/* `op` is a constant wherever this is used, so that no lane asks for it. */
static inline uint32_t
count_wrong(const struct netfc_format *format, const enum netfc_extra_op op,
	const struct naive_lanes *lanes)
{
	const bool posit = netfc_format_is_posit(format);
	const double *value = naive_values(format);
	const struct naive_range *ranges = naive_ranges(format);
	struct numbers n = {.x = value[lanes->x]};
	uint32_t wrong = 0;

	for (uint32_t l = 0; l < lanes->count; l++) {
		const struct naive_range range = ranges[lanes->result[l]];
		int64_t order;

		n.y = value[lanes->y[l]];
		n.z = value[lanes->z[l]];
		n.exact = exact(op, posit, &n);
		order = naive_order(isnan(n.exact) ? NAN : n.exact);
		wrong += order < range.least || order > range.greatest ||
			lanes->flags[l] != flags_of(op, &n, value[lanes->result[l]]);
	}
	return wrong;
}

uint32_t
naive_extra_wrong(
	const struct netfc_format *format, enum netfc_extra_op op, const struct naive_lanes *lanes)
{
	switch (op) {
	case NETFC_MIN:
		return count_wrong(format, NETFC_MIN, lanes);
	case NETFC_MAX:
		return count_wrong(format, NETFC_MAX, lanes);
	case NETFC_COMPARE:
		return count_wrong(format, NETFC_COMPARE, lanes);
	case NETFC_FMA:
		return count_wrong(format, NETFC_FMA, lanes);
	}
	return lanes->count;
}
