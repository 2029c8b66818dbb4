/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate_digits.h"
#include "sums/digits.h"
#include "sums/lanes.h"
#include "sums/number.h"
#include "sums/values_lanes.h"
#include "sums/wide_lanes.h"

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
		.lowest = UINT8_MAX,
		.kernel = &aggregate_totals_plain};
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

/* A number of the format is its magnitude * 2^(32 digit) of its units. */
struct shifted {
	unsigned __int128 magnitude;
	uint32_t digit;
	bool negative;
};

static struct shifted
shift_up(uint64_t magnitude, uint64_t place, bool negative)
{
	return (struct shifted){(unsigned __int128)magnitude << (place % DIGIT_BITS),
		(uint32_t)(place / DIGIT_BITS), negative};
}

static struct shifted
shifted_integer(__int128 integer)
{
	const bool negative = integer < 0;

	return (struct shifted){
		negative ? -(unsigned __int128)integer : (unsigned __int128)integer, 0, negative};
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
		return shifted_integer((int64_t)posit16_integer((uint32_t)bits));
	case AGGREGATE_POSIT16_ES2:
		return shifted_integer((__int128)posit16_es2_integer((uint32_t)bits));
	case AGGREGATE_INT32:
		return shifted_integer((int32_t)bits);
	case AGGREGATE_INT64:
	default:
		return shifted_integer((int64_t)bits);
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

/* Bins above are not touched: they may have no memory yet. */
static void
add_shifted(struct aggregate_totals *totals, uint32_t lane, struct shifted shifted)
{
	int64_t *bin = totals->bins + shifted.digit * totals->stride + lane;
	uint32_t end = shifted.digit;

	for (; shifted.magnitude != 0; shifted.magnitude >>= DIGIT_BITS, bin += totals->stride) {
		const int64_t digit = (int64_t)(shifted.magnitude & UINT32_MAX);

		*bin += shifted.negative ? -digit : digit;
		end++;
	}
	if (end > shifted.digit)
		totals_use(totals, shifted.digit, end);
}

void
aggregate_totals_add_values(struct aggregate_totals *totals, const uint8_t *values)
{
	const enum aggregate_format format = aggregate_values_format(totals->format);

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint64_t bits = load_any(format, values, i);
		const uint8_t special = special_of_any(format, bits);

		totals->marks[i] |=
			special | (is_minus_zero(format, bits) ? 0 : AGGREGATE_MARK_MINUS_ZERO);
		if (special == 0)
			add_shifted(totals, i, unpack(format, bits));
	}
}

uint8_t
aggregate_totals_round(const struct aggregate_totals *totals, unsigned int op, unsigned int workers,
	uint8_t *result)
{
	return totals->kernel->round(totals, op, workers, result);
}
