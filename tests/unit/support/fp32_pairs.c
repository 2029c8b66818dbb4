/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <string.h>

#include "fp32_pairs.h"
#include "ieee_flags.h"
#include "unit.h"

#define FRACTION 23
#define FRACTIONS 0x7fffffu
#define SIGN NETFC_FP32_SIGN

/* `bits` with another exponent, which wraps. */
static uint32_t
with_exponent(uint32_t bits, uint32_t exponent)
{
	return (bits & (SIGN | FRACTIONS)) | (exponent & 0xff) << FRACTION;
}

static uint32_t
exponent_of(uint32_t bits)
{
	return bits >> FRACTION & 0xff;
}

/* A number below `end`. */
static uint32_t
below(uint64_t random, uint32_t end)
{
	return (uint32_t)((random >> 32) * end >> 32);
}

/* Some lowest bits set, and of half of them all others. */
static uint32_t
run_of_ones(uint32_t bits, uint64_t random)
{
	uint32_t ones = (1u << below(random, FRACTION + 1)) - 1;

	return (bits & ~FRACTIONS) | ((random & 1 ? ones : ~ones) & FRACTIONS);
}

/* An integer as a significand, with that sign and exponent. */
static uint32_t
from_integer(uint32_t integer, uint32_t bits)
{
	return (bits & ~FRACTIONS) |
		(integer << (__builtin_clz(integer | 1) - (31 - FRACTION)) & FRACTIONS);
}

/* One pair of a kind: random bits in x, y and r. */
static void
shape(unsigned kind, uint32_t *x, uint32_t *y, uint64_t r)
{
	const uint32_t e = exponent_of(*x), p = below(r, 4095) + 1, q = 4095 - below(r << 16, 4095);

	switch (kind) {
	case 1: /* exponents close to each other */
		*y = with_exponent(*y, e + below(r, 60) - 30);
		break;
	case 2: /* both subnormal */
		*x = with_exponent(*x, 0);
		*y = with_exponent(*y, 0);
		break;
	case 3: /* all but equal */
		*y = (*x ^ (r & 1 ? SIGN : 0)) + below(r, 9) - 4;
		break;
	case 4: /* few bits: exact results and ties */
		*x &= 0xfffff000;
		*y = with_exponent(*y & 0xfffff000, e + below(r, 60) - 30);
		break;
	case 5: /* sums at the edge of overflow */
		*x = with_exponent(*x, 254);
		*y = with_exponent(*y, 254 - below(r, 26));
		break;
	case 6: /* carries through all bits */
		*x = run_of_ones(*x, r);
		*y = with_exponent(run_of_ones(*y, r << 7), e + below(r << 12, 60) - 30);
		break;
	case 7: /* products at the edge of overflow */
		*y = with_exponent(*y, 380 - e + below(r, 3));
		break;
	case 8: /* subnormal products */
		*y = with_exponent(*y, 127 - e - below(r, 27));
		break;
	case 9: /* subnormal quotients */
		*y = with_exponent(*y, e + 126 + below(r, 27));
		break;
	case 10: /* quotients at the edge of overflow */
		*y = with_exponent(*y, e - 127 + below(r, 3) - 1);
		break;
	case 11:
		*x = with_exponent(*x, 0);
		break;
	case 12:
		*y = with_exponent(*y, 0);
		break;
	case 13: /* quotients that are exact */
		*x = from_integer(p * q, *x);
		*y = from_integer(q, *y);
		break;
	case 14: /* subnormal ties: exact quotients, products of few bits */
		*x = with_exponent(from_integer(p * q, *x), 1 + below(r << 8, 30));
		*y = with_exponent(from_integer(q, *y), 127 + below(r << 24, 26));
		break;
	case 15: /* the same with a power of two */
		*y = with_exponent(*y, r & 1 ? 127 - e - below(r, 27) : e + 126 + below(r, 27)) &
			~FRACTIONS;
		break;
	default:
		break;
	}
}

static inline void
random_pair(unsigned kind, uint64_t *seed, uint32_t *x, uint32_t *y)
{
	uint64_t both = next_random(seed);

	*x = (uint32_t)both;
	*y = (uint32_t)(both >> 32);
	shape(kind, x, y, next_random(seed));
}

void
fp32_random_pairs(uint64_t *seed, uint32_t *x, uint32_t *y, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		random_pair(n % FP32_KINDS, seed, &x[n], &y[n]);
}

void
fp32_pairs_of_kind(unsigned kind, uint64_t *seed, uint32_t *x, uint32_t *y, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		random_pair(kind, seed, &x[n], &y[n]);
}

void
fp32_crossed_pairs(uint32_t first, uint32_t *x, uint32_t *y, unsigned count)
{
	static const uint32_t edges[FP32_EDGES] = {0, 1, 0x400000, 0x7ffffe, 0x7fffff};

	/* A sign and an exponent are 9 bits. */
	for (unsigned n = 0; n < count; n++) {
		uint32_t number = first + n, edge = number >> 18;

		x[n] = (number & 0x1ff) << FRACTION | edges[edge % FP32_EDGES];
		y[n] = (number >> 9 & 0x1ff) << FRACTION | edges[edge / FP32_EDGES % FP32_EDGES];
	}
}

/* ---- binary32 by the processor: `float` rounds to nearest, ties to even, as C programs start ----
 */

_Static_assert(FLT_EVAL_METHOD == 0, "float is computed as float");

static float
result(enum netfc_op op, float x, float y)
{
	switch (op) {
	case NETFC_SUB:
		return x - y;
	case NETFC_MUL:
		return x * y;
	case NETFC_DIV:
		return x / y;
	case NETFC_ADD:
	default:
		return x + y;
	}
}

void
fp32_processor(enum netfc_op op, const uint32_t *x, const uint32_t *y, uint32_t *z, uint8_t *flags,
	unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		float a, b, c;

		memcpy(&a, &x[n], sizeof(a));
		memcpy(&b, &y[n], sizeof(b));
		c = result(op, a, b);
		memcpy(&z[n], &c, sizeof(c));
		if ((z[n] & ~NETFC_FP32_SIGN) > NETFC_FP32_INF)
			z[n] = NETFC_FP32_NAN;
		flags[n] = ieee_flags(op, x[n] & ~NETFC_FP32_SIGN, y[n] & ~NETFC_FP32_SIGN,
			z[n] & ~NETFC_FP32_SIGN, NETFC_FP32_INF);
	}
}
