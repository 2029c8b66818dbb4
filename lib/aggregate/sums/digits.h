/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DIGITS_H
#define DIGITS_H

/** @file Totals: which bins are in use. */

#include "aggregate_digits.h"

/** Totals in memory that is all clear. */
struct aggregate_totals totals_in(enum aggregate_format format, uint32_t count, void *memory);

/** Clear that memory again: much less than all of it, where numbers are of similar size. */
void totals_clear(struct aggregate_totals *totals);

/** Something is added to bins from `lowest` on, up to before `end`. */
static inline void
totals_use(struct aggregate_totals *totals, uint32_t lowest, uint32_t end)
{
	totals->lowest = (uint8_t)(lowest < totals->lowest ? lowest : totals->lowest);
	totals->end = (uint8_t)(end > totals->end ? end : totals->end);
}

/** Bins that a short total has at most: it goes into an integer of 128 bits. */
#define SHORT_BINS 4

/** What the last of them holds is less, or the total may have more bits. */
#define SHORT_TOP (INT64_C(1) << 30)

/** The first bin of a short total, of a format that has so many in all. */
static inline uint32_t
totals_base(const struct aggregate_totals *totals, uint32_t all)
{
	return totals->lowest < all - SHORT_BINS ? totals->lowest : all - SHORT_BINS;
}

/** Whether all totals of a range of lanes are short, as with numbers of similar size. */
static inline bool
totals_are_short(const struct aggregate_totals *totals, uint32_t first, uint32_t end)
{
	const uint32_t top = totals_base(totals, totals->digits) + SHORT_BINS - 1;
	const int64_t *bins = totals->bins + top * totals->stride;
	uint64_t any = 0;

	if (totals->end <= top)
		return true;
	for (uint32_t lane = first; lane < end; lane++)
		any |= (uint64_t)bins[lane] + SHORT_TOP;
	return totals->end == top + 1 && any < 2 * (uint64_t)SHORT_TOP;
}

/** Whether a lane has seen NaN or an infinity. */
static inline bool
totals_are_special(const struct aggregate_totals *totals, uint32_t lane)
{
	return (totals->marks[lane] & ~AGGREGATE_MARK_MINUS_ZERO) != 0;
}

/** A lane's total, from a digit on: of bins in use alone, since others are far from the cache. */
static inline __int128
totals_short(const struct aggregate_totals *totals, uint32_t lane, uint32_t base)
{
	unsigned __int128 sum = 0;

	for (uint32_t b = totals->end; b-- > base;)
		sum = (sum << 32) + (unsigned __int128)totals->bins[b * totals->stride + lane];
	return (__int128)sum;
}

#endif /* DIGITS_H */
