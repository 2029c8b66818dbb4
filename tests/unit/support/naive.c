/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "naive.h"

/* Bits from the left; after the last one come zeros. */
struct reader {
	uint32_t bits;
	unsigned left;
};

static int
next_bit(struct reader *reader)
{
	return reader->left == 0 ? 0 : (int)(reader->bits >> --reader->left & 1);
}

/*
 * Posit Standard 2022, section 3.3: ((1 - 3s) + f) * 2^((1 - 2s) * (2^es * r + e + s)), which reads
 * the fields of negative numbers as they stand.
 */
double
naive_posit(uint32_t bits, unsigned width, unsigned es)
{
	struct reader reader = {bits, width};
	int s = next_bit(&reader), first = next_bit(&reader);
	int run = 1, r, e = 0;
	double f = 0;

	while (reader.left > 0 && next_bit(&reader) == first)
		run++;
	r = first ? run - 1 : -run;
	for (unsigned i = 0; i < es; i++)
		e = 2 * e + next_bit(&reader);
	for (double weight = 0.5; reader.left > 0; weight /= 2)
		f += weight * next_bit(&reader);
	return ldexp(1 - 3 * s + f, (1 - 2 * s) * (r * (1 << es) + e + s));
}

/* IEEE 754-2019, section 3.4. */
static double
ieee(uint16_t bits, unsigned exponent_bits, unsigned fraction_bits)
{
	int greatest = (1 << exponent_bits) - 1, bias = greatest / 2;
	int exponent = bits >> fraction_bits & greatest;
	double fraction = ldexp(bits & ((1 << fraction_bits) - 1), -(int)fraction_bits);
	double sign = bits >> 15 ? -1 : 1;

	if (exponent == greatest)
		return fraction == 0 ? sign * INFINITY : NAN;
	if (exponent == 0)
		return sign * ldexp(fraction, 1 - bias);
	return sign * ldexp(1 + fraction, exponent - bias);
}

/* A format of 16 bits: an IEEE format's bits of exponent and fraction, or a posit's es. */
struct shape {
	bool posit;
	unsigned exponent, fraction, es;
};

static struct shape
shape_of(enum netfc_format_id id)
{
	switch (id) {
	case NETFC_FP16:
		return (struct shape){.exponent = 5, .fraction = 10};
	case NETFC_BF16:
		return (struct shape){.exponent = 8, .fraction = 7};
	case NETFC_POSIT16:
		return (struct shape){.posit = true, .es = 1};
	case NETFC_POSIT16_ES2:
		return (struct shape){.posit = true, .es = 2};
	case NETFC_FP32:
	case NETFC_FP8_E4M3:
	case NETFC_FP8_E5M2:
		break;
	}
	return (struct shape){0};
}

static double
decode(enum netfc_format_id id, uint16_t bits)
{
	const struct shape shape = shape_of(id);

	if (!shape.posit)
		return ieee(bits, shape.exponent, shape.fraction);
	if (bits == 0)
		return 0;
	return bits == 0x8000 ? NAN : naive_posit(bits, 16, shape.es);
}

static bool
is_posit(enum netfc_format_id id)
{
	return shape_of(id).posit;
}

static uint32_t
end_of(enum netfc_format_id id)
{
	const struct shape shape = shape_of(id);

	return shape.posit ? 0x8000 : ((1u << shape.exponent) - 1) << shape.fraction;
}

/* The one NaN that results are. */
static uint16_t
nan_of(enum netfc_format_id id)
{
	const struct shape shape = shape_of(id);

	return (uint16_t)(shape.posit ? 0x8000 : end_of(id) | 1u << (shape.fraction - 1));
}

static uint32_t
least_of(enum netfc_format_id id)
{
	return is_posit(id) ? 1 : 0;
}

static uint32_t
greatest_of(enum netfc_format_id id)
{
	return is_posit(id) ? 0x7fff : end_of(id);
}

/* Half-way between neighbours; after the last one as if the exponent went on. */
static double
compute_boundary(enum netfc_format_id id, uint32_t magnitude)
{
	const struct shape shape = shape_of(id);
	double low, high;

	if (shape.posit)
		return naive_posit(magnitude << 1 | 1, 17, shape.es);
	low = decode(id, (uint16_t)magnitude);
	high = magnitude + 1 == end_of(id) ? ldexp(1, 1 << (shape.exponent - 1))
					   : decode(id, (uint16_t)(magnitude + 1));
	return (low + high) / 2;
}

/* All of a format, computed once. */
struct numbers {
	bool known;
	double value[0x10000];
	double boundary[0x8000];
	struct naive_range range[0x10000];
};

/* Numbers that round to a magnitude. A boundary belongs to the even one of its neighbours. */
static void
fill_range(struct numbers *numbers, enum netfc_format_id id, uint32_t magnitude)
{
	const uint32_t negative = is_posit(id) ? 0x10000 - magnitude : 0x8000 | magnitude;
	double least = magnitude == 0 ? 0 : DBL_TRUE_MIN,
	       greatest = is_posit(id) ? DBL_MAX : INFINITY;

	if (magnitude > least_of(id)) {
		least = numbers->boundary[magnitude - 1];
		least = magnitude % 2 == 1 ? nextafter(least, INFINITY) : least;
	}
	if (magnitude < greatest_of(id)) {
		greatest = numbers->boundary[magnitude];
		greatest = magnitude % 2 == 1 ? nextafter(greatest, 0) : greatest;
	}
	numbers->range[magnitude] = (struct naive_range){naive_order(least), naive_order(greatest)};
	numbers->range[negative] =
		(struct naive_range){naive_order(-greatest), naive_order(-least)};
}

static void
fill_ranges(struct numbers *numbers, enum netfc_format_id id)
{
	const struct naive_range none = {INT64_MAX, INT64_MIN};
	const struct naive_range nan = {naive_order(NAN), naive_order(NAN)};

	for (uint32_t bits = 0; bits < 0x10000; bits++)
		numbers->range[bits] = none;
	for (uint32_t u = least_of(id); u <= greatest_of(id); u++)
		fill_range(numbers, id, u);
	if (is_posit(id))
		numbers->range[0] = (struct naive_range){naive_order(-0.0), naive_order(0.0)};
	numbers->range[nan_of(id)] = nan;
}

static const struct numbers *
numbers_of(enum netfc_format_id id)
{
	static struct numbers all[NETFC_SET_FORMAT_END];
	struct numbers *numbers = &all[id];

	if (numbers->known)
		return numbers;
	for (uint32_t bits = 0; bits < 0x10000; bits++)
		numbers->value[bits] = decode(id, (uint16_t)bits);
	for (uint32_t u = least_of(id); u < greatest_of(id); u++)
		numbers->boundary[u] = compute_boundary(id, u);
	fill_ranges(numbers, id);
	numbers->known = true;
	return numbers;
}

const double *
naive_values(const struct netfc_format *format)
{
	return numbers_of(netfc_format_id(format))->value;
}

const struct naive_range *
naive_ranges(const struct netfc_format *format)
{
	return numbers_of(netfc_format_id(format))->range;
}

double
naive_value(const struct netfc_format *format, uint16_t bits)
{
	return numbers_of(netfc_format_id(format))->value[bits];
}

uint32_t
naive_end(const struct netfc_format *format)
{
	return end_of(netfc_format_id(format));
}

uint32_t
naive_least(const struct netfc_format *format)
{
	return least_of(netfc_format_id(format));
}

uint32_t
naive_greatest(const struct netfc_format *format)
{
	return greatest_of(netfc_format_id(format));
}

double
naive_boundary(const struct netfc_format *format, uint32_t magnitude)
{
	return numbers_of(netfc_format_id(format))->boundary[magnitude];
}

uint16_t
naive_round(const struct netfc_format *format, double value)
{
	const double *boundary = numbers_of(netfc_format_id(format))->boundary;
	uint32_t low = naive_least(format), high = naive_greatest(format);

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (value > boundary[middle] || (value == boundary[middle] && middle % 2 == 1))
			low = middle + 1;
		else
			high = middle;
	}
	return (uint16_t)low;
}

uint16_t
naive_encode(const struct netfc_format *format, double value)
{
	bool posit = is_posit(netfc_format_id(format));
	uint16_t magnitude = value == 0 ? 0 : naive_round(format, fabs(value));

	if (isnan(value) || (isinf(value) && posit))
		return nan_of(netfc_format_id(format));
	if (!signbit(value))
		return magnitude;
	return posit ? (uint16_t)(0x10000 - magnitude) : magnitude | 0x8000;
}

static double
apply(enum netfc_op op, double a, double b)
{
	switch (op) {
	case NETFC_ADD:
		return a + b;
	case NETFC_SUB:
		return a - b;
	case NETFC_MUL:
		return a * b;
	case NETFC_DIV:
		return a / b;
	}
	return NAN;
}

double
naive_result(const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y)
{
	const double *value = numbers_of(netfc_format_id(format))->value;

	return apply(op, value[x], value[y]);
}

static bool
is_ordinary(double value)
{
	return isfinite(value) && value != 0;
}

bool
naive_special(
	const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y, uint16_t *z)
{
	const double *value = numbers_of(netfc_format_id(format))->value;
	double result = apply(op, value[x], value[y]);

	if (is_ordinary(value[x]) && is_ordinary(value[y]) && result != 0)
		return false;
	*z = naive_encode(format, result);
	return true;
}

/* No result of these formats leaves the range of double: a zero there is a zero here. */
uint8_t
naive_flags(const struct netfc_format *format, enum netfc_op op, uint16_t x, uint16_t y, uint16_t z)
{
	const double *value = numbers_of(netfc_format_id(format))->value;
	double a = value[x], b = value[y], c = value[z];

	if (op == NETFC_DIV && b == 0 && is_ordinary(a))
		return NETFC_DIVBYZERO;
	if (isnan(c) && !isnan(a) && !isnan(b))
		return NETFC_INVALID;
	if (isinf(c) && isfinite(a) && isfinite(b))
		return NETFC_OVERFLOW;
	if (c == 0 && apply(op, a, b) != 0)
		return NETFC_UNDERFLOW;
	return 0;
}
