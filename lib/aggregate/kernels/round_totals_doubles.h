/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUND_TOTALS_DOUBLES_H
#define ROUND_TOTALS_DOUBLES_H

/** @file Short totals (digits.h) of fp32 to results, in as many binary64 as a vector has. */

#include "kernels/arithmetic.h"
#include "kernels/doubles.h"
#include "kernels/round_totals.h"

#if WORDS > 2

/* Digits in units of one. */
INLINE doubles
number_of_digit(words digit, double one)
{
	const doubles ones = (doubles){0} + 0x1p52;

	return ((doubles)(digit | (words)ones) - ones) * one;
}

/* Rounded to odd, as in doubles_lanes.h. What is not zero above is more than what is below. */
INLINE doubles
add_to_odd(doubles above, doubles below)
{
	const doubles sum = above + below, lost = below - (sum - above);
	const words inexact = (words)(lost != (doubles){0}) & 1;
	const words too_far = (words)lost >> 63;

	return (doubles)(((words)sum - too_far) | inexact);
}

/* Magnitudes in units of one: digits, added from the least on, rounded to odd each time. */
INLINE doubles
number_to_odd(struct total_words magnitude, double one)
{
	const words lower = magnitude.lower, upper = magnitude.upper;
	doubles number = number_of_digit(lower & UINT32_MAX, one);

	number = add_to_odd(number_of_digit(lower >> 32, one * 0x1p32), number);
	number = add_to_odd(number_of_digit(upper & UINT32_MAX, one * 0x1p64), number);
	return add_to_odd(number_of_digit(upper >> 32, one * 0x1p96), number);
}

INLINE struct total_words
magnitude_of_words(struct total_words total)
{
	const words sign = words_shift_right(total.upper, words_all(63));
	const words carry = sign & (words)(total.lower == words_all(0));

	return (struct total_words){
		.lower = (total.lower ^ sign) - sign, .upper = (total.upper ^ sign) - carry};
}

/* 2^(32 digit) of fp32's units. */
INLINE double
unit_of_digit(uint32_t digit)
{
	const uint64_t bits =
		(uint64_t)(FP64_BIAS + unit_of(AGGREGATE_FP32) + DIGIT_BITS * (int)digit)
		<< FP64_FRACTION_BITS;
	double unit;

	memcpy(&unit, &bits, sizeof(unit));
	return unit;
}

INLINE uint8_t
round_short_fp32(const struct aggregate_totals *totals, uint8_t *result)
{
	const double one = unit_of_digit(totals_base(totals, totals->digits));
	const struct short_bins bins = short_bins_of(totals);
	const uint64_t arithmetic = begin_arithmetic();
	lower_halves overflow = {0};

	for (uint32_t lane = 0; lane < totals->count; lane += WORDS) {
		const uint32_t left = totals->count - lane;
		const struct total_words total = short_words(bins, lane, left);
		const words number = (words)number_to_odd(magnitude_of_words(total), one) |
			(total.upper & FP64_SIGN);
		const lower_halves fields =
			(lower_halves) __builtin_convertvector((doubles)number, floats);

		overflow |= (lower_halves)((fields & fp32.inf) == fp32.inf);
		fields_store(AGGREGATE_FP32, result + lane * sizeof(float), left, fields);
	}
	end_arithmetic(arithmetic);
	return any_field(overflow) ? NETFC_OVERFLOW : 0;
}

/* Sums of values all of which were -0. */
INLINE void
write_minus_zeros(const struct aggregate_totals *totals, uint8_t *result)
{
	for (uint32_t i = 0; i < totals->count; i++)
		if (totals->marks[i] == 0 && load32(result, i) == 0)
			store(AGGREGATE_FP32, result, i, fp32.sign);
}

static uint8_t
round_totals_in_doubles(const struct aggregate_totals *totals, unsigned int op,
	unsigned int workers, uint8_t *result)
{
	uint8_t flags, any = 0, all = UINT8_MAX;

	for (uint32_t i = 0; i < totals->count; i++) {
		any |= totals->marks[i];
		all &= totals->marks[i];
	}
	if (totals->format != AGGREGATE_FP32 || op != AGGREGATE_SUM ||
		(any & ~AGGREGATE_MARK_MINUS_ZERO) != 0 ||
		!totals_are_short(totals, 0, totals->count))
		return round_any_totals(totals, op, workers, result);
	flags = round_short_fp32(totals, result);
	if (all == 0)
		write_minus_zeros(totals, result);
	return flags;
}

#endif

#endif /* ROUND_TOTALS_DOUBLES_H */
