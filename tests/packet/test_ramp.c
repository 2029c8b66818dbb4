/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an lcore sleeps. */
#include <stdlib.h>

#include "cases.h"
#include "sleep/ramp.h"

#define SHORTEST_BITS 672 /* of a frame of 64 bytes on the wire */

static const uint32_t rings[] = {0, 1, 32, 64, 256, 512, 1024, 4096, 32768};
static const uint32_t speeds[] = {10, 100, 1000, 2500, 10000, 25000, 40000, 100000, 400000};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(no_ring_overflows)
{
	for (size_t r = 0; r < COUNT(rings); r++) {
		for (size_t s = 0; s < COUNT(speeds); s++) {
			const uint32_t limit = ramp_limit_us(rings[r], speeds[s]);

			if (limit == 0)
				continue;
			assert_true((uint64_t)(limit + RAMP_WAKE_US) * speeds[s] <=
				(uint64_t)rings[r] * SHORTEST_BITS);
			assert_true(limit <= RAMP_LONGEST_US);
		}
	}
}

TEST(known_limits)
{
	assert_int_equal(ramp_limit_us(1024, 10000), 58);
	assert_int_equal(ramp_limit_us(1024, 1000), 678);
	assert_int_equal(ramp_limit_us(4096, 100000), 17);
	assert_int_equal(ramp_limit_us(4096, 100), RAMP_LONGEST_US);
	assert_int_equal(ramp_limit_us(32, 10000), 0);
	assert_int_equal(ramp_limit_us(0, 10), 0);
	assert_int_equal(ramp_limit_us(UINT32_MAX, 1), RAMP_LONGEST_US);
}

/* A link without a speed brings nothing. */
TEST(no_speed)
{
	assert_int_equal(ramp_limit_us(32, 0), RAMP_LONGEST_US);
}

TEST(sleeps_grow_by_a_microsecond)
{
	const uint32_t limit = 58;

	for (uint32_t empty = 0; empty <= RAMP_SPINS; empty++)
		assert_int_equal(ramp_us(empty, limit), 0);
	for (uint32_t us = 1; us <= limit; us++) {
		assert_int_equal(ramp_us(RAMP_SPINS + us, limit), us);
		assert_false(ramp_is_over(RAMP_SPINS + us, limit));
	}
	assert_int_equal(ramp_us(RAMP_SPINS + limit + 1, limit), limit);
	assert_true(ramp_is_over(RAMP_SPINS + limit + 1, limit));
	assert_int_equal(ramp_us(UINT32_MAX, limit), limit);
	assert_true(ramp_is_over(UINT32_MAX, limit));
}

TEST(no_limit_means_no_sleep)
{
	assert_int_equal(ramp_us(UINT32_MAX, 0), 0);
	assert_false(ramp_is_over(UINT32_MAX, 0));
}
