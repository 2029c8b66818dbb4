/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

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
