/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithms of integers: rounded right, and as near to the real ones as their prefixes allow. */
#include <math.h>
#include <stdlib.h>

#include "precise.h"
#include "unit.h"

/* 2^bits * log2(value), rounded, from MPFR; ties do not occur but for powers of two. */
static uint64_t
precise_rounded(uint64_t value, unsigned bits)
{
	unsigned exponent = 63 - (unsigned)__builtin_clzll(value);
	struct precise log = precise_log2_significand(value << (63 - exponent));
	int128 half = (int128)1 << (PRECISE_BITS - bits - 1);

	return ((uint64_t)exponent << bits) +
		(uint64_t)((log.floor + half) >> (PRECISE_BITS - bits));
}

TEST(every_logarithm_is_rounded_to_the_nearest)
{
	static const unsigned bits[] = {0, 10, 15, NETFC_LOG2_MAX_BITS};
	uint64_t seed = 1;

	for (unsigned b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
		for (uint64_t value = 1; value < 5000; value++)
			assert_int_equal(
				netfc_log2(value, bits[b]), precise_rounded(value, bits[b]));
		for (unsigned i = 0; i < 5000; i++) {
			uint64_t value = (next_random(&seed) | 1) >> i % 60 | 1;

			assert_int_equal(
				netfc_log2(value, bits[b]), precise_rounded(value, bits[b]));
		}
	}
}

/* The logarithm that a prefix gives to an integer, and how far off it may be. */
static void
check_integer(const struct netfc_prefix *prefix, uint64_t value, unsigned below, unsigned bits)
{
	double off = fabs(prefix->value - ldexp(log2((double)value), (int)bits));

	if (off > ldexp(0.73, (int)bits - (int)below) + 0.5)
		fail_msg("log2(%llu) is off by %g words", (unsigned long long)value, off);
}

/* Prefixes follow each other without a gap from 1 to 2^32 - 1. */
static void
check_prefixes(unsigned below, unsigned bits, size_t expected)
{
	struct netfc_prefix *prefixes;
	uint64_t next = 1;
	size_t count;

	assert_int_equal(netfc_log2_prefixes(below, bits, &prefixes, &count), NETFC_OK);
	assert_int_equal(count, expected);
	for (size_t p = 0; p < count; p++) {
		uint64_t last = next + ((UINT64_C(1) << (32 - prefixes[p].length)) - 1);

		assert_int_equal(prefixes[p].key, next);
		assert_int_equal(next & (last - next), 0);
		check_integer(&prefixes[p], next, below, bits);
		check_integer(&prefixes[p], last, below, bits);
		next = last + 1;
	}
	assert_int_equal(next, UINT64_C(1) << 32);
	free(prefixes);
}

TEST(prefixes_cover_all_integers)
{
	check_prefixes(0, 10, 32);
	check_prefixes(10, 10, 23551);
	check_prefixes(13, 15, 163839);
}

TEST(wrong_arguments)
{
	struct netfc_prefix *prefixes;
	size_t count;

	assert_int_equal(netfc_log2_prefixes(32, 10, &prefixes, &count), NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_log2_prefixes(10, 27, &prefixes, &count), NETFC_ERR_ARGUMENT);
}
