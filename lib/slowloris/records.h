/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_RECORDS_H
#define SLOWLORIS_RECORDS_H

/** @file What the records of both tables share: no record, ticks, words of several lcores. */

#include <stdint.h>

/*
 * Time in ticks of 2^n cycles of the TSC, 13 to 40 microseconds, whatever its frequency: gigahertz
 * on x86, down to some megahertz on arm64. Differences hold for 15 hours.
 */
#define MOST_TICK_SHIFT 16
#define LEAST_TICK_HZ 25000

static inline unsigned int
tick_shift_of(uint64_t hz)
{
	unsigned int shift = MOST_TICK_SHIFT;

	while (shift > 0 && hz >> shift < LEAST_TICK_HZ)
		shift--;
	return shift;
}

/* No position, no record. */
#define NONE UINT32_MAX

static inline uint32_t
load_u32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Written only if it changes, so that lcores do not fight for cache lines. */
static inline void
refresh(uint32_t *seen, uint32_t now)
{
	if (load_u32(seen) != now)
		__atomic_store_n(seen, now, __ATOMIC_RELAXED);
}

#endif /* SLOWLORIS_RECORDS_H */
