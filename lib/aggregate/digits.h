/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DIGITS_H
#define DIGITS_H

/** @file Totals: which bins are in use. */

#include "aggregate_digits.h"

/** Something is added to bins from `lowest` on, up to before `end`. */
static inline void
totals_use(struct aggregate_totals *totals, uint32_t lowest, uint32_t end)
{
	totals->lowest = (uint8_t)(lowest < totals->lowest ? lowest : totals->lowest);
	totals->end = (uint8_t)(end > totals->end ? end : totals->end);
}

/** Bins that a short total has at the most: it goes into an integer of 128 bits. */
#define SHORT_BINS 3

/** The first bin of a short total, of a format that has so many in all. */
static inline uint32_t
totals_base(const struct aggregate_totals *totals, uint32_t all)
{
	return totals->lowest < all - SHORT_BINS ? totals->lowest : all - SHORT_BINS;
}

/** Whether no more than SHORT_BINS are in use, as with numbers of similar size. */
static inline bool
totals_are_short(const struct aggregate_totals *totals, uint32_t all)
{
	return totals->end <= totals_base(totals, all) + SHORT_BINS;
}

/** A lane's total, from its first bin on. */
static inline __int128
totals_short(const int64_t *bins)
{
	return (__int128)((unsigned __int128)bins[0] + ((unsigned __int128)bins[1] << 32) +
		((unsigned __int128)bins[2] << 64));
}

#endif /* DIGITS_H */
