/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHORT_WORDS_H
#define SHORT_WORDS_H

/** @file Short totals (digits.h), as many lanes at a time as there are words in a vector. */

#include "digits.h"
#include "words.h"

/* Totals in 128 bits. */
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

#endif /* SHORT_WORDS_H */
