/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate_digits.h"
#include "digits.h"
#include "magnitude.h"
#include "sums_lanes.h"

size_t
aggregate_totals_bytes(enum aggregate_format format, uint32_t count)
{
	return count * (aggregate_total_digits(format) * sizeof(int64_t) + 1);
}

struct aggregate_totals
totals_in(enum aggregate_format format, uint32_t count, void *memory)
{
	int64_t *bins = memory;

	return (struct aggregate_totals){.format = format,
		.count = count,
		.bins = bins,
		.stride = count,
		.marks = (uint8_t *)(bins + (size_t)count * aggregate_total_digits(format)),
		.digits = (uint8_t)aggregate_total_digits(format),
		.lowest = UINT8_MAX};
}

struct aggregate_totals
aggregate_totals_init(enum aggregate_format format, uint32_t count, void *memory)
{
	memset(memory, 0, aggregate_totals_bytes(format, count));
	return totals_in(format, count, memory);
}

void
totals_clear(struct aggregate_totals *totals)
{
	if (totals->end != 0)
		memset(totals->bins + totals->lowest * totals->stride, 0,
			(totals->end - totals->lowest) * totals->stride * sizeof(*totals->bins));
	memset(totals->marks, 0, totals->count);
}

/* A number of the format is integer * 2^(32 digit) of its units. */
struct shifted {
	__int128 integer;
	uint32_t digit;
};

static struct shifted
shift_up(uint64_t magnitude, uint64_t place, bool negative)
{
	const __int128 integer = (__int128)magnitude << (place % DIGIT_BITS);

	return (struct shifted){negative ? -integer : integer, (uint32_t)(place / DIGIT_BITS)};
}

static struct shifted
unpack_ieee(int fraction_bits, unsigned int bits_of_all, uint64_t bits)
{
	const uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
	const bool negative = (bits >> (bits_of_all - 1)) != 0;
	const uint64_t exponent =
		(bits & ((UINT64_C(1) << (bits_of_all - 1)) - 1)) >> fraction_bits;
	const uint64_t normal = exponent != 0;

	return shift_up(fraction | normal << fraction_bits, exponent - normal, negative);
}

static uint64_t
load_any(enum aggregate_format format, const uint8_t *values, uint32_t i)
{
	return is_wide(format) ? load64(values, i) : load(format, values, i);
}

static struct shifted
unpack(enum aggregate_format format, uint64_t bits)
{
	switch (format) {
	case AGGREGATE_FP16:
		return unpack_ieee(10, 16, bits);
	case AGGREGATE_BF16:
		return unpack_ieee(7, 16, bits);
	case AGGREGATE_FP32:
		return unpack_ieee(23, 32, bits);
	case AGGREGATE_FP64:
		return unpack_ieee(52, 64, bits);
	case AGGREGATE_FP8_E4M3:
		return unpack_ieee(3, 8, bits);
	case AGGREGATE_FP8_E5M2:
		return unpack_ieee(2, 8, bits);
	case AGGREGATE_POSIT16:
		return (struct shifted){(int64_t)posit16_integer((uint32_t)bits), 0};
	case AGGREGATE_POSIT16_ES2:
		return (struct shifted){(__int128)posit16_es2_integer((uint32_t)bits), 0};
	case AGGREGATE_INT32:
		return (struct shifted){(int32_t)bits, 0};
	case AGGREGATE_INT64:
	default:
		return (struct shifted){(int64_t)bits, 0};
	}
}

static uint8_t
special_of_any(enum aggregate_format format, uint64_t bits)
{
	if (format == AGGREGATE_INT32 || format == AGGREGATE_INT64)
		return 0;
	return format == AGGREGATE_FP64 ? special_of_wide(bits)
					: special_of(format, (uint32_t)bits);
}

static bool
is_minus_zero(enum aggregate_format format, uint64_t bits)
{
	return format == AGGREGATE_FP64 ? bits == FP64_SIGN
					: is_ieee(format) && bits == ieee_of(format).sign;
}

/* Four digits: more than any number has. */
static void
add_integer(int64_t *bins, size_t stride, __int128 integer)
{
	for (unsigned int d = 0; d < 3; d++, integer >>= DIGIT_BITS, bins += stride)
		*bins += (int64_t)((uint64_t)integer & UINT32_MAX);
	*bins += (int64_t)integer;
}

void
aggregate_totals_add_values(struct aggregate_totals *totals, const uint8_t *values)
{
	const enum aggregate_format format = aggregate_values_format(totals->format);
	const size_t stride = totals->stride;

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint64_t bits = load_any(format, values, i);
		const uint8_t special = special_of_any(format, bits);

		totals->marks[i] |=
			special | (is_minus_zero(format, bits) ? 0 : AGGREGATE_MARK_MINUS_ZERO);
		if (special == 0) {
			const struct shifted shifted = unpack(format, bits);

			totals_use(totals, shifted.digit, shifted.digit + 4);
			add_integer(
				totals->bins + shifted.digit * stride + i, stride, shifted.integer);
		}
	}
}

INLINE int
unit_of(enum aggregate_format format)
{
	switch (format) {
	case AGGREGATE_FP16:
		return FP16_UNIT;
	case AGGREGATE_POSIT16:
		return POSIT16_UNIT;
	case AGGREGATE_POSIT16_ES2:
		return POSIT16_ES2_UNIT;
	case AGGREGATE_BF16:
		return -133;
	case AGGREGATE_FP32:
		return -149;
	case AGGREGATE_FP8_E4M3:
		return FP8_E4M3_UNIT;
	case AGGREGATE_FP8_E5M2:
		return FP8_E5M2_UNIT;
	default:
		return FP64_UNIT;
	}
}

INLINE uint64_t
encode_number(enum aggregate_format format, struct exact exact)
{
	switch (format) {
	case AGGREGATE_POSIT16:
		return round_posit(1, exact);
	case AGGREGATE_POSIT16_ES2:
		return round_posit(2, exact);
	case AGGREGATE_FP64:
		return round_binary(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, exact);
	default:
		return round_ieee(ieee_of(format), exact);
	}
}

INLINE uint64_t
infinity_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP64 ? FP64_INF : ieee_of(format).inf;
}

INLINE uint64_t
sign_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP64 ? FP64_SIGN : ieee_of(format).sign;
}

INLINE uint64_t
round_number(enum aggregate_format from, enum aggregate_format format,
	const struct aggregate_totals *totals, uint32_t i, struct magnitude sum, bool mean,
	unsigned int workers, uint8_t *flags)
{
	const bool posit = format == AGGREGATE_POSIT16 || format == AGGREGATE_POSIT16_ES2;
	struct exact exact;
	uint64_t bits;

	if (sum.upper == 0)
		return posit || (totals->marks[i] & AGGREGATE_MARK_MINUS_ZERO) != 0
			? 0
			: sign_of(format);
	exact = exact_of_quire(sum.upper, unit_of(from) + DIGIT_BITS * (int)sum.digit);
	exact.significand |= sum.more;
	if (mean)
		exact = divide_finely(exact, workers);
	bits = encode_number(format, exact);
	if (posit)
		return sum.negative ? -bits & 0xffff : bits;
	*flags |= bits == infinity_of(format) ? NETFC_OVERFLOW : 0;
	*flags |= bits == 0 ? NETFC_UNDERFLOW : 0;
	if (format == AGGREGATE_FP64)
		return bits | (sum.negative ? FP64_SIGN : 0);
	return with_sign(ieee_of(format), (uint32_t)bits, sum.negative);
}

INLINE void
store_any(enum aggregate_format format, uint8_t *result, uint32_t i, uint64_t bits)
{
	if (is_wide(format))
		store64(result, i, bits);
	else
		store(format, result, i, (uint32_t)bits);
}

/* Of integers, in units of 1. */
INLINE struct magnitude
total_of(const struct aggregate_totals *totals, uint32_t i, bool integer)
{
	const uint32_t all = totals->digits;
	const uint32_t base = integer ? 0 : totals_base(totals, all);
	int64_t bins[AGGREGATE_MOST_DIGITS];
	struct magnitude sum;

	if (totals->end <= base + SHORT_BINS) {
		const __int128 total = totals_short(totals, i, base);
		const bool negative = total < 0;

		return (struct magnitude){
			.upper = negative ? -(unsigned __int128)total : (unsigned __int128)total,
			.digit = base,
			.negative = negative};
	}
	for (uint32_t b = base; b < totals->end; b++)
		bins[b - base] = totals->bins[b * totals->stride + i];
	sum = magnitude_of(bins, totals->end - base);
	sum.digit += base;
	return sum;
}

INLINE uint8_t
round_totals(enum aggregate_format from, enum aggregate_format to, bool mean,
	const struct aggregate_totals *totals, unsigned int workers, uint8_t *result)
{
	const bool integer = to == AGGREGATE_INT32 || to == AGGREGATE_INT64;
	uint8_t flags = 0;

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint8_t special = totals->marks[i] & (uint8_t)~AGGREGATE_MARK_MINUS_ZERO;
		struct magnitude sum;

		if (special != 0 && !integer) {
			flags |= write_special(to, special, result, i);
			continue;
		}
		sum = total_of(totals, i, integer);
		store_any(to, result, i,
			integer ? round_integer(to, sum, mean ? workers : 1, &flags)
				: round_number(from, to, totals, i, sum, mean, workers, &flags));
	}
	return flags;
}

/* Sums of those are what trees are for: the compiler knows the formats. */
uint8_t
aggregate_totals_round(const struct aggregate_totals *totals, unsigned int op, unsigned int workers,
	uint8_t *result)
{
	const enum aggregate_format from = aggregate_values_format(totals->format);
	const enum aggregate_format to = aggregate_results_format(totals->format);
	const bool mean = op == AGGREGATE_MEAN;

	if (!mean && totals->format == AGGREGATE_FP32)
		return round_totals(AGGREGATE_FP32, AGGREGATE_FP32, false, totals, workers, result);
	if (!mean && totals->format == AGGREGATE_FP64)
		return round_totals(AGGREGATE_FP64, AGGREGATE_FP64, false, totals, workers, result);
	return round_totals(from, to, mean, totals, workers, result);
}
