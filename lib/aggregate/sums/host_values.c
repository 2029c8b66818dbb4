/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values in host byte order into totals, many lanes at a time: a value goes into one bin, or fp64's
 * into two, and is not divided into digits before bins have little room left.
 */
#include <endian.h>
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

/* What values are: rows of bins that their last bits are in, a bit for each. */
struct survey {
	uint64_t rows;
	bool has_special, has_minus_zero;
};

/* A format of up to 32 bits: what loops are compiled for. */
struct narrow {
	unsigned int fraction_bits, bytes;
};

static const struct narrow of_fp16 = {10, 2}, of_bf16 = {7, 2}, of_fp32 = {23, 4};

INLINE uint32_t
load_narrow(struct narrow narrow, const uint8_t *values, uint32_t i)
{
	uint16_t half;
	uint32_t single;

	if (narrow.bytes == 2) {
		memcpy(&half, values + 2 * (size_t)i, sizeof(half));
		return half;
	}
	memcpy(&single, values + 4 * (size_t)i, sizeof(single));
	return single;
}

INLINE uint32_t
sign_of_narrow(struct narrow narrow)
{
	return UINT32_C(1) << (8 * narrow.bytes - 1);
}

/* The place of the last bit, in the format's units. */
INLINE uint32_t
place_of_narrow(struct narrow narrow, uint32_t magnitude)
{
	const uint32_t exponent = magnitude >> narrow.fraction_bits;

	return exponent - (exponent != 0);
}

INLINE struct survey
survey_narrow(struct narrow narrow, const uint8_t *values, uint32_t count)
{
	const uint32_t sign = sign_of_narrow(narrow);
	const uint32_t infinity = sign - (UINT32_C(1) << narrow.fraction_bits);
	uint32_t rows = 0, special = 0, minus_zeros = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t bits = load_narrow(narrow, values, i), magnitude = bits & (sign - 1);

		rows |= (uint32_t)(magnitude != 0)
			<< (place_of_narrow(narrow, magnitude) / DIGIT_BITS);
		special |= magnitude >= infinity;
		minus_zeros |= bits == sign;
	}
	return (struct survey){rows, special != 0, minus_zeros != 0};
}

INLINE void
add_row_narrow(
	struct narrow narrow, int64_t *bins, const uint8_t *values, uint32_t count, uint32_t row)
{
	const uint32_t sign = sign_of_narrow(narrow);
	const uint32_t hidden = UINT32_C(1) << narrow.fraction_bits;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t bits = load_narrow(narrow, values, i), magnitude = bits & (sign - 1);
		const uint32_t place = place_of_narrow(narrow, magnitude);
		const uint32_t normal = magnitude >= hidden ? hidden : 0;
		const uint32_t significand = (magnitude & (hidden - 1)) | normal;
		const uint32_t here = place / DIGIT_BITS == row ? significand : 0;
		const int64_t share = (int64_t)((uint64_t)here << place % DIGIT_BITS);

		bins[i] += (bits & sign) != 0 ? -share : share;
	}
}

INLINE uint64_t
load_fp64(const uint8_t *values, uint32_t i)
{
	uint64_t bits;

	memcpy(&bits, values + sizeof(bits) * (size_t)i, sizeof(bits));
	return bits;
}

INLINE uint64_t
place_of_fp64(uint64_t magnitude)
{
	const uint64_t exponent = magnitude >> FP64_FRACTION_BITS;

	return exponent - (exponent != 0);
}

INLINE struct survey
survey_fp64(const uint8_t *values, uint32_t count)
{
	uint64_t rows = 0, special = 0, minus_zeros = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bits = load_fp64(values, i), magnitude = bits & (FP64_SIGN - 1);

		rows |= (uint64_t)(magnitude != 0) << (place_of_fp64(magnitude) / DIGIT_BITS);
		special |= magnitude >= FP64_INF;
		minus_zeros |= bits == FP64_SIGN;
	}
	return (struct survey){rows, special != 0, minus_zeros != 0};
}

/* A number's lower bits go into the row that its last bit is in, all others into the next one. */
INLINE void
add_row_fp64(int64_t *bins, const uint8_t *values, uint32_t count, uint64_t row, bool lower)
{
	const uint64_t hidden = UINT64_C(1) << FP64_FRACTION_BITS;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bits = load_fp64(values, i), magnitude = bits & (FP64_SIGN - 1);
		const uint64_t place = place_of_fp64(magnitude), shift = place % DIGIT_BITS;
		const uint64_t normal = magnitude >= hidden ? hidden : 0;
		const uint64_t significand = (magnitude & (hidden - 1)) | normal;
		const uint64_t here = place / DIGIT_BITS == row ? significand : 0;
		const int64_t share = (int64_t)(lower ? here << shift & UINT32_MAX
						      : here >> 1 >> (DIGIT_BITS - 1 - shift));

		bins[i] += (bits & FP64_SIGN) != 0 ? -share : share;
	}
}

/* Whether all are numbers, of similar magnitude. */
INLINE bool
is_similar(struct survey survey)
{
	return !survey.has_special && __builtin_popcountll(survey.rows) <= MAX_ROWS;
}

INLINE bool
add_narrow(struct aggregate_totals *totals, struct narrow narrow, const uint8_t *values)
{
	const uint32_t count = totals->count;
	const struct survey is = survey_narrow(narrow, values, count);

	if (!is_similar(is))
		return false;
	for (uint64_t rows = is.rows; rows != 0; rows &= rows - 1) {
		const uint32_t row = (uint32_t)__builtin_ctzll(rows);

		add_row_narrow(narrow, totals->bins + row * totals->stride, values, count, row);
		totals_use(totals, row, row + 1);
	}
	for (uint32_t i = 0; i < count; i++)
		totals->marks[i] |= is.has_minus_zero &&
				load_narrow(narrow, values, i) == sign_of_narrow(narrow)
			? 0
			: AGGREGATE_MARK_MINUS_ZERO;
	return true;
}

VECTORIZED static bool
add_fp64(struct aggregate_totals *totals, const uint8_t *values)
{
	const uint32_t count = totals->count;
	const struct survey is = survey_fp64(values, count);

	if (!is_similar(is))
		return false;
	for (uint64_t rows = is.rows; rows != 0; rows &= rows - 1) {
		const uint32_t row = (uint32_t)__builtin_ctzll(rows);
		int64_t *bins = totals->bins + row * totals->stride;

		add_row_fp64(bins, values, count, row, true);
		add_row_fp64(bins + totals->stride, values, count, row, false);
		totals_use(totals, row, row + 2);
	}
	for (uint32_t i = 0; i < count; i++)
		totals->marks[i] |= is.has_minus_zero && load_fp64(values, i) == FP64_SIGN
			? 0
			: AGGREGATE_MARK_MINUS_ZERO;
	return true;
}

VECTORIZED static bool
add_fp32(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_narrow(totals, of_fp32, values);
}

VECTORIZED static bool
add_bf16(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_narrow(totals, of_bf16, values);
}

VECTORIZED static bool
add_fp16(struct aggregate_totals *totals, const uint8_t *values)
{
	return add_narrow(totals, of_fp16, values);
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

/* ---- from host to network byte order and back ---- */

#define SWAP(bits)                                                                \
	VECTORIZED static void swap_##bits(                                       \
		uint8_t *restrict to, const uint8_t *restrict from, size_t count) \
	{                                                                         \
		for (size_t i = 0; i < count; i++) {                              \
			uint##bits##_t value;                                     \
                                                                                  \
			memcpy(&value, from + sizeof(value) * i, sizeof(value));  \
			value = htobe##bits(value);                               \
			memcpy(to + sizeof(value) * i, &value, sizeof(value));    \
		}                                                                 \
	}

SWAP(16)
SWAP(32)
SWAP(64)

void
aggregate_swap_values(uint8_t *to, const uint8_t *from, size_t count, unsigned int value_bytes)
{
	if (value_bytes == 1)
		memcpy(to, from, count);
	else if (value_bytes == 2)
		swap_16(to, from, count);
	else if (value_bytes == 8)
		swap_64(to, from, count);
	else
		swap_32(to, from, count);
}
