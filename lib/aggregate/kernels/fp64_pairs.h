/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP64_PAIRS_H
#define FP64_PAIRS_H

/**
 * @file
 * Sums of fp64 in pairs of numbers, exact: what additions give, and what their roundings lose,
 * which is computed (Knuth's TwoSum) and added up likewise. In the end the one is added to the
 * other, rounded once by the processor. The first worker's values are kept as they came until the
 * next one's come.
 *
 * If a lane needs more, or is no number, all pairs go on as two workers' values in the window or in
 * bins (fp64_lanes.h). Means of more than two workers and totals are made there, too. In plain C
 * there are no pairs.
 */

#include "kernels/arithmetic.h"
#include "kernels/fp64_lanes.h"

#if WORDS > 1

struct pairs {
	doubles sum, lost;
};

/* What additions give is where the first worker's values were. */
INLINE uint64_t *
pair_sums(const struct aggregate_lanes *lanes)
{
	return (uint64_t *)(void *)lanes->common;
}

/* The last vector is filled up with zeros. */
INLINE void
keep_values(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	memcpy(lanes->common, values, FP64_BYTES * (size_t)count);
	memset(pair_sums(lanes) + count, 0, (-count % WORDS) * FP64_BYTES);
}

/* kept: the first worker's values, and not pairs. */
INLINE struct pairs
pairs_load(const struct aggregate_lanes *lanes, uint32_t i, const bool kept)
{
	const words sums = words_load(pair_sums(lanes) + i);

	if (kept)
		return (struct pairs){(doubles)words_swap(sums), (doubles){0}};
	return (struct pairs){(doubles)sums, (doubles)words_load(fp64_lost(lanes) + i)};
}

/* `more` gets bits where a pair does not hold the sum. */
INLINE struct pairs
pairs_add(struct pairs to, doubles numbers, const bool kept, words *more)
{
	struct pairs sums;
	doubles lost, lost_again;

	sums.sum = two_sum(to.sum, numbers, &lost);
	if (kept) {
		sums.lost = lost;
		*more |= (words)(lost != lost);
	} else {
		sums.lost = two_sum(to.lost, lost, &lost_again);
		*more |= (words)(lost_again != (doubles){0});
	}
	return sums;
}

/* Rounded once. -0 and a lost +0 are -0. */
INLINE doubles
pairs_round(struct pairs sums)
{
	const words exact = (words)(sums.lost == (doubles){0});

	return (doubles)(((words)sums.sum & exact) | ((words)(sums.sum + sums.lost) & ~exact));
}

/* Returns the first of the lanes to which these are not added, as one needs more; or `count`. */
INLINE uint32_t
add_to_pairs(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, const bool kept)
{
	const uint64_t arithmetic = begin_arithmetic();
	uint32_t i;

	for (i = 0; i < count; i += WORDS) {
		words more = {0};
		const struct pairs sums = pairs_add(pairs_load(lanes, i, kept),
			(doubles)words_load_values(values + FP64_BYTES * (size_t)i, count - i),
			kept, &more);

		if (words_any(more))
			break;
		words_store(pair_sums(lanes) + i, (words)sums.sum);
		words_store(fp64_lost(lanes) + i, (words)sums.lost);
	}
	end_arithmetic(arithmetic);
	return i < count ? i : count;
}

/* -0 changes no sum. */
INLINE void
fill_with_nothing(uint8_t *values, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		store64(values, i, FP64_SIGN);
}

/* A number in the window: its integer in the unit there, if that is one. */
INLINE void
find_place(words bits, words start, words *low, words *high, words *outside)
{
	const words exponent = bits >> FP64_FRACTION_BITS & FP64_EXPONENTS;
	const words normal = words_least(exponent, words_all(1));
	const words last_place = words_all(WINDOW_PLACES - 1);
	const words sign = words_shift_right(bits, last_place);
	const words shift = exponent - normal - start;
	const words is_below = words_shift_right(shift, last_place);
	const words right = words_least(-shift & is_below, last_place), left = shift & ~is_below;
	words number = (bits & FP64_FRACTION) | normal << FP64_FRACTION_BITS, whole;

	number = (number ^ sign) - sign;
	whole = words_shift_right(number, right);
	*outside |= ((whole << right) ^ number) | (words_less(last_place, left) & number);
	*low = whole << (left & last_place);
	*high = words_shift_right(whole, WINDOW_PLACES - (left & last_place));
}

/* The greatest magnitude of all sums. */
INLINE uint64_t
greatest_sum(const struct aggregate_lanes *lanes, uint32_t count)
{
	words least = words_all(UINT64_MAX);
	uint64_t each[WORDS], greatest = 0;

	for (uint32_t i = 0; i < count; i += WORDS)
		least = words_least(least, ~words_load(pair_sums(lanes) + i) | FP64_SIGN);
	words_store(each, ~least);
	for (uint32_t w = 0; w < WORDS; w++)
		greatest = each[w] > greatest ? each[w] : greatest;
	return greatest;
}

/* What a lane has lost, if anything, or -0, which changes no sum and no sign. */
INLINE words
lost_or_nothing(const struct aggregate_lanes *lanes, uint32_t i)
{
	const words lost = words_load(fp64_lost(lanes) + i);

	return lost | (FP64_SIGN & (words)((doubles)lost == (doubles){0}));
}

/*
 * Pairs begin the window: they are multiples of the least place of all that was added. False: it
 * does not hold them. headroom: places above all sums, for what is added later.
 */
INLINE bool
put_pairs_in_window(struct aggregate_lanes *lanes, uint32_t count, uint32_t headroom)
{
	uint64_t *sums = pair_sums(lanes);
	words start, outside = {0};

	lanes->has_specials = false;
	lanes->windowed = true;
	lanes->window = window_below(fp64_unpack(greatest_sum(lanes, count)).place + headroom);
	start = words_all(lanes->window);
	for (uint32_t i = 0; i < count; i += WORDS) {
		words low, high, low_lost, high_lost;

		find_place(words_load(sums + i), start, &low, &high, &outside);
		find_place(
			words_load(fp64_lost(lanes) + i), start, &low_lost, &high_lost, &outside);
		low += low_lost;
		words_store(window_lower(lanes) + i, low);
		words_store(window_upper(lanes) + i, high + high_lost - words_less(low, low_lost));
		if (words_any(outside))
			return false;
	}
	for (uint32_t i = 0; i < count; i += WORDS)
		words_store(sums + i, words_load(sums + i) & lost_or_nothing(lanes, i));
	return true;
}

/*
 * The first so many lanes have pairs, the others what is kept: all of that begins the window or
 * bins.
 */
static __attribute__((noinline)) void
leave_pairs(struct aggregate_lanes *lanes, uint32_t count, uint32_t pairs, uint32_t headroom)
{
	uint64_t *sums = pair_sums(lanes), *lost = fp64_lost(lanes);

	lanes->doubles = 0;
	if (pairs == count && put_pairs_in_window(lanes, count, headroom))
		return;
	for (uint32_t i = 0; i < pairs; i += WORDS) {
		words_store(sums + i, words_swap(words_load(sums + i)));
		words_store(lost + i, words_swap(lost_or_nothing(lanes, i)));
	}
	put_first_fp64(lanes, lanes->common, count);
	if (pairs == 0)
		return;
	fill_with_nothing((uint8_t *)lost, pairs, count);
	put_next_fp64(lanes, (const uint8_t *)lost, count);
}

/* All of them. */
INLINE void
leave_all_pairs(struct aggregate_lanes *lanes, uint32_t count)
{
	if (lanes->doubles != 0)
		leave_pairs(lanes, count, lanes->kept ? 0 : count, 0);
}

/* Values that no pair holds from a lane on. */
static __attribute__((noinline)) void
put_beyond_pairs(
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, uint32_t lane)
{
	const size_t done = FP64_BYTES * (size_t)lane;
	uint8_t *rest = (uint8_t *)fp64_lost(lanes);

	leave_pairs(lanes, count, lanes->kept ? lane : count, WINDOW_HEADROOM);
	if (lane == 0) {
		put_next_fp64(lanes, values, count);
		return;
	}
	fill_with_nothing(rest, 0, lane);
	memcpy(rest + done, values + done, FP64_BYTES * (size_t)count - done);
	put_next_fp64(lanes, rest, count);
}

/*
 * All workers' sums, or two workers' means, with the last one's values. Half of a rounded sum is
 * exact; only where it is subnormal is it rounded, and the sum is exact there. False: a lane needs
 * more, or is no number; nothing has changed but results.
 */
INLINE bool
finish_pairs(const bool kept, const bool mean, const struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, uint8_t *result, uint8_t *flags)
{
	const uint64_t arithmetic = begin_arithmetic();
	const words inf = words_all(FP64_INF);
	words more = {0}, vanished = {0};

	for (uint32_t i = 0; i < count && !words_any(more); i += WORDS) {
		const size_t at = FP64_BYTES * (size_t)i;
		const struct pairs to = pairs_load(lanes, i, kept);
		const doubles last = (doubles)words_load_values(values + at, count - i);
		const doubles sum =
			kept ? to.sum + last : pairs_round(pairs_add(to, last, false, &more));
		const doubles reduced = mean ? sum * 0.5 : sum;

		more |= (words)(((words)sum & inf) == inf);
		if (mean)
			vanished |= (words)(sum != (doubles){0}) & (words)(reduced == (doubles){0});
		words_store_values(result + at, (words)reduced, count - i);
	}
	end_arithmetic(arithmetic);
	*flags = words_any(vanished) ? NETFC_UNDERFLOW : 0;
	return !words_any(more);
}

INLINE void
put_fp64(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	uint32_t lane;

	(void)format;
	if (first) {
		keep_values(lanes, values, count);
		lanes->doubles = 1;
		lanes->kept = true;
		return;
	}
	if (lanes->doubles == 0) {
		put_next_fp64(lanes, values, count);
		return;
	}
	lane = lanes->kept ? add_to_pairs(lanes, values, count, true)
			   : add_to_pairs(lanes, values, count, false);
	if (lane < count)
		put_beyond_pairs(lanes, values, count, lane);
	lanes->kept = false;
}

/* False: the sums are in the window or in bins now, with the last worker's values, if any. */
INLINE bool
finish_with_pairs(bool mean, struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	uint8_t *result, uint8_t *flags)
{
	if (values != NULL && values != result && lanes->doubles != 0) {
		if (lanes->kept && finish_pairs(true, mean, lanes, values, count, result, flags))
			return true;
		if (!lanes->kept && !mean &&
			finish_pairs(false, false, lanes, values, count, result, flags))
			return true;
	}
	if (values != NULL)
		put_fp64(AGGREGATE_FP64, lanes, values, count, false);
	leave_all_pairs(lanes, count);
	return false;
}

#else

INLINE void
put_fp64(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	(void)format;
	if (first)
		put_first_fp64(lanes, values, count);
	else
		put_next_fp64(lanes, values, count);
}

INLINE void
leave_all_pairs(struct aggregate_lanes *lanes, uint32_t count)
{
	(void)lanes, (void)count;
}

INLINE bool
finish_with_pairs(bool mean, struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	uint8_t *result, uint8_t *flags)
{
	(void)mean, (void)result, (void)flags;
	if (values != NULL)
		put_next_fp64(lanes, values, count);
	return false;
}

#endif

#endif /* FP64_PAIRS_H */
