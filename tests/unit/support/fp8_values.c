/* SPDX-License-Identifier: BSD-3-Clause */
#include "fp8_values.h"

#include <math.h>
#include <string.h>

static double
define(const struct fp8 *fp8, unsigned bits)
{
	const unsigned fraction_bits = fp8->e4m3 ? 3 : 2, magnitude = bits & 0x7f;
	const unsigned fraction = magnitude & ((1u << fraction_bits) - 1);
	const int exponent = (int)(magnitude >> fraction_bits), bias = fp8->e4m3 ? 7 : 15;
	const double sign = bits & 0x80 ? -1 : 1, part = ldexp(fraction, -(int)fraction_bits);

	if (magnitude > (fp8->e4m3 ? 0x7e : 0x7c))
		return NAN;
	if (!fp8->e4m3 && magnitude == 0x7c)
		return sign * INFINITY;
	return sign * (exponent == 0 ? ldexp(part, 1 - bias) : ldexp(1 + part, exponent - bias));
}

void
fp8_define(struct fp8 *fp8, const char *set)
{
	fp8->e4m3 = strncmp(set, "fp8_e4m3", 8) == 0;
	fp8->saturates = strstr(set, "_sat") != NULL;
	for (unsigned bits = 0; bits < 256; bits++)
		fp8->value[bits] = define(fp8, bits);
}

unsigned
fp8_greatest(const struct fp8 *fp8)
{
	return fp8->e4m3 ? 0x7e : 0x7b;
}

unsigned
fp8_nan(const struct fp8 *fp8)
{
	return fp8->e4m3 ? 0x7f : 0x7e;
}

static unsigned
with_sign(unsigned magnitude, bool negative)
{
	return magnitude | (negative ? 0x80 : 0);
}

unsigned
fp8_too_large(const struct fp8 *fp8, bool negative)
{
	if (fp8->saturates)
		return with_sign(fp8_greatest(fp8), negative);
	return fp8->e4m3 ? fp8_nan(fp8) : with_sign(0x7c, negative);
}

/* As if the exponent went on, for what lies after the greatest number. */
static double
value_or_next(const struct fp8 *fp8, unsigned magnitude)
{
	if (magnitude <= fp8_greatest(fp8))
		return fp8->value[magnitude];
	return fp8->e4m3 ? 480 : 65536;
}

unsigned
fp8_round(const struct fp8 *fp8, double exact, bool *over)
{
	const double size = fabs(exact);
	unsigned below = 0;

	*over = false;
	if (isnan(exact))
		return fp8_nan(fp8);
	if (isinf(exact))
		return fp8_too_large(fp8, signbit(exact));
	while (below < fp8_greatest(fp8) && fp8->value[below + 1] <= size)
		below++;
	if (size != fp8->value[below]) {
		const double half = (fp8->value[below] + value_or_next(fp8, below + 1)) / 2;

		below += size > half || (size == half && below % 2 == 1);
	}
	*over = below > fp8_greatest(fp8);
	return *over ? fp8_too_large(fp8, signbit(exact)) : with_sign(below, signbit(exact));
}
