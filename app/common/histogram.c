/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <rte_cycles.h>

#include "histogram.h"

uint64_t
histogram_bound(uint32_t index)
{
	uint32_t shift;

	if (index < HISTOGRAM_STEPS)
		return index;
	shift = (index >> HISTOGRAM_BITS) - 1;
	return ((uint64_t)(HISTOGRAM_STEPS + index % HISTOGRAM_STEPS + 1) << shift) - 1;
}

void
histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	if (other->count == 0)
		return;
	if (histogram->count == 0 || other->least < histogram->least)
		histogram->least = other->least;
	histogram->greatest = RTE_MAX(histogram->greatest, other->greatest);
	histogram->count += other->count;
	histogram->sum += other->sum;
	for (uint32_t index = 0; index < HISTOGRAM_BUCKETS; index++)
		histogram->bucket[index] += other->bucket[index];
}

void
histogram_sort(const struct histogram *histogram, uint64_t hz, const uint32_t *bounds_ns,
	unsigned int bounds, uint64_t *counts)
{
	unsigned int b = 0;

	memset(counts, 0, (bounds + 1) * sizeof(counts[0]));
	for (uint32_t index = 0; index < HISTOGRAM_BUCKETS; index++) {
		while (b < bounds && histogram_bound(index) > bounds_ns[b] * hz / NS_PER_S)
			b++;
		counts[b] += histogram->bucket[index];
	}
}

uint64_t
histogram_percentile(const struct histogram *histogram, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count), seen = 0;

	for (uint32_t index = 0; index < HISTOGRAM_BUCKETS; index++) {
		seen += histogram->bucket[index];
		if (seen >= wanted && seen > 0)
			return RTE_MIN(histogram_bound(index), histogram->greatest);
	}
	return 0;
}
