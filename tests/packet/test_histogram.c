/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations sorted into buckets of nanoseconds, which do not depend on the clock they were taken
 * by. */
#include <rte_common.h>
#include <rte_cycles.h>

#include "cases.h"
#include "histogram.h"

static const uint32_t bounds_ns[] = {100, 1000, 1000000, 1000000000};
static const uint64_t clocks[] = {24000000, 1000000000, 2600000000, 10000000000};

#define BOUNDS RTE_DIM(bounds_ns)

/* Where a duration of so many ticks comes, as one that another clock has taken does. */
static unsigned int
bucket_of(uint64_t ticks, uint64_t hz)
{
	static struct histogram histogram;
	uint64_t counts[BOUNDS + 1];
	unsigned int found = BOUNDS + 1;

	histogram = (struct histogram){0};
	histogram_add_times(&histogram, ticks, 3);
	histogram_sort(&histogram, hz, bounds_ns, BOUNDS, counts);
	for (unsigned int b = 0; b <= BOUNDS; b++) {
		if (counts[b] == 0)
			continue;
		assert_int_equal(counts[b], 3);
		assert_int_equal(found, BOUNDS + 1); /* in no other */
		found = b;
	}
	return found;
}

TEST(test_bounds_are_of_time)
{
	for (unsigned int c = 0; c < RTE_DIM(clocks); c++) {
		for (unsigned int b = 0; b < BOUNDS; b++) {
			uint64_t bound = bounds_ns[b] * clocks[c] / NS_PER_S;

			/* A bucket of the histogram is up to 1/64 wide. */
			assert_int_equal(bucket_of(bound - bound / 60, clocks[c]), b);
			assert_int_equal(bucket_of(bound + 1, clocks[c]), b + 1);
		}
		assert_int_equal(bucket_of(0, clocks[c]), 0);
		assert_int_equal(bucket_of(UINT64_MAX, clocks[c]), BOUNDS);
	}
}

TEST(test_all_are_counted)
{
	static struct histogram histogram;
	uint64_t counts[BOUNDS + 1], sum = 0;

	for (uint64_t ticks = 1; ticks < UINT64_C(1) << 40; ticks = ticks * 3 + 1)
		histogram_add_times(&histogram, ticks, ticks % 7);
	histogram_sort(&histogram, clocks[2], bounds_ns, BOUNDS, counts);
	for (unsigned int b = 0; b <= BOUNDS; b++)
		sum += counts[b];
	assert_int_equal(sum, histogram.count);
}

TEST(test_none)
{
	static const struct histogram none;
	uint64_t counts[BOUNDS + 1] = {9, 9, 9, 9, 9};

	histogram_sort(&none, clocks[0], bounds_ns, BOUNDS, counts);
	for (unsigned int b = 0; b <= BOUNDS; b++)
		assert_int_equal(counts[b], 0);
}
