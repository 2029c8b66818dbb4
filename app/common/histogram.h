/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

/**
 * @file
 * Log-linear histogram of durations: every power of two is cut into 64 equal buckets, so that a
 * percentile is known to 1.6 %, whatever its size.
 */

#include <stdint.h>

#include <rte_common.h>

#define HISTOGRAM_BITS 6 /* 64 buckets per power of two */
#define HISTOGRAM_STEPS (1u << HISTOGRAM_BITS)
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) * HISTOGRAM_STEPS)

struct histogram {
	uint64_t count, sum, least, greatest;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* The first powers of two are too small to be cut: their durations have a bucket each. */
static inline uint32_t
histogram_index(uint64_t value)
{
	uint32_t shift;

	if (value < HISTOGRAM_STEPS)
		return (uint32_t)value;
	shift = 63 - HISTOGRAM_BITS - (uint32_t)__builtin_clzll(value);
	return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/** Add a duration that `times` things took. */
static inline void
histogram_add_times(struct histogram *histogram, uint64_t value, uint64_t times)
{
	if (histogram->count == 0 || value < histogram->least)
		histogram->least = value;
	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->count += times;
	histogram->sum += value * times;
	histogram->bucket[histogram_index(value)] += times;
}

/** Add a duration. */
static inline void
histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram_add_times(histogram, value, 1);
}

/** Add the durations of another, which may be written meanwhile. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/**
 * Sort the durations, ticks, to 1.6 % into other buckets, which do not depend on the clock.
 *
 * @param hz ticks a second, up to 10^10
 * @param bounds_ns the greatest duration of each of the other buckets in nanoseconds, ascending, up
 * to a second
 * @param counts how many are in each of these, and one more: how many take longer
 */
void histogram_sort(const struct histogram *histogram, uint64_t hz, const uint32_t *bounds_ns,
	unsigned int bounds, uint64_t *counts);

/** The greatest duration of a bucket. */
uint64_t histogram_bound(uint32_t index);

/**
 * A duration that the given share of all is not above, up to the width of a bucket.
 *
 * @param share 0..1
 * @return the duration; 0 if there are none
 */
uint64_t histogram_percentile(const struct histogram *histogram, double share);

#endif /* HISTOGRAM_H */
