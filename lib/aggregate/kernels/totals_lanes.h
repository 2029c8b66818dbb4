/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOTALS_LANES_H
#define TOTALS_LANES_H

/**
 * @file
 * Accumulators, added to totals. Where they lie differs between instruction sets: what there is
 * besides lanes.h's plain lay-out is told by flags, constants in each kernel.
 */

#include "kernels/accumulate_and_round_lanes.h"
#include "kernels/words.h"
#include "sums/digits.h"

enum lay_out {
	PLAIN_LAY_OUT = 0,
	NARROW_SUMS = 1,  /* fp16: 32 bits, if the lanes say so */
	SINGLE_BINS = 2,  /* by group, the only bin in use, or ALL_BINS */
	SIGNS_AS_BITS = 4 /* in `common`, a bit for each lane */
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
totals_from_word(struct lane_bins bins, uint32_t digit, int64_t word)
{
	add_to_digit(bins, digit, word & UINT32_MAX);
	add_to_digit(bins, digit + 1, word >> 32);
}

INLINE void
totals_from_double_word(struct lane_bins bins, uint32_t digit, __int128 sum)
{
	totals_from_word(bins, digit, (int64_t)((uint64_t)sum & INT64_MAX));
	add_to_digit(bins, digit + 1, (int64_t)((uint64_t)sum >> 63 << 31));
	totals_from_word(bins, digit + 2, (int64_t)(sum >> 64));
}

/* How far the units of bins are below those of totals. */
INLINE unsigned int
bins_below(enum aggregate_format format)
{
	return format == AGGREGATE_FP32 ? 1 : 17;
}

/* Returns whether the bin holds anything. */
INLINE bool
totals_from_bin(enum aggregate_format format, struct aggregate_totals *totals,
	struct lane_bins into, uint32_t bin, int64_t sum)
{
	const unsigned int below = bins_below(format);

	if (sum == 0)
		return false;
	totals_use(totals, bin - (bin > 0), bin + 2);
	totals_from_word(into, bin, sum >> below);
	if (bin > 0)
		add_to_digit(into, bin - 1, (sum & ((1 << below) - 1)) << (32 - below));
	return true;
}

/* The bin that is all there is of a lane; ALL_BINS: any may be in use. */
INLINE unsigned int
only_bin(unsigned int lay_out, const struct aggregate_lanes *lanes, uint32_t i)
{
	return (lay_out & SINGLE_BINS) != 0 ? lanes->single_bins[i / GROUP] : ALL_BINS;
}

INLINE bool
totals_from_bins(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const size_t stride = bin_stride(format, lanes);
	const unsigned int only = only_bin(lay_out, lanes, i);
	bool any = false;

	if (only != ALL_BINS)
		return totals_from_bin(format, totals, into, only, lanes->sums[only * stride + i]);
	for (uint32_t bin = 0; bin < BINS; bin++)
		any |= totals_from_bin(format, totals, into, bin, lanes->sums[bin * stride + i]);
	return any;
}

INLINE bool
totals_from_window(const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const __int128 sum = window_of_lane(lanes, i);
	const uint32_t bin = lanes->window / BIN_PLACES, shift = lanes->window % BIN_PLACES;

	if (sum == 0)
		return false;
	totals_use(totals, bin, bin + 5);
	add_to_digit(into, bin, (int64_t)((uint64_t)sum << shift & UINT32_MAX));
	totals_from_double_word(into, bin + 1, sum >> (BIN_PLACES - shift));
	return true;
}

INLINE bool
totals_from_wide(const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const int64_t *bins = bins_of_lane(lanes, i);
	uint64_t in_use, high = 0;

	if (lanes->windowed)
		return totals_from_window(lanes, i, totals, into);
	in_use = bins_in_use(lanes)[i];
	if (in_use == 0)
		return false;
	totals_use(
		totals, (uint32_t)__builtin_ctzll(in_use), 66 - (uint32_t)__builtin_clzll(in_use));
	/* A bin in use has another above it. */
	for (uint32_t bin = 0; in_use != 0 || high != 0; bin++, in_use >>= 1) {
		if ((in_use & 1) != 0 || high != 0)
			totals_from_word(into, bin, bins[bin]);
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
totals_from_integer(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals,
	struct lane_bins into)
{
	const __int128 sum = integer_sum(format, lay_out, lanes, i);

	if (format == AGGREGATE_INT64 || format == AGGREGATE_POSIT16_ES2) {
		totals_use(totals, 0, 4);
		totals_from_double_word(into, 0, sum);
	} else {
		totals_use(totals, 0, 2);
		totals_from_word(into, 0, (int64_t)sum);
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
totals_from_lane(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, uint32_t i, struct aggregate_totals *totals)
{
	const struct lane_bins into = {totals->bins + i, totals->stride};

	if (has_bins(format))
		return totals_from_bins(format, lay_out, lanes, i, totals, into);
	if (format == AGGREGATE_FP64)
		return totals_from_wide(lanes, i, totals, into);
	return totals_from_integer(format, lay_out, lanes, i, totals, into);
}

/* Values that are all negative, or -0, and whose sum is zero, are -0. */
INLINE void
totals_from_lanes(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, struct aggregate_totals *totals)
{
	const bool signs = is_ieee(format) || format == AGGREGATE_FP64;

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint8_t special = lanes->has_specials && format != AGGREGATE_INT32 &&
				format != AGGREGATE_INT64
			? lanes->specials[i]
			: 0;
		const bool other = special != 0 ||
			totals_from_lane(format, lay_out, lanes, i, totals) || !signs ||
			!all_negative(format, lay_out, lanes, i);

		totals->marks[i] |= special | (other ? AGGREGATE_MARK_MINUS_ZERO : 0);
	}
}

/*
 * Bins and fp64's window, as many lanes at a time as there are words in a vector. Where a lane is
 * special, and for other formats, a lane at a time, as above.
 */

INLINE void
add_to_row(struct aggregate_totals *totals, uint32_t row, uint32_t lane, words numbers)
{
	int64_t *bins = totals->bins + row * totals->stride + lane;
	const uint32_t left = totals->count - lane;

	words_store_some(bins, words_load_some(bins, left) + numbers, left);
}

/* Lanes are other than -0, unless their sum is zero and all values were negative. */
INLINE void
mark_lanes(enum aggregate_format format, unsigned int lay_out, const struct aggregate_lanes *lanes,
	struct aggregate_totals *totals, uint32_t lane, words sums)
{
	const uint32_t left = totals->count - lane;
	uint8_t *marks = totals->marks + lane;
	uint64_t sum[WORDS];

	if (left >= WORDS && !words_any(words_less(sums, words_all(1)))) {
		for (uint32_t w = 0; w < WORDS; w++)
			marks[w] |= AGGREGATE_MARK_MINUS_ZERO;
		return;
	}
	memcpy(sum, &sums, sizeof(sums));
	for (uint32_t w = 0; w < WORDS && w < left; w++)
		if (sum[w] != 0 || !all_negative(format, lay_out, lanes, lane + w))
			marks[w] |= AGGREGATE_MARK_MINUS_ZERO;
}

/* As totals_from_bin(). */
INLINE words
totals_from_bin_words(enum aggregate_format format, const struct aggregate_lanes *lanes,
	uint32_t bin, uint32_t lane, struct aggregate_totals *totals)
{
	const unsigned int below = bins_below(format);
	const int64_t *sums = lanes->sums + bin * bin_stride(format, lanes) + lane;
	const words sum = words_load_some(sums, totals->count - lane);
	const words above = words_shift_right(sum, words_all(below));

	if (!words_any(sum))
		return sum;
	totals_use(totals, bin - (bin > 0), bin + 2);
	if (bin > 0)
		add_to_row(totals, bin - 1, lane, (sum & ((1u << below) - 1)) << (32 - below));
	add_to_row(totals, bin, lane, above & UINT32_MAX);
	add_to_row(totals, bin + 1, lane, words_shift_right(above, words_all(32)));
	return sum;
}

/* Lanes that have their own bins, or all of them. */
INLINE void
totals_from_groups(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, struct aggregate_totals *totals)
{
	for (uint32_t lane = 0; lane < totals->count; lane += WORDS) {
		const unsigned int only = only_bin(lay_out, lanes, lane);
		const uint32_t first = only == ALL_BINS ? 0 : only;
		const uint32_t end = only == ALL_BINS ? BINS : only + 1;
		words any = {0};

		for (uint32_t bin = first; bin < end; bin++)
			any |= totals_from_bin_words(format, lanes, bin, lane, totals);
		mark_lanes(format, lay_out, lanes, totals, lane, any);
	}
}

/* Sums in the window as they lie in its bins: two digits a word. */
#define WINDOW_WORDS 3
#define WINDOW_DIGITS (2 * WINDOW_WORDS - 1)

struct window_sums {
	words word[WINDOW_WORDS];
};

INLINE struct window_sums
window_sums(const struct aggregate_lanes *lanes, uint32_t lane, uint32_t left)
{
	const words lower = words_load_some(window_lower(lanes) + lane, left);
	const words upper = words_load_some(window_upper(lanes) + lane, left);
	const uint32_t shift = lanes->window % BIN_PLACES;

	return (struct window_sums){{lower << shift, upper << shift | lower >> 1 >> (63 - shift),
		words_shift_right(upper, words_all(64 - shift))}};
}

/* Digits that are not zero in all lanes, or more than sign; lowest > top: there are none. */
struct window_digits {
	uint32_t lowest, top;
};

INLINE struct window_digits
window_digits(const struct aggregate_lanes *lanes, uint32_t count)
{
	struct window_digits found = {WINDOW_DIGITS, 0};
	struct window_sums any = {0}, span = {0};

	for (uint32_t lane = 0; lane < count; lane += WORDS) {
		const struct window_sums sums = window_sums(lanes, lane, count - lane);
		const words sign = words_shift_right(sums.word[2], words_all(63));

		for (uint32_t w = 0; w < WINDOW_WORDS; w++) {
			any.word[w] |= sums.word[w];
			span.word[w] |= sums.word[w] ^ sign;
		}
	}
	for (uint32_t d = WINDOW_DIGITS; d-- > 0;) {
		if ((uint32_t)(words_or(any.word[d / 2]) >> d % 2 * 32) != 0)
			found.lowest = d;
		if (found.top == 0 && (uint32_t)(words_or(span.word[d / 2]) >> d % 2 * 32) != 0)
			found.top = d;
	}
	if (found.lowest < WINDOW_DIGITS && found.top < found.lowest)
		found.top = found.lowest;
	return found;
}

/* The top one takes the sign. */
INLINE words
window_digit(const struct window_sums *sums, uint32_t digit, bool top)
{
	const words word = sums->word[digit / 2];

	if (top)
		return digit % 2 == 0 ? word : word >> 32 | sums->word[digit / 2 + 1] << 32;
	return digit % 2 == 0 ? word & UINT32_MAX : word >> 32;
}

INLINE void
totals_from_whole_window(const struct aggregate_lanes *lanes, struct aggregate_totals *totals)
{
	const struct window_digits digits = window_digits(lanes, totals->count);
	const uint32_t bin = lanes->window / BIN_PLACES;

	if (digits.lowest <= digits.top)
		totals_use(totals, bin + digits.lowest, bin + digits.top + 1);
	for (uint32_t lane = 0; lane < totals->count; lane += WORDS) {
		const struct window_sums sums = window_sums(lanes, lane, totals->count - lane);

		for (uint32_t d = digits.lowest; d <= digits.top; d++)
			add_to_row(totals, bin + d, lane, window_digit(&sums, d, d == digits.top));
		mark_lanes(AGGREGATE_FP64, PLAIN_LAY_OUT, lanes, totals, lane,
			sums.word[0] | sums.word[1] | sums.word[2]);
	}
}

INLINE void
totals_from_sums(enum aggregate_format format, unsigned int lay_out,
	const struct aggregate_lanes *lanes, struct aggregate_totals *to)
{
	struct aggregate_totals totals = *to;

	if (has_bins(format) && !lanes->has_specials)
		totals_from_groups(format, lay_out, lanes, &totals);
	else if (format == AGGREGATE_FP64 && lanes->windowed && !lanes->has_specials)
		totals_from_whole_window(lanes, &totals);
	else
		totals_from_lanes(format, lay_out, lanes, &totals);
	to->lowest = totals.lowest;
	to->end = totals.end;
}

#endif /* TOTALS_LANES_H */
