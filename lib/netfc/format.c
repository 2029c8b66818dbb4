/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "internal.h"

#define DOUBLE_FRACTION_BITS 52
#define DOUBLE_BIAS 1023

/* The formats of 8 bits, for both ways to overflow. */
#define FP8_E4M3                                                                        \
	.id = NETFC_FP8_E4M3, .name = "fp8_e4m3", .title = "OCP OFP8 E4M3", .width = 8, \
	.exp_bits = 4, .fraction_bits = 3, .inf = 0x7f, .nan = 0x7f, .no_infinity = true
#define FP8_E5M2                                                                        \
	.id = NETFC_FP8_E5M2, .name = "fp8_e5m2", .title = "OCP OFP8 E5M2", .width = 8, \
	.exp_bits = 5, .fraction_bits = 2, .inf = 0x7c, .nan = 0x7e

/* By number; those of 8 and 16 bits. */
static const struct netfc_format formats[NETFC_SET_FORMAT_END] = {
	[NETFC_FP16] = {NETFC_FP16, "fp16", "IEEE 754 binary16", 16, false, 5, 10, 0x7c00, 0x7e00,
		1024, 15, false, false},
	[NETFC_POSIT16] = {NETFC_POSIT16, "posit16", "posit<16,1>", 16, true, 1, 0, 0x8000, 0x8000,
		512, 64, false, false},
	[NETFC_BF16] = {NETFC_BF16, "bf16", "bfloat16", 16, false, 8, 7, 0x7f80, 0x7fc0, 128, 15,
		false, false},
	[NETFC_POSIT16_ES2] = {NETFC_POSIT16_ES2, "posit16_es2", "posit<16,2>, Posit Standard 2022",
		16, true, 2, 0, 0x8000, 0x8000, 256, 64, false, false},
	[NETFC_FP8_E4M3] = {FP8_E4M3},
	[NETFC_FP8_E5M2] = {FP8_E5M2},
};

static const struct netfc_format saturating[] = {
	{FP8_E4M3, .saturates = true},
	{FP8_E5M2, .saturates = true},
};

static const struct netfc_format fp32 = {NETFC_FP32, "fp32", "IEEE 754 binary32", 32, false, 8, 23,
	NETFC_FP32_INF, NETFC_FP32_NAN, 0, 0, false, false};

const struct netfc_format *
netfc_fp32_format(void)
{
	return &fp32;
}

unsigned
netfc_format_width(const struct netfc_format *format)
{
	return format->width;
}

const struct netfc_format *
netfc_format_by_id(unsigned id)
{
	return id < NETFC_SET_FORMAT_END && formats[id].width != 0 ? &formats[id] : NULL;
}

const struct netfc_format *
netfc_format_saturating(const struct netfc_format *format)
{
	for (unsigned f = 0; f < sizeof(saturating) / sizeof(saturating[0]); f++) {
		if (saturating[f].id == format->id)
			return &saturating[f];
	}
	return NULL;
}

bool
netfc_format_saturates(const struct netfc_format *format)
{
	return format->saturates;
}

const struct netfc_format *
netfc_format_by_name(const char *name)
{
	const struct netfc_format *format;

	NETFC_FOREACH_FORMAT (format) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

enum netfc_format_id
netfc_format_id(const struct netfc_format *format)
{
	return format->id;
}

const char *
netfc_format_name(const struct netfc_format *format)
{
	return format->name;
}

const char *
netfc_format_title(const struct netfc_format *format)
{
	return format->title;
}

bool
netfc_format_is_posit(const struct netfc_format *format)
{
	return format->posit;
}

unsigned
netfc_format_max_scale(const struct netfc_format *format)
{
	return format->max_scale;
}

int
netfc_format_guard(const struct netfc_format *format)
{
	return format->guard;
}

uint32_t
netfc_nan(const struct netfc_format *format)
{
	return format->nan;
}

uint32_t
netfc_inf_magnitude(const struct netfc_format *format)
{
	return format->inf;
}

uint32_t
netfc_overflowed(const struct netfc_format *format, bool negative)
{
	return overflowed(format, negative);
}

bool
netfc_is_negative(const struct netfc_format *format, uint32_t bits)
{
	return is_negative(format, bits);
}

uint32_t
netfc_negate(const struct netfc_format *format, uint32_t bits)
{
	return negated(format, bits);
}

uint32_t
netfc_magnitude(const struct netfc_format *format, uint32_t bits)
{
	return bits_magnitude(format, bits);
}

uint32_t
netfc_with_sign(const struct netfc_format *format, uint32_t magnitude, bool negative)
{
	return signed_magnitude(format, magnitude, negative);
}

enum netfc_class
netfc_classify(const struct netfc_format *format, uint32_t bits)
{
	return operand_class(format, bits);
}

static int
exponent_bias(const struct netfc_format *format)
{
	return (1 << (format->exp_bits - 1)) - 1;
}

static struct number
unpack_ieee(const struct netfc_format *format, uint32_t magnitude)
{
	unsigned fraction_bits = format->fraction_bits;
	int exponent = (int)(magnitude >> fraction_bits);
	uint64_t significand = magnitude & ((1u << fraction_bits) - 1);
	struct number number = {.exponent = 1 - exponent_bias(format)};

	if (exponent > 0) {
		significand |= 1u << fraction_bits;
		number.exponent = exponent - exponent_bias(format);
	}
	number.significand = significand << (63 - fraction_bits);
	if (number.significand < SIG_ONE) {
		int zeros = __builtin_clzll(number.significand);

		number.significand <<= zeros;
		number.exponent -= zeros;
	}
	return number;
}

/* The number of leading bits of a posit's magnitude that are equal. */
static unsigned
regime_run(uint32_t magnitude)
{
	unsigned first = magnitude >> 14 & 1, run = 1;

	while (run < 15 && (magnitude >> (14 - run) & 1u) == first)
		run++;
	return run;
}

static struct number
unpack_posit(const struct netfc_format *format, uint32_t magnitude)
{
	unsigned run = regime_run(magnitude), es = format->exp_bits;
	int regime = magnitude >> 14 & 1 ? (int)run - 1 : -(int)run;
	/* The bits after the regime and its terminating bit, left-aligned; missing bits are zero.
	 */
	uint64_t rest = run + 1 < 15 ? (uint64_t)magnitude << (49 + run + 1) : 0;
	struct number number;

	number.exponent = regime * (1 << es) + (int)(rest >> (64 - es));
	number.significand = SIG_ONE | (rest << es) >> 1;
	number.sticky = false;
	return number;
}

struct number
netfc_unpack(const struct netfc_format *format, uint32_t magnitude)
{
	return format->posit ? unpack_posit(format, magnitude) : unpack_ieee(format, magnitude);
}

/* A quotient by a power of two, with the bits that rounding needs. */
struct shifted {
	uint64_t quotient;
	bool half; /* the first bit lost */
	bool rest; /* any other bit lost */
};

static struct shifted
shift_right(uint64_t value, unsigned bits, bool sticky)
{
	struct shifted shifted = {0, false, sticky || value != 0};

	if (bits > 64)
		return shifted;
	shifted.quotient = bits < 64 ? value >> bits : 0;
	shifted.half = value >> (bits - 1) & 1;
	shifted.rest = sticky || (value & ((UINT64_C(1) << (bits - 1)) - 1)) != 0;
	return shifted;
}

static uint64_t
half_even(struct shifted shifted)
{
	/* Without a branch, because it would be unpredictable. */
	return shifted.quotient + (shifted.half & (shifted.rest | (shifted.quotient & 1)));
}

/*
 * Exponent field and fraction field, unrounded. Subnormal numbers need no special case: a
 * significand without its hidden bit is their encoding. A carry into the exponent is intended.
 */
static struct shifted
encode_ieee(const struct netfc_format *format, struct number number)
{
	int bias = exponent_bias(format), least = 1 - bias;
	unsigned drop = 63 - format->fraction_bits;
	struct shifted shifted;

	if (number.exponent < least)
		return shift_right(number.significand, drop + (unsigned)(least - number.exponent),
			number.sticky);
	shifted = shift_right(number.significand, drop, number.sticky);
	shifted.quotient += (uint64_t)(number.exponent + bias - 1) << format->fraction_bits;
	return shifted;
}

/* Bits of the fraction that fit a 64-bit word after the longest regime and the exponent. */
#define POSIT_FRACTION 46

/* Regime, exponent and fraction as one string of bits, cut after the 15th. */
static struct shifted
encode_posit(const struct netfc_format *format, struct number number)
{
	unsigned es = format->exp_bits, length, tail = es + POSIT_FRACTION;
	uint64_t fraction = number.significand & ~SIG_ONE, bits;
	const uint64_t lost = (UINT64_C(1) << (63 - POSIT_FRACTION)) - 1;
	int regime = number.exponent >> es;

	if (regime >= 14)
		return (struct shifted){0x7fff, false, false};
	if (regime < -14)
		return (struct shifted){0, false, true};
	length = regime < 0 ? (unsigned)-regime + 1 : (unsigned)regime + 2;
	bits = regime < 0 ? 1 : (UINT64_C(1) << length) - 2;
	bits = bits << es | (unsigned)(number.exponent - regime * (1 << es));
	bits = bits << POSIT_FRACTION | fraction >> (63 - POSIT_FRACTION);
	return shift_right(bits, length + tail - 15, number.sticky || (fraction & lost) != 0);
}

static uint32_t
clamp_posit(uint64_t magnitude)
{
	return magnitude < 1 ? 1 : magnitude > 0x7fff ? 0x7fff : (uint32_t)magnitude;
}

static uint32_t
clamp_ieee(const struct netfc_format *format, uint64_t magnitude)
{
	return magnitude > format->inf ? format->inf : (uint32_t)magnitude;
}

uint32_t
netfc_round_nearest(const struct netfc_format *format, struct number number)
{
	if (format->posit)
		return clamp_posit(half_even(encode_posit(format, number)));
	return clamp_ieee(format, half_even(encode_ieee(format, number)));
}

uint32_t
netfc_round_down(const struct netfc_format *format, struct number number)
{
	if (format->posit)
		return clamp_posit(encode_posit(format, number).quotient);
	return clamp_ieee(format, encode_ieee(format, number).quotient);
}

double
netfc_decode(const struct netfc_format *format, uint32_t bits)
{
	double sign = is_negative(format, bits) ? -1 : 1;
	struct number number;

	switch (netfc_classify(format, bits)) {
	case NETFC_ZERO:
		return copysign(0, sign);
	case NETFC_INF:
		return copysign(INFINITY, sign);
	case NETFC_NAN:
		return NAN;
	case NETFC_FINITE:
	default:
		number = netfc_unpack(format, netfc_magnitude(format, bits));
		return sign * ldexp((double)number.significand, number.exponent - 63);
	}
}

/* A double but zero, by its bits without the sign. */
static struct number
number_of(uint64_t size)
{
	int exponent = (int)(size >> DOUBLE_FRACTION_BITS);
	uint64_t fraction = size & ((UINT64_C(1) << DOUBLE_FRACTION_BITS) - 1);
	int zeros;

	if (exponent == 0)
		exponent = 1;
	else
		fraction |= UINT64_C(1) << DOUBLE_FRACTION_BITS;
	zeros = __builtin_clzll(fraction);
	return (struct number){
		.exponent = exponent - DOUBLE_BIAS + 63 - DOUBLE_FRACTION_BITS - zeros,
		.significand = fraction << zeros,
	};
}

uint32_t
netfc_encode(const struct netfc_format *format, double value)
{
	uint64_t size;

	memcpy(&size, &value, sizeof(size));
	size &= INT64_MAX;
	if (isnan(value) || (format->posit && isinf(value)))
		return format->nan;
	if (isinf(value))
		return overflowed(format, signbit(value));
	/* By its bits: a program may have the processor take subnormal numbers for zero. */
	if (size == 0)
		return signed_magnitude(format, 0, signbit(value) && !format->posit);
	return rounded_bits(format, netfc_round_nearest(format, number_of(size)), signbit(value));
}
