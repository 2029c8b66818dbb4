/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCUMULATE_AND_ROUND_LANES_H
#define ACCUMULATE_AND_ROUND_LANES_H

/**
 * @file
 * Sums and means: special values, accumulators, rounding. Values are of one format and results of
 * another, maybe, `to`.
 */

#include <netfc_arith.h>

#include "sums/values_lanes.h"
#include "sums/wide_lanes.h"

/* Special values: NaN, NaR, infinities. */

INLINE bool
any_special(enum aggregate_format format, const uint8_t *values, uint32_t count)
{
	const struct ieee ieee = ieee_of(format);
	uint8_t any = 0;

	if (format == AGGREGATE_INT32)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bits = load(format, values, i);

		any |= (uint8_t)(is_ieee(format) ? (bits & (ieee.sign - 1)) >= ieee.inf
						 : bits == POSIT_NAR);
	}
	return any != 0;
}

INLINE uint32_t
groups_of(uint32_t count)
{
	return (count + GROUP - 1) / GROUP;
}

INLINE void
note_specials(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	uint8_t *specials = lanes->specials;

	if (first)
		lanes->has_specials = false;
	if (!any_special(format, values, count))
		return;
	if (!lanes->has_specials)
		memset(specials, 0, groups_of(count) * GROUP);
	lanes->has_specials = true;
	for (uint32_t i = 0; i < count; i++)
		specials[i] |= special_of(format, load(format, values, i));
}

/* Whether any of eight lanes is special. */
INLINE bool
any_of_group(const uint8_t *specials, uint32_t group)
{
	uint64_t all;

	memcpy(&all, specials + GROUP * (size_t)group, sizeof(all));
	return all != 0;
}

/* From a lane's integer in one bin to that in the next. */
INLINE size_t
bin_stride(enum aggregate_format format, const struct aggregate_lanes *lanes)
{
	return format == AGGREGATE_FP32 ? lanes->wide : lanes->capacity;
}

INLINE void
clear_lane(enum aggregate_format format, struct aggregate_lanes *lanes, uint32_t lane)
{
	if (has_bins(format)) {
		for (uint32_t bin = 0; bin < BINS; bin++)
			lanes->sums[bin * bin_stride(format, lanes) + lane] = 0;
		return;
	}
	if (format == AGGREGATE_FP64) {
		clear_fp64_lane(lanes, lane);
		return;
	}
	if (format == AGGREGATE_FP8_E4M3) {
		lanes->short_sums[lane] = 0;
		return;
	}
	lanes->sums[lane] = 0;
	if (format == AGGREGATE_POSIT16_ES2)
		lanes->sums[lanes->capacity + lane] = 0;
}

/* What infinities and NaN have added means nothing, and must raise no flag. */
INLINE void
clear_specials(enum aggregate_format format, struct aggregate_lanes *lanes, uint32_t count)
{
	for (uint32_t g = 0; g < groups_of(count); g++) {
		if (!any_of_group(lanes->specials, g))
			continue;
		for (uint32_t lane = g * GROUP; lane < (g + 1) * GROUP; lane++)
			if (lanes->specials[lane] != 0)
				clear_lane(format, lanes, lane);
	}
}

INLINE uint8_t
write_special(enum aggregate_format format, uint8_t special, uint8_t *result, uint32_t lane)
{
	const struct ieee ieee = ieee_of(format);

	if (format == AGGREGATE_FP64)
		store64(result, lane, wide_of_special(special));
	else if (!is_ieee(format))
		store(format, result, lane, POSIT_NAR);
	else if (special == SPECIAL_PLUS_INF)
		store(format, result, lane, ieee.inf);
	else if (special == SPECIAL_MINUS_INF)
		store(format, result, lane, with_sign(ieee, ieee.inf, true));
	else
		store(format, result, lane, ieee.nan);
	return special == (SPECIAL_PLUS_INF | SPECIAL_MINUS_INF) ? NETFC_INVALID : 0;
}

INLINE uint8_t
write_specials(enum aggregate_format format, const struct aggregate_lanes *lanes, uint32_t count,
	uint8_t *result)
{
	uint8_t flags = 0;

	for (uint32_t g = 0; g < groups_of(count); g++) {
		if (!any_of_group(lanes->specials, g))
			continue;
		for (uint32_t lane = g * GROUP; lane < (g + 1) * GROUP; lane++)
			if (lanes->specials[lane] != 0)
				flags |= write_special(format, lanes->specials[lane], result, lane);
	}
	return flags;
}

/* On its own: once inlined, compilers forget that the two do not overlap. */
static __attribute__((noinline)) void
and_bytes(uint8_t *restrict common, const uint8_t *restrict values, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		common[i] &= values[i];
}

/* All workers' values and-ed, as they came: their sign bits are what is wanted. */
INLINE void
keep_common(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t bytes, bool first)
{
	if (first)
		memcpy(lanes->common, values, bytes);
	else
		and_bytes(lanes->common, values, bytes);
}

/* Sums. */

INLINE void
put_bins(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	const size_t stride = bin_stride(format, lanes);
	int64_t *sums = lanes->sums;

	for (uint32_t bin = 0; first && bin < BINS; bin++)
		memset(sums + bin * stride, 0, count * sizeof(*sums));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bits = load(format, values, i) << (format == AGGREGATE_BF16 ? 16 : 0);
		uint32_t biased = bits >> 23 & 0xff;
		uint64_t significand = (bits & 0x7fffff) | (uint32_t)(biased != 0) << 23;
		uint32_t exponent = biased + (biased == 0);
		uint64_t magnitude = significand << (exponent % 32);
		uint64_t sign = -(uint64_t)(bits >> 31);

		sums[exponent / 32 * stride + i] += (int64_t)((magnitude ^ sign) - sign);
	}
}

INLINE uint64_t
integer_of(enum aggregate_format format, uint32_t bits)
{
	return is_ieee(format)                ? ieee_integer(ieee_of(format), bits)
		: format == AGGREGATE_POSIT16 ? posit16_integer(bits)
					      : (uint64_t)(int32_t)bits;
}

INLINE void
put_integers(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	int64_t *sums = lanes->sums;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t sum = integer_of(format, load(format, values, i));

		sums[i] = (int64_t)(first ? sum : (uint64_t)sums[i] + sum);
	}
}

/* 64 workers stay below 2^24. */
INLINE void
put_short(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	int32_t *sums = lanes->short_sums;

	for (uint32_t i = 0; i < count; i++) {
		int32_t value = fp8_e4m3_integer(values[i]);

		sums[i] = first ? value : sums[i] + value;
	}
}

INLINE void
put_quires(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	int64_t *lower = lanes->sums, *upper = lanes->sums + lanes->capacity;

	for (uint32_t i = 0; i < count; i++) {
		unsigned __int128 sum = posit16_es2_integer(load16(values, i));

		if (!first)
			sum += (unsigned __int128)(uint64_t)upper[i] << 64 | (uint64_t)lower[i];
		lower[i] = (int64_t)(uint64_t)sum;
		upper[i] = (int64_t)(uint64_t)(sum >> 64);
	}
}

INLINE void
put(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	note_specials(format, lanes, values, count, first);
	if (is_ieee(format))
		keep_common(lanes, values, count * bytes_of(format), first);
	if (format == AGGREGATE_FP8_E4M3)
		put_short(lanes, values, count, first);
	else if (has_bins(format))
		put_bins(format, lanes, values, count, first);
	else if (format == AGGREGATE_POSIT16_ES2)
		put_quires(lanes, values, count, first);
	else
		put_integers(format, lanes, values, count, first);
}

/* A sum's sign and magnitude. */
struct sum {
	struct exact magnitude;
	bool negative, zero;
};

INLINE struct sum
sum_of_integer(int64_t integer, int unit)
{
	uint64_t sign = -(uint64_t)(integer < 0);

	return (struct sum){
		exact_of(((uint64_t)integer ^ sign) - sign, unit), integer < 0, integer == 0};
}

INLINE struct sum
sum_of_quire(const struct aggregate_lanes *lanes, uint32_t i)
{
	unsigned __int128 upper = (uint64_t)lanes->sums[lanes->capacity + i];
	__int128 sum = (__int128)(upper << 64 | (uint64_t)lanes->sums[i]);
	unsigned __int128 magnitude = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;

	return (struct sum){exact_of_quire(magnitude, POSIT16_ES2_UNIT), sum < 0, sum == 0};
}

/*
 * Carries between bins leave digits of 32 bits, the last one signed. The highest that is not just
 * sign, and the upper 30 bits of the next one, make the number; all else is told by one bit:
 * in two's complement what was cut off makes the magnitude smaller, hence the complement.
 */
INLINE struct sum
sum_of_bins(const int64_t *bins, size_t stride)
{
	uint64_t digits[BINS + 2], carry = 0, sign, window, rest;
	uint32_t differ = 0, set = 0;
	struct exact magnitude;
	int place;

	digits[0] = 0;
	for (int b = 0; b < BINS; b++) {
		uint64_t sum = (uint64_t)bins[(size_t)b * stride] + carry + (UINT64_C(1) << 62);

		digits[b + 1] = sum & UINT32_MAX;
		carry = (sum >> 32) - (UINT64_C(1) << 30);
	}
	sign = -(carry >> 63);
	digits[BINS + 1] = carry & UINT32_MAX;
	for (int b = 0; b < BINS + 1; b++) {
		differ |= (uint32_t)(digits[b + 1] != (sign & UINT32_MAX)) << b;
		set |= (uint32_t)(digits[b + 1] != 0) << b;
	}
	place = 31 - __builtin_clz(differ | 1);
	window = sign << 62 | digits[place + 1] << 30 | digits[place] >> 2;
	rest = (digits[place] & 3) | (set & ((1u << place >> 1) - (place > 0)));
	window = (window ^ sign) + (sign & (rest == 0));
	magnitude = exact_of(window, 32 * place - 30 + BINS_UNIT);
	magnitude.significand |= rest != 0;
	return (struct sum){magnitude, sign != 0, window == 0};
}

INLINE struct sum
sum_of(enum aggregate_format format, struct aggregate_lanes *lanes, uint32_t i)
{
	switch (format) {
	case AGGREGATE_BF16:
	case AGGREGATE_FP32:
		return sum_of_bins(lanes->sums + i, bin_stride(format, lanes));
	case AGGREGATE_POSIT16_ES2:
		return sum_of_quire(lanes, i);
	case AGGREGATE_POSIT16:
		return sum_of_integer(lanes->sums[i], POSIT16_UNIT);
	case AGGREGATE_FP8_E4M3:
		return sum_of_integer(lanes->short_sums[i], unit_of_sums(format));
	default:
		return sum_of_integer(lanes->sums[i], unit_of_sums(format));
	}
}

/* A zero sum is +0 unless all values are negative, and hence -0. */
INLINE uint32_t
encode_ieee(struct ieee ieee, struct sum sum, bool all_negative, uint8_t *flags)
{
	uint32_t magnitude = sum.zero ? 0 : round_ieee(ieee, sum.magnitude);
	bool negative = sum.negative || (sum.zero && all_negative);

	*flags |= magnitude == ieee.inf ? NETFC_OVERFLOW : 0;
	*flags |= magnitude == 0 && !sum.zero ? NETFC_UNDERFLOW : 0;
	return with_sign(ieee, magnitude, negative);
}

INLINE uint32_t
encode_posit(int exponent_bits, struct sum sum)
{
	uint32_t magnitude = sum.zero ? 0 : round_posit(exponent_bits, sum.magnitude);

	return sum.negative ? -magnitude : magnitude;
}

INLINE uint32_t
encode(enum aggregate_format format, struct sum sum, bool all_negative, uint8_t *flags)
{
	if (is_ieee(format))
		return encode_ieee(ieee_of(format), sum, all_negative, flags);
	return encode_posit(format == AGGREGATE_POSIT16 ? 1 : 2, sum);
}

INLINE uint8_t
round_lanes(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	const struct divisor divisor = divisor_of(workers);
	uint8_t flags = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool all_negative = is_ieee(format) &&
			(load(format, lanes->common, i) & ieee_of(format).sign) != 0;
		struct sum sum = sum_of(format, lanes, i);

		if (mean)
			sum.magnitude = divide(sum.magnitude, divisor);
		store(to, result, i, encode(to, sum, all_negative, &flags));
	}
	return flags;
}

/* Sums of formats that have units. They are never too small for one. */
INLINE uint8_t
round_unit_sums(enum aggregate_format format, enum aggregate_format to,
	const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const struct ieee ieee = ieee_of(to);
	/* For all that compilers know, results are written over *lanes. */
	const struct aggregate_lanes from = *lanes;
	uint32_t overflow = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t sum = format == AGGREGATE_FP8_E4M3 ? from.short_sums[i] : from.sums[i];
		bool all_negative = (load(format, from.common, i) & ieee_of(format).sign) != 0;
		uint32_t bits = round_units(ieee, unit_of_sums(format), sum < 0 ? -sum : sum);

		overflow |= bits == ieee.inf;
		store(to, result, i, with_sign(ieee, bits, sum < 0 || (sum == 0 && all_negative)));
	}
	return overflow != 0 ? NETFC_OVERFLOW : 0;
}

/* Integers: sums saturate. */

INLINE uint8_t
round_integers(bool mean, const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	int64_t changed = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t sum = mean ? mean_of(lanes->sums[i], workers) : lanes->sums[i];
		int64_t bounded = saturated(sum);

		changed |= sum ^ bounded;
		store(AGGREGATE_INT32, result, i, (uint32_t)bounded);
	}
	return changed != 0 ? NETFC_OVERFLOW : 0;
}

INLINE uint8_t
finish_sums(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	uint8_t flags;

	if (values != NULL)
		put(format, lanes, values, count, false);
	if (format == AGGREGATE_INT32)
		return round_integers(mean, lanes, count, workers, result);
	if (lanes->has_specials)
		clear_specials(format, lanes, count);
	flags = !mean && has_units(format)
		? round_unit_sums(format, to, lanes, count, result)
		: round_lanes(format, to, mean, lanes, count, workers, result);
	if (lanes->has_specials)
		flags |= write_specials(to, lanes, count, result);
	return flags;
}

#endif /* ACCUMULATE_AND_ROUND_LANES_H */
