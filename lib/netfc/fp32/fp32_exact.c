/* SPDX-License-Identifier: BSD-3-Clause */
/* binary32's correctly rounded result, in integers: unpack, compute, round (IEEE 754-2019, 4.3). */
#include "fp32/fp32_family.h"

#define MAGNITUDE (~NETFC_FP32_SIGN)
/* A significand's bits below its leading one, in 64 bits. */
#define DROP (64 - FP32_SIGNIFICAND)
/* Room for the smaller operand of a sum; what goes beyond is a sticky bit. */
#define ROOM 38

/* value = significand * 2^exponent, the significand's bit 23 set. */
struct unpacked {
	uint64_t significand;
	int exponent;
};

/* A finite number other than zero. */
static struct unpacked
unpack(uint32_t magnitude)
{
	int exponent = (int)(magnitude >> FP32_FRACTION), zeros;
	uint32_t fraction = magnitude & low_mask(FP32_FRACTION);

	if (exponent == 0) {
		zeros = __builtin_clz(fraction) - (32 - FP32_SIGNIFICAND);
		fraction <<= zeros;
		exponent = 1 - zeros;
	}
	return (struct unpacked){
		fraction | 1u << FP32_FRACTION, exponent - FP32_BIAS - FP32_FRACTION};
}

/*
 * The magnitude nearest to wide * 2^exponent, wide not zero; `sticky` says that the value is a bit
 * greater, by less than a unit of wide's last place.
 */
static uint32_t
round_magnitude(uint64_t wide, int exponent, bool sticky)
{
	int zeros = __builtin_clzll(wide), leading = exponent + 63 - zeros;
	int below = 1 - FP32_BIAS - leading;
	unsigned drop = DROP + (below > 0 ? (unsigned)below : 0);
	uint64_t quotient, half, rest;

	wide <<= zeros;
	if (drop > 64)
		return 0;
	quotient = drop < 64 ? wide >> drop : 0;
	half = wide >> (drop - 1) & 1;
	rest = sticky || (wide & ((UINT64_C(1) << (drop - 1)) - 1)) != 0;
	quotient += half & (rest | quotient);
	/* The hidden bit is part of the significand; a carry into the exponent is intended. */
	if (below <= 0)
		quotient += (uint64_t)(leading + FP32_BIAS - 1) << FP32_FRACTION;
	return quotient < NETFC_FP32_INF ? (uint32_t)quotient : NETFC_FP32_INF;
}

/* |x| + |y| or |x| - |y|; |x| > |y| if it is a difference. */
static uint32_t
sum(struct unpacked x, struct unpacked y, bool difference)
{
	int shift = x.exponent - y.exponent;
	uint64_t a = x.significand << ROOM, b = y.significand << ROOM;
	bool sticky = shift > ROOM;

	b = sticky ? 0 : b >> shift;
	/* A bit less than a is a bit more than a - 1. */
	return round_magnitude(difference ? a - b - sticky : a + b, x.exponent - ROOM, sticky);
}

static uint32_t
product(struct unpacked x, struct unpacked y)
{
	return round_magnitude(x.significand * y.significand, x.exponent + y.exponent, false);
}

static uint32_t
quotient(struct unpacked x, struct unpacked y)
{
	uint64_t wide = x.significand << ROOM;

	return round_magnitude(
		wide / y.significand, x.exponent - y.exponent - ROOM, wide % y.significand != 0);
}

static uint32_t
finite_result(enum netfc_op op, uint32_t x, uint32_t y, bool difference)
{
	struct unpacked a = unpack(x), b = unpack(y);

	if (op == NETFC_MUL)
		return product(a, b);
	if (op == NETFC_DIV)
		return quotient(a, b);
	return x > y ? sum(a, b, difference) : sum(b, a, difference);
}

static enum netfc_class
class_of(uint32_t magnitude)
{
	if (magnitude == 0)
		return NETFC_ZERO;
	if (magnitude < NETFC_FP32_INF)
		return NETFC_FINITE;
	return magnitude == NETFC_FP32_INF ? NETFC_INF : NETFC_NAN;
}

static uint32_t
compare(uint32_t x, uint32_t y)
{
	if (x == y)
		return NETFC_EQUAL;
	return x > y ? NETFC_GREATER : NETFC_LESS;
}

struct netfc_fp32_result
netfc_fp32_exact(enum netfc_op op, uint32_t x, uint32_t y)
{
	uint32_t y_signed = op == NETFC_SUB ? y ^ NETFC_FP32_SIGN : y;
	uint32_t mx = x & MAGNITUDE, my = y & MAGNITUDE, word, z;

	word = netfc_decide(netfc_fp32_format(),
		netfc_decide_key(op - NETFC_ADD, class_of(mx), class_of(my), x >> 31,
			y_signed >> 31, compare(mx, my)));
	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		return (struct netfc_fp32_result){x, 0};
	case NETFC_FROM_Y:
		return (struct netfc_fp32_result){y_signed, 0};
	case NETFC_FROM_CONSTANT:
		return (struct netfc_fp32_result){
			netfc_decide_constant(word) << 16, (uint8_t)netfc_decide_flags(word)};
	default:
		break;
	}
	z = finite_result(op, mx, my, (x ^ y_signed) >> 31);
	return (struct netfc_fp32_result){z | netfc_decide_sign(word) << 31,
		z == 0                        ? NETFC_UNDERFLOW
			: z == NETFC_FP32_INF ? NETFC_OVERFLOW
					      : 0};
}

uint8_t
netfc_fp32_exact_lanes(enum netfc_op op, const uint32_t *x, const uint32_t *y, uint32_t *z,
	uint8_t *flags, uint32_t count)
{
	uint8_t all = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		struct netfc_fp32_result result = netfc_fp32_exact(op, x[lane], y[lane]);

		z[lane] = result.z;
		if (flags != NULL)
			flags[lane] = result.flags;
		all |= result.flags;
	}
	return all;
}
