/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DIGITS_LANES_H
#define DIGITS_LANES_H

/**
 * @file
 * Digits into totals and out of them, as many lanes at a time as there are words in a vector.
 */

#include <endian.h>

#include "kernels/words.h"
#include "sums/digits.h"
#include "sums/lanes.h"

/* Short totals (digits.h) in 128 bits. */
struct total_words {
	words lower, upper;
};

/* Bins of short totals: those in use, since others are clear, and far from the cache. */
struct short_bins {
	const int64_t *bins;
	size_t stride;
	uint32_t rows;
};

INLINE struct short_bins
short_bins_of(const struct aggregate_totals *totals)
{
	const uint32_t base = totals_base(totals, totals->digits);

	return (struct short_bins){totals->bins + base * totals->stride, totals->stride,
		totals->end > base ? totals->end - base : 0};
}

INLINE words
short_row(struct short_bins bins, uint32_t row, uint32_t lane, uint32_t left)
{
	return row < bins.rows ? words_load_some(bins.bins + row * bins.stride + lane, left)
			       : words_all(0);
}

/* As totals_short(). */
INLINE struct total_words
short_words(struct short_bins bins, uint32_t lane, uint32_t left)
{
	const words first = short_row(bins, 0, lane, left), last = short_row(bins, 3, lane, left);
	const words second = short_row(bins, 1, lane, left), third = short_row(bins, 2, lane, left);
	const words above = second << 32, lower = first + above;
	const words carry = words_less(lower, above);
	const words upper = words_shift_right(first, words_all(63)) +
		words_shift_right(second, words_all(32)) + third + (last << 32) - carry;

	return (struct total_words){lower, upper};
}

#if WORDS > 1

/*
 * Three digits a lane: of vectors of the bytes from the first and from the WORDS'th digit on, the
 * digit k. Both are taken as they come, the most significant one first.
 */
#define OF_THREE(k) ((k) < 2 * WORDS ? (k) : (k) + WORDS)
#define UPPER_OF_THREE(lane) OF_THREE(3 * (lane)), OF_THREE(3 * (lane) + 1)
#define LOWER_OF_THREE(lane) OF_THREE(3 * (lane)), OF_THREE(3 * (lane) + 2)

/* Digit k of three a lane: of vectors with the upper two, and with any and the least. */
#define INTO_THREE(k) ((k) % 3 < 2 ? (k) / 3 * 2 + (k) % 3 : 2 * WORDS + (k) / 3 * 2 + 1)

#if WORDS == 8
#define OF_ALL_LANES(X) X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7)
#define FROM_DIGIT(X, k)                                                                      \
	X(k), X(k + 1), X(k + 2), X(k + 3), X(k + 4), X(k + 5), X(k + 6), X(k + 7), X(k + 8), \
		X(k + 9), X(k + 10), X(k + 11), X(k + 12), X(k + 13), X(k + 14), X(k + 15)
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define LOWER_PAIRS 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER_PAIRS 4, 12, 5, 13, 6, 14, 7, 15
#elif WORDS == 4
#define OF_ALL_LANES(X) X(0), X(1), X(2), X(3)
#define FROM_DIGIT(X, k) X(k), X(k + 1), X(k + 2), X(k + 3), X(k + 4), X(k + 5), X(k + 6), X(k + 7)
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define LOWER_PAIRS 0, 4, 1, 5
#define UPPER_PAIRS 2, 6, 3, 7
#else
#define OF_ALL_LANES(X) X(0), X(1)
#define FROM_DIGIT(X, k) X(k), X(k + 1), X(k + 2), X(k + 3)
#define EVEN 0, 2
#define ODD 1, 3
#define LOWER_PAIRS 0, 2
#define UPPER_PAIRS 1, 3
#endif

INLINE struct total_words
load_one_digit(const uint8_t *at)
{
	lower_halves digits;

	memcpy(&digits, at, sizeof(digits));
	return (struct total_words){
		.lower = words_shift_right(
			words_swap(__builtin_convertvector(digits, words)), words_all(32))};
}

INLINE struct total_words
load_three_digits(const uint8_t *at)
{
	halves first, last;
	words upper, lower;

	memcpy(&first, at, sizeof(first));
	memcpy(&last, at + 4 * WORDS, sizeof(last));
	upper = words_swap(
		(words)__builtin_shufflevector(first, last, OF_ALL_LANES(UPPER_OF_THREE)));
	lower = words_swap(
		(words)__builtin_shufflevector(first, last, OF_ALL_LANES(LOWER_OF_THREE)));
	return (struct total_words){
		upper << 32 | (lower & UINT32_MAX), words_shift_right(upper, words_all(32))};
}

INLINE struct total_words
load_four_digits(const uint8_t *at)
{
	words first, last;

	memcpy(&first, at, sizeof(first));
	memcpy(&last, at + sizeof(first), sizeof(last));
	return (struct total_words){words_swap(__builtin_shufflevector(first, last, ODD)),
		words_swap(__builtin_shufflevector(first, last, EVEN))};
}

INLINE void
store_one_digit(uint8_t *at, struct total_words totals)
{
	const lower_halves digits =
		__builtin_convertvector(words_swap(totals.lower) >> 32, lower_halves);

	memcpy(at, &digits, sizeof(digits));
}

INLINE void
store_three_digits(uint8_t *at, struct total_words totals)
{
	const halves upper = (halves)words_swap(totals.lower >> 32 | totals.upper << 32);
	const halves lower = (halves)words_swap(totals.lower);
	const halves first = __builtin_shufflevector(upper, lower, FROM_DIGIT(INTO_THREE, 0));
	const halves last = __builtin_shufflevector(upper, lower, FROM_DIGIT(INTO_THREE, WORDS));

	memcpy(at, &first, sizeof(first));
	memcpy(at + 4 * WORDS, &last, sizeof(last));
}

INLINE void
store_four_digits(uint8_t *at, struct total_words totals)
{
	const words upper = words_swap(totals.upper), lower = words_swap(totals.lower);
	const words first = __builtin_shufflevector(upper, lower, LOWER_PAIRS);
	const words last = __builtin_shufflevector(upper, lower, UPPER_PAIRS);

	memcpy(at, &first, sizeof(first));
	memcpy(at + sizeof(first), &last, sizeof(last));
}

#else

INLINE uint32_t
load_digit(const uint8_t *at, uint32_t i)
{
	uint32_t digit;

	memcpy(&digit, at + 4 * i, sizeof(digit));
	return be32toh(digit);
}

INLINE void
store_digit(uint8_t *at, uint32_t i, uint64_t digit)
{
	const uint32_t swapped = htobe32((uint32_t)digit);

	memcpy(at + 4 * i, &swapped, sizeof(swapped));
}

INLINE struct total_words
load_one_digit(const uint8_t *at)
{
	return (struct total_words){.lower = (uint64_t)(int32_t)load_digit(at, 0)};
}

INLINE struct total_words
load_three_digits(const uint8_t *at)
{
	return (struct total_words){(uint64_t)load_digit(at, 1) << 32 | load_digit(at, 2),
		(uint64_t)(int32_t)load_digit(at, 0)};
}

INLINE struct total_words
load_four_digits(const uint8_t *at)
{
	return (struct total_words){
		words_swap(words_load_some(at + 8, 1)), words_swap(words_load_some(at, 1))};
}

INLINE void
store_one_digit(uint8_t *at, struct total_words totals)
{
	store_digit(at, 0, totals.lower);
}

INLINE void
store_three_digits(uint8_t *at, struct total_words totals)
{
	store_digit(at, 0, totals.upper);
	store_digit(at, 1, totals.lower >> 32);
	store_digit(at, 2, totals.lower);
}

INLINE void
store_four_digits(uint8_t *at, struct total_words totals)
{
	words_store_some(at, words_swap(totals.upper), 1);
	words_store_some(at + 8, words_swap(totals.lower), 1);
}

#endif

/* Lanes' digits as they are in packets. Those above the width are not given. */
INLINE struct total_words
load_digits(const uint8_t *at, uint32_t width)
{
	switch (width) {
	case 1:
		return load_one_digit(at);
	case 2:
		return (struct total_words){.lower = words_load_values(at, WORDS)};
	case 3:
		return load_three_digits(at);
	default:
		return load_four_digits(at);
	}
}

INLINE void
store_digits(uint8_t *at, uint32_t width, struct total_words totals)
{
	switch (width) {
	case 1:
		store_one_digit(at, totals);
		break;
	case 2:
		words_store_some(at, words_swap(totals.lower), WORDS);
		break;
	case 3:
		store_three_digits(at, totals);
		break;
	default:
		store_four_digits(at, totals);
	}
}

/* A digit of some that have a width: the last one is signed. */
INLINE words
digit_of(struct total_words totals, uint32_t digit, uint32_t width)
{
	const words word = digit < 2 ? totals.lower : totals.upper;

	if (digit + 1 == width)
		return words_shift_right(word, words_all(digit % 2 * 32));
	return digit % 2 != 0 ? word >> 32 : word & UINT32_MAX;
}

INLINE void
add_some_digits(int64_t *bins, size_t stride, const uint8_t *digits, uint32_t width, uint32_t left)
{
	const struct total_words totals = load_digits(digits, width);

	for (uint32_t d = 0; d < width; d++) {
		int64_t *bin = bins + d * stride;

		words_store_some(
			bin, words_load_some(bin, left) + digit_of(totals, d, width), left);
	}
}

INLINE void
add_few_digits(int64_t *bins, size_t stride, const struct aggregate_part *part, uint32_t width)
{
	const uint8_t *digits = part->digits;
	uint8_t rest[4 * SHORT_BINS * WORDS] = {0};
	uint32_t left = part->lanes;

	for (; left >= WORDS; left -= WORDS, bins += WORDS, digits += 4 * width * WORDS)
		add_some_digits(bins, stride, digits, width, WORDS);
	if (left == 0)
		return;
	memcpy(rest, digits, 4 * width * left);
	add_some_digits(bins, stride, rest, width, left);
}

/* However many there are, a lane at a time. */
static __attribute__((noinline)) void
add_many_digits(int64_t *bins, size_t stride, const struct aggregate_part *part)
{
	const uint8_t *digits = part->digits;
	const uint32_t width = part->width;

	for (uint32_t i = 0; i < part->lanes; i++, bins++, digits += 4 * (size_t)width)
		for (uint32_t d = 0; d < width; d++) {
			uint32_t digit;

			memcpy(&digit, digits + 4 * (size_t)d, sizeof(digit));
			digit = be32toh(digit);
			bins[(width - 1 - d) * stride] += d == 0 ? (int32_t)digit : (int64_t)digit;
		}
}

static void
add_digits(struct aggregate_totals *totals, const struct aggregate_part *part)
{
	const size_t stride = totals->stride;
	int64_t *bins = totals->bins + part->lowest * stride + part->first;

	switch (part->width) {
	case 1:
		add_few_digits(bins, stride, part, 1);
		break;
	case 2:
		add_few_digits(bins, stride, part, 2);
		break;
	case 3:
		add_few_digits(bins, stride, part, 3);
		break;
	case 4:
		add_few_digits(bins, stride, part, 4);
		break;
	default:
		add_many_digits(bins, stride, part);
	}
}

static struct total_bits
bits_of_totals(const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	const struct short_bins bins = short_bins_of(totals);
	struct total_words any = {0}, span = {0};

	for (uint32_t lane = first; lane < end; lane += WORDS) {
		const struct total_words is = short_words(bins, lane, end - lane);
		const words sign = words_shift_right(is.upper, words_all(63));

		any.lower |= is.lower;
		any.upper |= is.upper;
		span.lower |= is.lower ^ sign;
		span.upper |= is.upper ^ sign;
	}
	return (struct total_bits){
		(unsigned __int128)words_or(any.upper) << 64 | words_or(any.lower),
		(unsigned __int128)words_or(span.upper) << 64 | words_or(span.lower)};
}

INLINE struct total_words
shift_down(struct total_words totals, uint32_t places)
{
	if (places >= 64)
		totals = (struct total_words){
			totals.upper, words_shift_right(totals.upper, words_all(63))};
	if (places % 64 != 0)
		totals = (struct total_words){totals.lower >> 32 | totals.upper << 32,
			words_shift_right(totals.upper, words_all(32))};
	return totals;
}

INLINE void
write_lanes(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes, uint32_t places,
	uint32_t width, uint8_t *digits)
{
	const struct short_bins bins = short_bins_of(totals);
	uint8_t rest[4 * SHORT_BINS * WORDS];
	uint32_t left = lanes;

	for (; left >= WORDS; left -= WORDS, first += WORDS, digits += 4 * width * WORDS)
		store_digits(digits, width, shift_down(short_words(bins, first, WORDS), places));
	if (left == 0)
		return;
	store_digits(rest, width, shift_down(short_words(bins, first, left), places));
	memcpy(digits, rest, 4 * width * left);
}

static void
write_digits(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes, uint32_t places,
	uint32_t width, uint8_t *digits)
{
	switch (width) {
	case 1:
		write_lanes(totals, first, lanes, places, 1, digits);
		break;
	case 2:
		write_lanes(totals, first, lanes, places, 2, digits);
		break;
	case 3:
		write_lanes(totals, first, lanes, places, 3, digits);
		break;
	default:
		write_lanes(totals, first, lanes, places, 4, digits);
	}
}

#endif /* DIGITS_LANES_H */
