/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUMBER_H
#define NUMBER_H

/**
 * @file
 * Encodings to integers, and exact numbers back to encodings, rounded once. Without a branch, and
 * in operations that vectors have.
 */

#include <string.h>

#include <netfc_arith.h>

#include "aggregate_lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* Exponent and significand of the IEEE 754 formats, and of those of OFP8, which are like them. */
struct ieee {
	int fraction_bits;
	int bias;
	uint32_t sign, inf, nan; /* inf: what is too large, NaN if there is no infinity */
};

static const struct ieee fp16 = {10, 15, 0x8000, 0x7c00, 0x7e00};
static const struct ieee bf16 = {7, 127, 0x8000, 0x7f80, 0x7fc0};
static const struct ieee fp8_e4m3 = {3, 7, 0x80, 0x7f, 0x7f};
static const struct ieee fp8_e5m2 = {2, 15, 0x80, 0x7c, 0x7e};
static const struct ieee fp32 = {23, 127, 0x80000000, 0x7f800000, 0x7fc00000};

#define POSIT_NAR 0x8000

/* The weight of the least bit of a sum: posits' least is 2^-28, with two exponent bits 2^-56. */
#define FP16_UNIT (-24)
#define FP8_E4M3_UNIT (-9)
#define FP8_E5M2_UNIT (-16)
#define POSIT16_UNIT (-28)
#define POSIT16_ES2_UNIT (-56)
/* Bins begin with exponent 0, which no number has. */
#define BINS_UNIT (-150)

/*
 * The magnitude of an exact number other than zero: significand * 2^(exponent - 62), bit 62 of the
 * significand set. Bit 0 is set as well if anything lies below it; nobody rounds as far down.
 */
struct exact {
	uint64_t significand;
	int exponent;
};

INLINE bool
has_infinity(struct ieee format)
{
	return format.inf != format.nan;
}

/* Whether a magnitude is NaN. */
INLINE bool
is_nan(struct ieee format, uint32_t magnitude)
{
	return magnitude >= format.inf + has_infinity(format);
}

/* Workers to divide by: floor(x / workers) = x * multiplier >> shift for x < 2^31. */
struct divisor {
	uint32_t workers, multiplier;
	int shift;
};

INLINE struct divisor
divisor_of(unsigned int workers)
{
	int shift = 31 + (workers > 1 ? 32 - __builtin_clz(workers - 1) : 0);

	return (struct divisor){
		workers, (uint32_t)(((UINT64_C(1) << shift) + workers - 1) / workers), shift};
}

/* magnitude * 2^unit; 0 < magnitude < 2^63. */
INLINE struct exact
exact_of(uint64_t magnitude, int unit)
{
	int zeros = __builtin_clzll(magnitude | 1);

	return (struct exact){magnitude << (zeros - 1), 63 - zeros + unit};
}

/* The quotient keeps 25 bits or more, and whether it has others. */
INLINE struct exact
divide(struct exact number, struct divisor divisor)
{
	uint32_t upper = (uint32_t)(number.significand >> 32);
	uint32_t quotient = (uint32_t)((uint64_t)upper * divisor.multiplier >> divisor.shift);
	uint32_t rest = (uint32_t)number.significand | (upper - quotient * divisor.workers);
	struct exact result = exact_of(quotient, number.exponent - 30);

	result.significand |= rest != 0;
	return result;
}

/* The magnitude's encoding, ties to even; infinity, if it is too large. */
INLINE uint64_t
round_binary(int fraction_bits, int bias, uint64_t inf, struct exact number)
{
	int biased = number.exponent + bias;
	int least = biased > 1 ? biased : 1;
	int shift = 62 - fraction_bits + least - biased;
	uint64_t places = (uint64_t)(shift < 63 ? shift : 63);
	uint64_t half = UINT64_C(1) << (places - 1);
	uint64_t odd = number.significand >> places & 1;
	uint64_t rounded = (number.significand + half - 1 + odd) >> places;
	uint64_t bits = (shift > 63 ? 0 : rounded) + ((uint64_t)(least - 1) << fraction_bits);

	return bits < inf ? bits : inf;
}

INLINE uint32_t
round_ieee(struct ieee format, struct exact number)
{
	return (uint32_t)round_binary(format.fraction_bits, format.bias, format.inf, number);
}

/*
 * The encoding of magnitude * 2^unit: a double has it exactly, of which all but the upper bits of
 * its fraction are rounded away. Where it may be subnormal, it is counted in units of the least of
 * these, in which what has no more bits than a significand is its own encoding. The magnitude is
 * below 2^53, in these units as well.
 */
INLINE uint32_t
round_units(struct ieee format, int unit, int64_t units)
{
	const int least = 1 - format.bias - format.fraction_bits;
	const bool subnormal = unit < 1 - format.bias;
	const int64_t magnitude = units << (subnormal ? unit - least : 0);
	const int64_t encodings = subnormal ? INT64_C(2) << format.fraction_bits : 1;
	const int cut = 52 - format.fraction_bits;
	const uint64_t rebias = (uint64_t)(1023 - format.bias - (subnormal ? least : unit))
		<< format.fraction_bits;
	const double number = (double)magnitude;
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	bits += (UINT64_C(1) << (cut - 1)) - 1 + (bits >> cut & 1);
	bits = (bits >> cut) - rebias;
	bits = magnitude < encodings ? (uint64_t)magnitude : bits;
	return (uint32_t)(bits < format.inf ? bits : format.inf);
}

/* A rounded magnitude with its sign, which NaN has not. */
INLINE uint32_t
with_sign(struct ieee format, uint32_t magnitude, bool negative)
{
	return magnitude | (negative && magnitude < format.nan ? format.sign : 0);
}

/*
 * The magnitude's encoding, ties to even, never zero: regime, exponent and fraction after each
 * other, cut to 15 bits.
 */
INLINE uint32_t
round_posit(int exponent_bits, struct exact number)
{
	int most = 14 << exponent_bits;
	int exponent = number.exponent > most ? most
		: number.exponent < -most     ? -most
					      : number.exponent;
	int regime = exponent >> exponent_bits;
	int places = regime >= 0 ? regime : -regime - 1;
	uint64_t fraction = number.significand & ((UINT64_C(1) << 62) - 1);
	uint64_t start = regime >= 0 ? 2 : 1;
	uint64_t low = (uint64_t)exponent & ((1u << exponent_bits) - 1);
	uint64_t bits = start << 62 | low << (62 - exponent_bits) | fraction >> exponent_bits |
		(fraction & ((1u << exponent_bits) - 1));
	uint64_t shifted =
		(uint64_t)((int64_t)bits >> places) | ((bits & ((UINT64_C(1) << places) - 1)) != 0);
	uint64_t odd = shifted >> 49 & 1;
	uint32_t rounded = (uint32_t)((shifted + ((UINT64_C(1) << 48) - 1) + odd) >> 49);

	return number.exponent > most ? 0x7fff : number.exponent < -most ? 1 : rounded;
}

/* Multiples of the least subnormal, for formats of few exponents; an infinity or a NaN gives some
 * number. */
INLINE uint64_t
ieee_integer(struct ieee format, uint32_t bits)
{
	uint32_t hidden = UINT32_C(1) << format.fraction_bits;
	uint32_t exponent = (bits & (format.sign - 1)) >> format.fraction_bits;
	uint64_t significand = (bits & (hidden - 1)) | (exponent != 0 ? hidden : 0);
	uint64_t magnitude = significand << (exponent - (exponent != 0));
	uint64_t sign = -(uint64_t)((bits & format.sign) != 0);

	return (magnitude ^ sign) - sign;
}

/* The same, in 32 bits. */
INLINE int32_t
fp8_e4m3_integer(uint32_t bits)
{
	uint32_t exponent = bits >> 3 & 0xf;
	uint32_t significand = (bits & 7) | (uint32_t)(exponent != 0) << 3;
	uint32_t magnitude = significand << (exponent - (exponent != 0));
	uint32_t sign = -(bits >> 7);

	return (int32_t)((magnitude ^ sign) - sign);
}

/* A posit's magnitude: significand * 2^(exponent - 15), significand 0 or of 16 bits. */
INLINE uint32_t
posit_unpack(int exponent_bits, uint32_t bits, int *exponent)
{
	uint32_t magnitude = (bits & 0x8000 ? -bits : bits) & 0x7fff;
	uint32_t x = magnitude << 17;
	uint32_t ones = -(x >> 31);
	int run = __builtin_clz((x ^ ones) | 0x10000);
	uint32_t rest = x << run << 1;
	int regime = ones ? run - 1 : -run;

	*exponent = regime * (1 << exponent_bits) + (int)(rest >> (32 - exponent_bits));
	rest = 0x8000 | rest << exponent_bits >> 17;
	return magnitude == 0 ? 0 : rest;
}

/* Multiples of 2^-28; NaR gives some number. What a rotation to the right would carry round is 0.
 */
INLINE uint64_t
posit16_integer(uint32_t bits)
{
	int exponent;
	uint64_t significand = posit_unpack(1, bits, &exponent);
	uint32_t places = (uint32_t)(exponent - 15 - POSIT16_UNIT);
	uint64_t magnitude = significand << (places & 63) | significand >> (-places & 63);
	uint64_t sign = -(uint64_t)(bits >> 15);

	return (magnitude ^ sign) - sign;
}

/* Multiples of 2^-56. */
INLINE unsigned __int128
posit16_es2_integer(uint32_t bits)
{
	int exponent;
	unsigned __int128 significand = posit_unpack(2, bits, &exponent);
	/* Zero's exponent is out of range. */
	unsigned __int128 magnitude = significand << ((exponent - POSIT16_ES2_UNIT) & 127) >> 15;
	unsigned __int128 sign = -(unsigned __int128)(bits >> 15);

	return (magnitude ^ sign) - sign;
}

/* magnitude * 2^unit; not zero, below 2^127. */
INLINE struct exact
exact_of_quire(unsigned __int128 magnitude, int unit)
{
	uint64_t upper = (uint64_t)(magnitude >> 64), lower = (uint64_t)magnitude;
	int zeros = upper != 0 ? __builtin_clzll(upper) : 64 + __builtin_clzll(lower | 1);
	unsigned __int128 shifted = magnitude << (zeros - 1);

	return (struct exact){
		(uint64_t)(shifted >> 64) | ((uint64_t)shifted != 0), 127 - zeros + unit};
}

/*
 * The quotient by up to 256: what is only told by the last bit of the number does not matter then,
 * as that many times what lies half-way between two results has no more than 62 bits.
 */
INLINE struct exact
divide_finely(struct exact number, unsigned int workers)
{
	const uint64_t upper = number.significand >> 1; /* without what tells of more */
	const uint64_t quotient = upper / workers;
	const uint64_t rest = (upper % workers) << 36;
	const unsigned __int128 whole = (unsigned __int128)quotient << 36 | rest / workers;
	struct exact result = exact_of_quire(whole, number.exponent - 62 + 1 - 36);

	result.significand |= rest % workers != 0 || (number.significand & 1) != 0;
	return result;
}

/* A mean of integers, to nearest, ties to even. */
INLINE int64_t
mean_of(int64_t sum, int64_t workers)
{
	int64_t sign = -(int64_t)(sum < 0), magnitude = (sum ^ sign) - sign;
	int64_t quotient = magnitude / workers, twice = 2 * (magnitude % workers);

	quotient += twice > workers || (twice == workers && (quotient & 1) != 0);
	return (quotient ^ sign) - sign;
}

/* The nearest int32. */
INLINE int64_t
saturated(int64_t sum)
{
	return sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
}

/*
 * Integers of many digits of 32 bits, each in an int64 with room for carries: what rounding needs
 * of them.
 */

#define DIGIT_BITS 32
#define MAX_DIGITS 136

/* A total's magnitude: 96 bits of it at the top, and whether there is more of it below. */
struct magnitude {
	unsigned __int128 upper; /* in units of 2^(32 digit); 0: the total is zero */
	uint32_t digit;
	bool negative, more;
	uint32_t next; /* the digit below `upper`, which `more` tells of as well */
	bool rest;     /* whether there is more below that one */
};

INLINE struct magnitude
magnitude_of(const int64_t *bins, uint32_t count)
{
	uint32_t digits[MAX_DIGITS + 2], top = count + 1;
	struct magnitude result = {.upper = 0};
	uint64_t borrow;
	int64_t sum = 0;

	for (uint32_t b = 0; b < count; b++, sum >>= DIGIT_BITS) {
		sum += bins[b];
		digits[b] = (uint32_t)sum;
	}
	digits[count] = (uint32_t)sum;
	digits[count + 1] = (uint32_t)(sum >> DIGIT_BITS);
	result.negative = sum < 0;
	borrow = result.negative;
	for (uint32_t d = 0; result.negative && d < count + 2; d++) {
		borrow += (uint32_t)~digits[d];
		digits[d] = (uint32_t)borrow;
		borrow >>= DIGIT_BITS;
	}
	while (top > 2 && digits[top] == 0)
		top--;
	result.digit = top - 2;
	for (uint32_t d = top + 1; d-- > result.digit;)
		result.upper = result.upper << DIGIT_BITS | digits[d];
	for (uint32_t d = 0; d + 1 < result.digit; d++)
		result.rest |= digits[d] != 0;
	result.next = result.digit > 0 ? digits[result.digit - 1] : 0;
	result.more = result.rest || result.next != 0;
	return result;
}

/*
 * A magnitude, other than zero and in units of 2^unit, divided by up to 2^24, to 60 bits or more,
 * and whether there are others. What there is of the magnitude is a whole number that is divided
 * without a rounding, or has more than 2^24 times as many bits as are kept: what lies below does
 * not make up for the remainder.
 */
INLINE struct exact
divide_magnitude(struct magnitude sum, int unit, unsigned int workers)
{
	const bool all = !sum.more;
	const uint64_t upper = (uint64_t)(sum.upper >> 64), lower = (uint64_t)sum.upper;
	const int zeros = upper != 0 ? __builtin_clzll(upper) : 64 + __builtin_clzll(lower | 1);
	const int places = all ? zeros - 1 : DIGIT_BITS - 1;
	const unsigned __int128 whole = sum.upper << places | sum.next >> 1;
	const bool rest = !all && (sum.rest || (sum.next & 1) != 0);
	const unsigned __int128 quotient = whole / workers; /* which takes longest of all */
	struct exact result = exact_of_quire(quotient, unit + DIGIT_BITS * (int)sum.digit - places);

	result.significand |= rest || quotient * workers != whole;
	return result;
}

/* To the nearest integer of a format, ties to even; saturated. */
INLINE uint64_t
round_integer(
	enum aggregate_format format, struct magnitude sum, unsigned int divisor, uint8_t *flags)
{
	const unsigned __int128 greatest =
		(format == AGGREGATE_INT32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX) +
		(uint64_t)sum.negative;
	const unsigned __int128 twice = sum.upper % divisor * 2;
	unsigned __int128 quotient = sum.upper / divisor;

	quotient += twice > divisor || (twice == divisor && (quotient & 1) != 0);
	if (sum.digit != 0 || quotient > greatest) {
		*flags |= NETFC_OVERFLOW;
		quotient = greatest;
	}
	return sum.negative ? -(uint64_t)quotient : (uint64_t)quotient;
}

#endif /* NUMBER_H */
