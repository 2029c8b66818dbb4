/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values in host byte order into totals, many lanes at a time: a value goes into one bin, or fp64's
 * into two, and is not divided into digits before bins have little room left.
 */
#include <string.h>

#include "aggregate_digits.h"
#include "sums/digits.h"
#include "sums/number.h"
#include "sums/values_lanes.h"
#include "sums/wide_lanes.h"

/* Rows of bins that are passed over for all lanes; where there are more, lane by lane. */
#define MAX_ROWS 3

#ifdef HAVE_TARGET_CLONES
#define VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORIZED
#endif

/* A binary format: what loops are compiled for. */
struct binary {
	unsigned int fraction_bits, bytes;
};

static const struct binary of_fp16 = {10, 2}, of_bf16 = {7, 2}, of_fp32 = {23, 4},
			   of_fp64 = {52, 8};

/* Of the numbers that are not zero, the places of their last bits in the format's units. */
struct survey {
	uint64_t lowest, highest; /* of NaN and infinities, more than a number has */
	bool has_minus_zero;
};

INLINE uint64_t
load_host(struct binary binary, const uint8_t *values, uint32_t i)
{
	uint16_t narrow;
	uint32_t single;
	uint64_t wide;

	if (binary.bytes == 2) {
		memcpy(&narrow, values + 2 * (size_t)i, sizeof(narrow));
		return narrow;
	}
	if (binary.bytes == 4) {
		memcpy(&single, values + 4 * (size_t)i, sizeof(single));
		return single;
	}
	memcpy(&wide, values + 8 * (size_t)i, sizeof(wide));
	return wide;
}

INLINE uint64_t
sign_bit(struct binary binary)
{
	return UINT64_C(1) << (8 * binary.bytes - 1);
}

INLINE uint64_t
place_of(struct binary binary, uint64_t magnitude)
{
	const uint64_t exponent = magnitude >> binary.fraction_bits;

	return exponent - (exponent != 0);
}

INLINE struct survey
survey(struct binary binary, const uint8_t *values, uint32_t count)
{
	const uint64_t sign = sign_bit(binary);
	uint64_t lowest = UINT64_MAX, highest = 0, minus_zeros = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bits = load_host(binary, values, i), magnitude = bits & (sign - 1);
		const uint64_t place = place_of(binary, magnitude);
		const uint64_t at_least = magnitude == 0 ? UINT64_MAX : place;

		lowest = at_least < lowest ? at_least : lowest;
		highest = place > highest ? place : highest;
		minus_zeros |= bits == sign;
	}
	return (struct survey){lowest, highest, minus_zeros != 0};
}

/* What a value adds to a row of bins. Of 53 bits, the upper ones go into the next row. */
INLINE uint64_t
share_of(struct binary binary, uint64_t bits, uint64_t row)
{
	const uint64_t sign = sign_bit(binary), magnitude = bits & (sign - 1);
	const uint64_t hidden = UINT64_C(1) << binary.fraction_bits;
	const uint64_t place = place_of(binary, magnitude), shift = place % DIGIT_BITS;
	const uint64_t significand =
		(magnitude & (hidden - 1)) | (magnitude >= hidden ? hidden : 0);
	const uint64_t negative = -(bits >> (8 * binary.bytes - 1));
	const uint64_t is_lower = -(uint64_t)(place / DIGIT_BITS == row);
	uint64_t share = significand << shift;

	if (binary.bytes == 8) {
		const uint64_t is_upper = -(uint64_t)(place / DIGIT_BITS + 1 == row);

		share = (share & UINT32_MAX & is_lower) |
			(significand >> 1 >> (DIGIT_BITS - 1 - shift) & is_upper);
	} else {
		share &= is_lower;
	}
	return (share ^ negative) - negative;
}

INLINE void
add_row(struct binary binary, int64_t *bins, const uint8_t *values, uint32_t count, uint64_t row)
{
	for (uint32_t i = 0; i < count; i++)
		bins[i] += (int64_t)share_of(binary, load_host(binary, values, i), row);
}

static void
mark(struct aggregate_totals *totals, struct binary binary, const uint8_t *values, bool minus_zeros)
{
	if (!minus_zeros) {
		for (uint32_t i = 0; i < totals->count; i++)
			totals->marks[i] |= AGGREGATE_MARK_MINUS_ZERO;
		return;
	}
	for (uint32_t i = 0; i < totals->count; i++)
		totals->marks[i] |= load_host(binary, values, i) == sign_bit(binary)
			? 0
			: AGGREGATE_MARK_MINUS_ZERO;
}

/* Returns whether they were added: numbers, of similar magnitude. */
INLINE bool
add_binary(struct aggregate_totals *totals, struct binary binary, const uint8_t *values)
{
	const uint64_t infinite = (sign_bit(binary) - 1) >> binary.fraction_bits;
	const struct survey is = survey(binary, values, totals->count);
	const uint64_t first = is.lowest / DIGIT_BITS;
	const uint64_t end = is.highest / DIGIT_BITS + (binary.bytes == 8 ? 2 : 1);

	if (is.highest >= infinite - 1 || (is.lowest != UINT64_MAX && end > first + MAX_ROWS))
		return false;
	mark(totals, binary, values, is.has_minus_zero);
	if (is.lowest == UINT64_MAX)
		return true;
	for (uint64_t row = first; row < end; row++)
		add_row(binary, totals->bins + row * totals->stride, values, totals->count, row);
	totals_use(totals, (uint32_t)first, (uint32_t)end);
	return true;
}

VECTORIZED static bool
add_fp32(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_binary(totals, of_fp32, values);
}

VECTORIZED static bool
add_fp64(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_binary(totals, of_fp64, values);
}

VECTORIZED static bool
add_bf16(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_binary(totals, of_bf16, values);
}

VECTORIZED static bool
add_fp16(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_binary(totals, of_fp16, values);
}

bool
aggregate_totals_add_similar(struct aggregate_totals *totals, const void *values)
{
	switch (aggregate_values_format(totals->format)) {
	case AGGREGATE_FP32:
		return add_fp32(totals, values);
	case AGGREGATE_FP64:
		return add_fp64(totals, values);
	case AGGREGATE_BF16:
		return add_bf16(totals, values);
	case AGGREGATE_FP16:
		return add_fp16(totals, values);
	default:
		return false;
	}
}

/* Into the row above, so that half a digit is left, of either sign. Returns whether there was any.
 */
VECTORIZED static bool
carry_row(int64_t *row, int64_t *above, uint32_t count)
{
	const int64_t half = INT64_C(1) << (DIGIT_BITS - 1);
	int64_t any = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= (row[i] + half) >> DIGIT_BITS;
	for (uint32_t i = 0; any != 0 && i < count; i++) {
		const int64_t carry = (row[i] + half) >> DIGIT_BITS;

		row[i] -= carry * (INT64_C(1) << DIGIT_BITS);
		above[i] += carry;
	}
	return any != 0;
}

void
aggregate_totals_carry(struct aggregate_totals *totals)
{
	for (uint32_t b = totals->lowest; b < totals->end && b + 1 < totals->digits; b++) {
		int64_t *row = totals->bins + b * totals->stride;

		if (carry_row(row, row + totals->stride, totals->count))
			totals_use(totals, b, b + 2);
	}
}
