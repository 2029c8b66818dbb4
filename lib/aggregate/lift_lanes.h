/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIFT_LANES_H
#define LIFT_LANES_H

/**
 * @file
 * Accumulators, added to totals, a lane at a time. Where they lie differs between instruction sets:
 * what there is besides lanes.h's plain lay-out is told by flags, constants in each kernel.
 */

#include "digits.h"
#include "accumulate_and_round_lanes.h"

enum lay_out {
	PLAIN_LAY_OUT = 0,
	NARROW_SUMS = 1,  /* fp16: 32 bits, if the lanes say so */
	SINGLE_BINS = 2,  /* by group, the only bin in use, or ALL_BINS */
	ONE_BIN = 4,      /* of all lanes, or NO_BIN */
	SIGNS_AS_BITS = 8 /* in `common`, a bit for each lane */
};

/* A lane's digits. */
struct lane_bins {
	int64_t *first;
	size_t stride;
};

INLINE void
add_to_digit(struct lane_bins bins, uint32_t digit, int64_t number)
{
	bins.first[digit * bins.stride] += number;
}

/* A word, as the digits that it adds to, from one on. */
INLINE void
lift_word(struct lane_bins bins, uint32_t digit, int64_t word)
{
	add_to_digit(bins, digit, word & UINT32_MAX);
	add_to_digit(bins, digit + 1, word >> 32);
}

INLINE void
lift_double_word(struct lane_bins bins, uint32_t digit, __int128 sum)
{
	lift_word(bins, digit, (int64_t)((uint64_t)sum & INT64_MAX));
	add_to_digit(bins, digit + 1, (int64_t)((uint64_t)sum >> 63 << 31));
	lift_word(bins, digit + 2, (int64_t)(sum >> 64));
}

/* How far the units of bins are below those of totals. */
INLINE unsigned int
bins_below(enum aggregate_format format)
{
	return format == AGGREGATE_FP32 ? 1 : 17;
}

/* Returns whether the bin holds anything. */
INLINE bool
lift_bin(enum aggregate_format format, struct aggregate_totals *totals, struct lane_bins into,
	uint32_t bin, int64_t sum)
{
	const unsigned int below = bins_below(format);

	if (sum == 0)
		return false;
	totals_use(totals, bin - (bin > 0), bin + 2);
	lift_word(into, bin, sum >> below);
	if (bin > 0)
		add_to_digit(into, bin - 1, (sum & ((1 << below) - 1)) << (32 - below));
	return true;
}

/* The bin that is all there is of a lane; ALL_BINS: any may be in use. */
INLINE unsigned int
only_bin(unsigned int lay_out, const struct aggregate_lanes *lanes, uint32_t i)
{
	if ((lay_out & ONE_BIN) != 0 && lanes->one_bin != NO_BIN)
		return lanes->one_bin;
	return (lay_out & SINGLE_BINS) != 0 ? lanes->single_bins[i / GROUP] : ALL_BINS;
}

INLINE bool
lift_bins(enum aggregate_format format, unsigned int lay_out, const struct aggregate_lanes *lanes,
	uint32_t i, struct aggregate_totals *totals, struct lane_bins into)
{
	const size_t stride = bin_stride(format, lanes);
	const unsigned int only = only_bin(lay_out, lanes, i);
	bool any = false;

	if (only != ALL_BINS)
		return lift_bin(format, totals, into, only, lanes->sums[only * stride + i]);
	for (uint32_t bin = 0; bin < BINS; bin++)
		any |= lift_bin(format, totals, into, bin, lanes->sums[bin * stride + i]);
	return any;
}

INLINE bool
lift_window(const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const __int128 sum = window_of_lane(lanes, i);
	const uint32_t bin = lanes->window / BIN_PLACES, shift = lanes->window % BIN_PLACES;

	if (sum == 0)
		return false;
	totals_use(totals, bin, bin + 5);
	add_to_digit(into, bin, (int64_t)((uint64_t)sum << shift & UINT32_MAX));
	lift_double_word(into, bin + 1, sum >> (BIN_PLACES - shift));
	return true;
}

INLINE bool
lift_wide(const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const int64_t *bins = bins_of_lane(lanes, i);
	uint64_t in_use, high = 0;

	if (lanes->windowed)
		return lift_window(lanes, i, totals, into);
	in_use = bins_in_use(lanes)[i];
	if (in_use == 0)
		return false;
	totals_use(
		totals, (uint32_t)__builtin_ctzll(in_use), 66 - (uint32_t)__builtin_clzll(in_use));
	/* A bin in use has another above it. */
	for (uint32_t bin = 0; in_use != 0 || high != 0; bin++, in_use >>= 1) {
		if ((in_use & 1) != 0 || high != 0)
			lift_word(into, bin, bins[bin]);
		high = in_use & 1;
	}
	return true;
}

INLINE __int128
integer_sum(enum aggregate_format format, unsigned int lay_out, const struct aggregate_lanes *lanes,
	uint32_t i)
{
	const size_t upper = format == AGGREGATE_INT64 ? lanes->widest : lanes->capacity;

	if (format == AGGREGATE_INT64 || format == AGGREGATE_POSIT16_ES2)
		return (__int128)((unsigned __int128)(uint64_t)lanes->sums[upper + i] << 64 |
			(uint64_t)lanes->sums[i]);
	if (format == AGGREGATE_FP8_E4M3)
		return lanes->short_sums[i];
	if (format == AGGREGATE_FP16 && (lay_out & NARROW_SUMS) != 0 && lanes->narrow)
		return lanes->short_sums[i];
	return lanes->sums[i];
}

INLINE bool
lift_integer(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const __int128 sum = integer_sum(format, lay_out, lanes, i);

	if (format == AGGREGATE_INT64 || format == AGGREGATE_POSIT16_ES2) {
		totals_use(totals, 0, 4);
		lift_double_word(into, 0, sum);
	} else {
		totals_use(totals, 0, 2);
		lift_word(into, 0, (int64_t)sum);
	}
	return sum != 0;
}

INLINE bool
all_negative(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, uint32_t i)
{
	if (format == AGGREGATE_FP64)
		return ((const uint64_t *)(const void *)lanes->common)[i] >> 63 != 0;
	if ((lay_out & SIGNS_AS_BITS) != 0)
		return (lanes->common[i / 8] >> i % 8 & 1) != 0;
	return (load(format, lanes->common, i) & ieee_of(format).sign) != 0;
}

/* Whether the lane's sum is other than zero, or the sum of some that cancel. */
INLINE bool
lift_lane(enum aggregate_format format, unsigned int lay_out, const struct aggregate_lanes *lanes,
	uint32_t i, struct aggregate_totals *totals)
{
	const struct lane_bins into = {totals->bins + i, totals->stride};

	if (has_bins(format))
		return lift_bins(format, lay_out, lanes, i, totals, into);
	if (format == AGGREGATE_FP64)
		return lift_wide(lanes, i, totals, into);
	return lift_integer(format, lay_out, lanes, i, totals, into);
}

/* Values that are all negative, or -0, and whose sum is zero, are -0. */
INLINE void
lift_lanes(enum aggregate_format format, unsigned int lay_out, const struct aggregate_lanes *lanes,
	struct aggregate_totals *totals)
{
	const bool signs = is_ieee(format) || format == AGGREGATE_FP64;

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint8_t special = lanes->has_specials && format != AGGREGATE_INT32 &&
				format != AGGREGATE_INT64
			? lanes->specials[i]
			: 0;
		const bool other = special != 0 || lift_lane(format, lay_out, lanes, i, totals) ||
			!signs || !all_negative(format, lay_out, lanes, i);

		totals->marks[i] |= special | (other ? AGGREGATE_MARK_MINUS_ZERO : 0);
	}
}

#endif /* LIFT_LANES_H */
