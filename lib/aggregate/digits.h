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

#endif /* DIGITS_H */
