/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP64_LANES_H
#define FP64_LANES_H

/**
 * @file
 * Sums of fp64. A value's *place* is how far its last bit is above that of the least subnormal: its
 * biased exponent (1 for subnormals) less 1, 0 to 2045.
 *
 * Values of similar size, as gradients are, are added as they are into one integer of 128 bits a
 * lane, the *window*: 64 places, the same ones for all lanes. 53 bits of a significand, 63 places
 * and 64 workers make 122 bits. Zeros go with any window.
 *
 * Other values go into *bins* of 32 places, an int64 each: the lower 32 bits of the shifted
 * significand into one, the upper 52 into the next. 64 workers make 58 bits. A lane's bins are
 * neighbours in memory; a bit for each says which are in use: others are neither cleared nor read.
 *
 * With vectors, most sums need neither, see fp64_pairs.h.
 */

#include <netfc_arith.h>

#include "kernels/accumulate_and_round_lanes.h"
#include "kernels/words.h"

#define WINDOW_PLACES 64
#define WINDOW_HEADROOM 8 /* places above the first worker's greatest, where there are others */
#define WINDOW_GREATEST (FP64_PLACES - WINDOW_PLACES) /* place: where the last one begins */
#define NO_WINDOW UINT32_MAX

#define FP64_PLACES 2046
#define FP64_BYTES sizeof(uint64_t)
#define FP64_EXPONENTS 0x7ff
#define FP64_FRACTION ((UINT64_C(1) << FP64_FRACTION_BITS) - 1)

/* A value's significand and place; a special one gives some number. */
struct fp64_value {
	uint64_t magnitude;
	uint64_t sign; /* all bits set or none */
	uint64_t place;
};

INLINE struct fp64_value
fp64_unpack(uint64_t bits)
{
	uint64_t exponent = bits >> FP64_FRACTION_BITS & FP64_EXPONENTS;
	uint64_t normal = exponent != 0;

	return (struct fp64_value){(bits & FP64_FRACTION) | normal << FP64_FRACTION_BITS,
		-(bits >> 63), exponent - normal};
}

/* What there is in a packet: places of numbers that are not zero, and whether others are. */
struct fp64_range {
	uint64_t least, greatest; /* least > greatest: all are zeros */
	bool special;
};

INLINE struct fp64_range
fp64_range(const uint8_t *values, uint32_t count)
{
	uint64_t least = UINT64_MAX, greatest = 0, most = 0;

	/* By magnitudes: that of a zero, less 1, is greater than all others. */
	for (uint32_t i = 0; i < count; i++) {
		uint64_t magnitude = load64(values, i) & (FP64_SIGN - 1);
		uint64_t finite = magnitude < FP64_INF ? magnitude : 0;

		most = magnitude > most ? magnitude : most;
		greatest = finite > greatest ? finite : greatest;
		least = finite - 1 < least ? finite - 1 : least;
	}
	if (greatest == 0)
		return (struct fp64_range){1, 0, most >= FP64_INF};
	return (struct fp64_range){
		fp64_unpack(least + 1).place, fp64_unpack(greatest).place, most >= FP64_INF};
}

/* The window. */

/*
 * Add to it, or begin with it; all workers' values are and-ed, for their signs. Returns whether a
 * value has no place in it: what has been added means nothing then.
 */
INLINE bool
put_window(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	uint64_t *lower = window_lower(lanes), *upper = window_upper(lanes);
	uint64_t *common = (uint64_t *)(void *)lanes->common;
	const words one = words_all(1), start = words_all(lanes->window);
	const words last_place = words_all(WINDOW_PLACES - 1);
	words outside = {0};

	for (uint32_t i = 0; i < count; i += WORDS) {
		words bits = words_load_values(values + FP64_BYTES * (size_t)i, count - i);
		words exponent = bits >> FP64_FRACTION_BITS & FP64_EXPONENTS;
		words normal = words_least(exponent, one);
		words number = (bits & FP64_FRACTION) | normal << FP64_FRACTION_BITS;
		words shift = exponent - normal - start;
		words sign = words_shift_right(bits, last_place), low, high, sum;

		outside |= words_less(last_place, shift) & number;
		shift &= last_place;
		number = (number ^ sign) - sign;
		low = number << shift;
		high = words_shift_right(number, WINDOW_PLACES - shift);
		sum = first ? low : words_load(lower + i) + low;
		if (!first)
			high += words_load(upper + i) - words_less(sum, low);
		words_store(lower + i, sum);
		words_store(upper + i, high);
		words_store(common + i, first ? bits : words_load(common + i) & bits);
	}
	return words_any(outside);
}

/* Take away what has been added. */
static __attribute__((noinline)) void
take_from_window(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	uint64_t *lower = window_lower(lanes), *upper = window_upper(lanes);

	for (uint32_t i = 0; i < count; i++) {
		struct fp64_value value = fp64_unpack(load64(values, i));
		uint64_t shift = (value.place - lanes->window) % WINDOW_PLACES;
		__int128 sum = window_of_lane(lanes, i);
		unsigned __int128 added = (unsigned __int128)value.magnitude << shift;

		added = (unsigned __int128)sum - (value.sign != 0 ? -added : added);
		lower[i] = (uint64_t)added;
		upper[i] = (uint64_t)(added >> 64);
	}
}

/* Where it begins, if it ends with that place. */
INLINE uint32_t
window_below(uint64_t place)
{
	const uint64_t start = place < WINDOW_PLACES ? 0 : place + 1 - WINDOW_PLACES;

	return (uint32_t)(start < WINDOW_GREATEST ? start : WINDOW_GREATEST);
}

/* Whether it has a place for all values; the first number there is decides where it lies. */
INLINE bool
window_takes(struct aggregate_lanes *lanes, const struct fp64_range *range)
{
	if (range->least > range->greatest)
		return true;
	if (lanes->window == NO_WINDOW) {
		lanes->window = window_below(range->greatest + WINDOW_HEADROOM);
	}
	return range->least >= lanes->window && range->greatest < lanes->window + WINDOW_PLACES;
}

/* Bins. */

/* Add to a bin and the one above it. */
INLINE void
add_to_two_bins(int64_t *bins, uint64_t in_use, uint64_t bin, uint64_t low, uint64_t high)
{
	const uint64_t with_below = (in_use | in_use << 1) >> bin & 1;
	const uint64_t with_above = (in_use >> bin | in_use >> bin >> 1) & 1;

	bins[bin] = (int64_t)(((uint64_t)bins[bin] & -with_below) + low);
	bins[bin + 1] = (int64_t)(((uint64_t)bins[bin + 1] & -with_above) + high);
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_fp64_bins(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	uint64_t *common = (uint64_t *)(void *)lanes->common;
	uint64_t *in_use = bins_in_use(lanes);
	bool special = false;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t bits = load64(values, i);
		struct fp64_value value = fp64_unpack(bits);
		uint64_t bin = value.place / BIN_PLACES, shift = value.place % BIN_PLACES;
		uint64_t low = value.magnitude << shift & UINT32_MAX;
		uint64_t high = value.magnitude >> (BIN_PLACES - shift);

		low = (low ^ value.sign) - value.sign;
		high = (high ^ value.sign) - value.sign;
		common[i] = first ? bits : common[i] & bits;
		add_to_two_bins(bins_of_lane(lanes, i), in_use[i], bin, low, high);
		/* What a zero has written is not in use. */
		in_use[i] |= (uint64_t)(value.magnitude != 0) << bin;
		special |= value.place >= FP64_PLACES;
	}
	return special;
}

/* A lane's sum from the window into bins that are not in use. */
INLINE uint64_t
spread_window(__int128 sum, uint32_t start, int64_t *bins)
{
	const uint32_t bin = start / BIN_PLACES, shift = start % BIN_PLACES;
	const __int128 above = sum >> (BIN_PLACES - shift);

	if (sum == 0)
		return 0;
	bins[bin] = (int64_t)((uint64_t)sum << shift & UINT32_MAX);
	bins[bin + 1] = (int64_t)((uint64_t)above & UINT32_MAX);
	bins[bin + 2] = (int64_t)((uint64_t)above >> 32);
	bins[bin + 3] = (int64_t)(above >> 64);
	return UINT64_C(7) << bin;
}

static __attribute__((noinline)) void
leave_window(struct aggregate_lanes *lanes, uint32_t count, bool first)
{
	uint64_t *in_use = bins_in_use(lanes);

	lanes->windowed = false;
	if (first || lanes->window == NO_WINDOW)
		memset(in_use, 0, count * sizeof(*in_use));
	else
		for (uint32_t i = 0; i < count; i++)
			in_use[i] = spread_window(
				window_of_lane(lanes, i), lanes->window, bins_of_lane(lanes, i));
}

/* All of it. */

static __attribute__((noinline)) void
note_fp64_specials(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	if (!lanes->has_specials)
		memset(lanes->specials, 0, lanes->capacity);
	lanes->has_specials = true;
	for (uint32_t i = 0; i < count; i++)
		lanes->specials[i] |= special_of_wide(load64(values, i));
}

/* What has no place in the window, or decides where that lies. */
static __attribute__((noinline)) void
put_fp64_slowly(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	const struct fp64_range range = fp64_range(values, count);

	if (!window_takes(lanes, &range))
		leave_window(lanes, count, first);
	if (range.special)
		note_fp64_specials(lanes, values, count);
	if (!lanes->windowed)
		put_fp64_bins(lanes, values, count, first);
	else if (first)
		put_window(lanes, values, count, true);
	else
		put_window(lanes, values, count, false);
}

INLINE void
put_first_fp64(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	lanes->has_specials = false;
	lanes->windowed = true;
	lanes->window = NO_WINDOW;
	put_fp64_slowly(lanes, values, count, true);
}

INLINE void
put_next_fp64(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	if (lanes->windowed && lanes->window != NO_WINDOW) {
		if (!put_window(lanes, values, count, false))
			return;
		take_from_window(lanes, values, count);
	} else if (!lanes->windowed) {
		if (put_fp64_bins(lanes, values, count, false))
			note_fp64_specials(lanes, values, count);
		return;
	}
	put_fp64_slowly(lanes, values, count, false);
}

#endif /* FP64_LANES_H */
