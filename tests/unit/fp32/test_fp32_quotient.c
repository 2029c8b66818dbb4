/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why binary32's quotients are right (docs/exact.md): for each divisor, and the worst remainder for
 * it, a digit's estimate is not too large, and less than one unit too small. And how near a
 * quotient comes to a rounding boundary without being on it.
 */
#include "fp32/fp32_family.h"
#include "unit.h"

#define LEAST (1u << FP32_FRACTION)
#define END (1u << FP32_SIGNIFICAND)

/* A remainder in four parts, from the highest on: where they begin, how many bits they have. */
#define PARTS 4
static const unsigned part_at[PARTS] = {20, 12, 8, 0}, part_bits[PARTS] = {4, 8, 4, 8};

/*
 * By how much the estimate is less than remainder * 2^12 / divisor, in units of 1 / (divisor *
 * 2^11): so much for each unit of each part of the remainder.
 */
static void
shortfalls(uint64_t divisor, uint64_t recip, int64_t per_unit[PARTS])
{
	per_unit[0] = (int64_t)((UINT64_C(1) << 43) - divisor * (recip << 4));
	per_unit[1] = (int64_t)((UINT64_C(1) << 35) - divisor * (recip >> 4));
	per_unit[2] = (int64_t)((UINT64_C(1) << 31) - divisor * (recip >> 12 << 4));
	per_unit[3] = (int64_t)(UINT64_C(1) << 23);
}

static int64_t
shortfall_of(uint32_t remainder, const int64_t per_unit[PARTS])
{
	int64_t sum = 0;

	for (unsigned p = 0; p < PARTS; p++)
		sum += per_unit[p] * (remainder >> part_at[p] & low_mask(part_bits[p]));
	return sum;
}

/*
 * The worst remainder is the greatest one, or has a part that is one less than its part and all
 * parts after it at their greatest: then it is less, whatever they are.
 */
static int64_t
worst_shortfall(uint32_t divisor, const int64_t per_unit[PARTS])
{
	const uint32_t greatest = divisor - 1;
	int64_t worst = shortfall_of(greatest, per_unit);

	for (unsigned p = 0; p < PARTS - 1; p++) {
		uint32_t behind = low_mask(part_at[p]);
		int64_t shortfall = shortfall_of(
			((greatest >> part_at[p]) - 1) << part_at[p] | behind, per_unit);

		worst = shortfall > worst ? shortfall : worst;
	}
	return worst;
}

TEST(estimates_are_right_or_one_too_small)
{
	struct netfc_set *set = must_build("fp32_exact");
	const uint32_t *recip = netfc_table_entries(netfc_set_find_table(set, "recip"));
	double worst = 0;
	uint32_t worst_divisor = 0;

	for (uint32_t divisor = LEAST; divisor < END; divisor++) {
		uint32_t key = divisor >> (FP32_FRACTION - FP32_RECIP_KEY_BITS) &
			low_mask(FP32_RECIP_KEY_BITS);
		int64_t per_unit[PARTS];
		double shortfall;

		shortfalls(divisor, recip[key], per_unit);
		for (unsigned p = 0; p < PARTS; p++)
			assert_true(per_unit[p] >= 0);
		shortfall = (double)worst_shortfall(divisor, per_unit) / 2048 / divisor;
		if (shortfall > worst) {
			worst = shortfall;
			worst_divisor = divisor;
		}
	}
	REPORT("the worst estimate is %.6f units too small, for the divisor 0x%06x\n", worst,
		worst_divisor);
	assert_true(worst < 1);
	netfc_set_free(set);
}

/* The parts' sum is what the program computes. */
TEST(shortfalls_are_those_of_the_program)
{
	struct netfc_set *set = must_build("fp32_exact");
	const uint32_t *recip = netfc_table_entries(netfc_set_find_table(set, "recip"));
	uint64_t seed = 3;

	for (unsigned n = 0; n < 1000000; n++) {
		uint32_t divisor = LEAST + (uint32_t)(next_random(&seed) % LEAST);
		uint32_t remainder = (uint32_t)(next_random(&seed) % divisor);
		uint64_t r = recip[divisor >> 10 & low_mask(FP32_RECIP_KEY_BITS)];
		uint64_t estimate = (remainder >> 12) * (r >> 4) +
			((remainder >> 20) * (r & 15) + (r >> 12) * (remainder >> 8 & 15)) * 16;
		int64_t per_unit[PARTS];

		shortfalls(divisor, r, per_unit);
		assert_true((int64_t)((uint64_t)remainder << 23) - (int64_t)(estimate * divisor) ==
			shortfall_of(remainder, per_unit));
	}
	netfc_set_free(set);
}

/*
 * Boundaries are multiples of 2^-25 of a quotient below 1, of 2^-24 of others. The distance from
 * one is a whole number of 2^-25 / divisor, so that this divisor can come nearest, and 1 is
 * nearest.
 */
TEST(the_nearest_miss_is_one_unit_of_the_remainder)
{
	const uint64_t divisor = END - 1;
	uint64_t nearest = divisor, dividend_of = 0;

	for (uint64_t dividend = LEAST; dividend < divisor; dividend++) {
		uint64_t rest = (dividend << 25) % divisor;
		uint64_t distance = rest < divisor - rest ? rest : divisor - rest;

		if (distance == 0 || distance >= nearest)
			continue;
		nearest = distance;
		dividend_of = dividend;
	}
	REPORT("0x%06x / 0x%06x is %llu / (0x%06x * 2^25) from a boundary, 2^-49 of it\n",
		(unsigned)dividend_of, (unsigned)divisor, (unsigned long long)nearest,
		(unsigned)divisor);
	assert_int_equal(nearest, 1);
}
