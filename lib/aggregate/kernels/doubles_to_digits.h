/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOUBLES_TO_DIGITS_H
#define DOUBLES_TO_DIGITS_H

/** @file Sums in binary64, see doubles_lanes.h, to bins, and to totals. */

#include "kernels/doubles.h"
#include "kernels/totals_lanes.h"

#if WORDS > 2

/* Of a lane, at most; while a worker's values are added, one more has what is lost there. */
#define DOUBLES 2

/* The exponent field of a binary64 whose last place is 1. */
#define EXPONENT_OF_ONE 1075
#define FRACTION_BITS 52
#define EXPONENTS 0x7ff
#define MINUS_ZERO (UINT64_C(1) << 63)

/* Integers, in the digit of their last place and the two after it. */
struct in_digits {
	words digit, part[3];
};

/* Numbers that are multiples of 2^unit, in digits from there on. */
INLINE struct in_digits
to_digits(words numbers, int unit)
{
	const words exponent = numbers >> FRACTION_BITS & EXPONENTS;
	const words sign = words_shift_right(numbers, words_all(63));
	const words nonzero = words_less(words_all(0), exponent);
	const words above = exponent - (uint64_t)(EXPONENT_OF_ONE + unit), below = -above;
	const uint64_t hidden = UINT64_C(1) << FRACTION_BITS;
	const words fraction = ((numbers & (hidden - 1)) | hidden) & nonzero;
	/* Less than 0 are those of the upper half. */
	const words is_below = words_shift_right(above, words_all(63));
	const words integer = fraction >> (below & is_below & nonzero);
	const words place = above & ~is_below & nonzero, shift = place & 31;
	const words part[3] = {integer << shift & UINT32_MAX, integer >> (32 - shift) & UINT32_MAX,
		integer >> 32 >> (32 - shift)};
	struct in_digits result = {.digit = place >> 5};

	for (int p = 0; p < 3; p++)
		result.part[p] = (part[p] ^ sign) - sign;
	return result;
}

/* One of a lane's, from `lane` on. */
INLINE words
double_of(const struct aggregate_lanes *lanes, size_t stride, unsigned int which, uint32_t lane)
{
	return words_load((const uint64_t *)lanes->sums + which * stride + lane);
}

/* Digits of totals, and of bins with one that the last of them takes. */
#define MOST_DIGITS (BINS + 1)
/* Those of numbers of similar size. */
#define FEW_DIGITS 4

/* Digits first .. first + count - 1, none of the numbers' before them. */
INLINE void
add_parts(words *parts, const struct in_digits *numbers, uint32_t first, uint32_t count)
{
	words one_below = {0}, two_below = {0};

	for (uint32_t d = 0; d < count; d++) {
		const words same = (words)(numbers->digit == words_all(first + d));

		parts[d] += (numbers->part[0] & same) | (numbers->part[1] & one_below) |
			(numbers->part[2] & two_below);
		two_below = one_below;
		one_below = same;
	}
}

/* Whether all values are -0, which only their sum is then: no other sum that is zero may become -0.
 */
INLINE void
note_signs(enum aggregate_format format, unsigned int lay_out, struct aggregate_lanes *lanes,
	uint32_t lane, words sums)
{
	uint64_t sum[WORDS];
	uint32_t bits = 0;

	memcpy(sum, &sums, sizeof(sum));
	for (uint32_t w = 0; w < WORDS; w++)
		bits |= (uint32_t)(sum[w] == MINUS_ZERO) << w;
	if ((lay_out & SIGNS_AS_BITS) != 0)
		lanes->common[lane / WORDS] = (uint8_t)bits;
	for (uint32_t w = 0; (lay_out & SIGNS_AS_BITS) == 0 && w < WORDS; w++)
		store(format, lanes->common, lane + w, (bits >> w & 1) * ieee_of(format).sign);
}

/* All DOUBLES + 1. The last bin takes what is above it: sums are less than 2^60 of its units. */
static __attribute__((noinline)) void
leave_doubles(enum aggregate_format format, unsigned int lay_out, struct aggregate_lanes *lanes,
	uint32_t count)
{
	const size_t stride = bin_stride(format, lanes);

	for (uint32_t lane = 0; lane < count; lane += WORDS) {
		uint64_t *bins = (uint64_t *)lanes->sums + lane;
		words parts[MOST_DIGITS] = {{0}};

		note_signs(format, lay_out, lanes, lane, double_of(lanes, stride, 0, lane));
		for (unsigned int d = 0; d < DOUBLES + 1; d++) {
			const struct in_digits digits =
				to_digits(double_of(lanes, stride, d, lane), BINS_UNIT);

			add_parts(parts, &digits, 0, MOST_DIGITS);
		}
		parts[BINS - 1] += parts[BINS] << 32;
		for (unsigned int b = 0; b < BINS; b++)
			words_store(bins + b * stride, parts[b]);
	}
	lanes->doubles = 0;
}

INLINE uint32_t
least_of(words values)
{
	uint64_t all[WORDS], least = UINT32_MAX;

	memcpy(all, &values, sizeof(all));
	for (uint32_t w = 0; w < WORDS; w++)
		least = all[w] < least ? all[w] : least;
	return (uint32_t)least;
}

/* That of a number's last place; the first, if that is below all digits. */
INLINE uint32_t
digit_of_last_place(uint32_t exponent, int unit)
{
	const uint32_t zero = (uint32_t)(EXPONENT_OF_ONE + unit);

	return exponent > zero ? (exponent - zero) / 32 : 0;
}

/* The digits that lanes have, of totals. */
struct digits_in_use {
	uint32_t first, count;
};

INLINE struct digits_in_use
digits_of_doubles(const struct aggregate_lanes *lanes, size_t stride, uint32_t count, int unit)
{
	words lowest = words_all(UINT32_MAX), highest = lowest;
	uint32_t first, last;

	for (unsigned int d = 0; d < lanes->doubles; d++)
		for (uint32_t lane = 0; lane < count; lane += WORDS) {
			const words exponent =
				double_of(lanes, stride, d, lane) >> FRACTION_BITS & EXPONENTS;
			const words zero = words_less(exponent, words_all(1)) & UINT32_MAX;

			lowest = words_least(lowest, exponent | zero);
			highest = words_least(highest, UINT16_MAX - exponent);
		}
	first = least_of(lowest);
	last = UINT16_MAX - least_of(highest);
	if (last == 0)
		return (struct digits_in_use){0, 0};
	first = digit_of_last_place(first, unit);
	last = digit_of_last_place(last, unit) + 2;
	last = last < MOST_DIGITS ? last : MOST_DIGITS - 1;
	first = first < MOST_DIGITS - FEW_DIGITS ? first : MOST_DIGITS - FEW_DIGITS;
	return (struct digits_in_use){first, last - first + 1};
}

/* Lanes are other than -0, unless their sum is, which has only one double then. */
INLINE void
mark_doubles(const struct aggregate_lanes *lanes, const struct aggregate_totals *totals)
{
	const int64_t *restrict sums = lanes->sums;
	const uint8_t *restrict specials = lanes->specials;
	uint8_t *restrict marks = totals->marks;
	const uint32_t count = totals->count;

	for (uint32_t lane = 0; lane < count; lane++)
		marks[lane] |= sums[lane] != INT64_MIN ? AGGREGATE_MARK_MINUS_ZERO : 0;
	for (uint32_t lane = 0; lanes->has_specials && lane < count; lane++)
		marks[lane] |= specials[lane];
}

/* Digits first .. first + count - 1; `count` is a constant wherever this is used. */
INLINE void
add_to_digits(const struct aggregate_lanes *lanes, size_t stride, int unit,
	struct aggregate_totals *totals, uint32_t first, const uint32_t count)
{
	words any[MOST_DIGITS] = {{0}};

	for (uint32_t lane = 0; lane < totals->count; lane += WORDS) {
		words parts[MOST_DIGITS] = {{0}};

		for (unsigned int d = 0; d < lanes->doubles; d++) {
			const struct in_digits digits =
				to_digits(double_of(lanes, stride, d, lane), unit);

			add_parts(parts, &digits, first, count);
		}
		for (uint32_t d = 0; d < count; d++) {
			add_to_row(totals, first + d, lane, parts[d]);
			any[d] |= parts[d];
		}
	}
	for (uint32_t d = 0; d < count; d++)
		if (words_any(any[d]))
			totals_use(totals, first + d, first + d + 1);
}

/* Of lanes that are in doubles. */
INLINE void
totals_from_doubles(
	enum aggregate_format format, struct aggregate_lanes *lanes, struct aggregate_totals *to)
{
	const size_t stride = bin_stride(format, lanes);
	const int unit = BINS_UNIT + (int)bins_below(format);
	struct aggregate_totals totals = *to;
	struct digits_in_use use;

	if (lanes->has_specials)
		clear_specials(format, lanes, totals.count);
	use = digits_of_doubles(lanes, stride, totals.count, unit);
	if (use.count > FEW_DIGITS)
		add_to_digits(lanes, stride, unit, &totals, 0, MOST_DIGITS);
	else if (use.count > 0)
		add_to_digits(lanes, stride, unit, &totals, use.first, FEW_DIGITS);
	mark_doubles(lanes, &totals);
	to->lowest = totals.lowest;
	to->end = totals.end;
}

#endif

#endif /* DOUBLES_TO_DIGITS_H */
