/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why quotients made of rounded parts are rounded correctly: over all pairs of significands, what
 * the tables give is less than a unit off, no quotient is nearer than that to a rounding boundary
 * unless it is on it, and then it is exact. The argument is a set.
 *
 * S is the width of a significand; a unit is 2^-(2S+1) of a quotient in (1/2, 2), so that rounding
 * boundaries are multiples of 2^S units, or of more where the result is subnormal.
 */
#include "exact/exact_family.h"
#include "exact/small_family.h"
#include "unit.h"

static const char *name;

/* The sum of the two parts of the stage-saving layout. */
static uint64_t
sum_of_parts(const struct netfc_set *set, uint32_t x, uint32_t y)
{
	const uint32_t *high = set->table[EXACT_PART].entries, *low = high + (1u << 16);
	const uint32_t div = 1u << 15;

	return high[div | (x >> 5 & 31) << 10 | (y & 1023)] +
		low[div | (x & 31) << 10 | (y & 1023)];
}

/* The product with the reciprocal in the small one. */
static uint64_t
product_with_reciprocal(
	const struct netfc_set *set, struct small_shape shape, uint32_t x, uint32_t y)
{
	const struct netfc_table *factor = &set->table[SMALL_FACTOR];
	uint32_t key = 1u << shape.fraction | (y & ((1u << shape.fraction) - 1));
	uint64_t high = factor->entries[key], low = factor->entries[1u << factor->key_bits | key];

	return 2 * x * high + (x * low >> shape.significand);
}

struct margin {
	double worst_error;    /* of a quotient, in units */
	double least_distance; /* of a quotient that is on no boundary from one */
};

static void
check_quotient(struct margin *margin, unsigned s, uint64_t computed, uint64_t x, uint64_t y)
{
	const uint64_t dividend = x << (2 * s + 1), boundary = y << s;
	const uint64_t rest = dividend % boundary;
	const uint64_t nearest = rest < boundary - rest ? rest : boundary - rest;
	const double error = ((double)computed * (double)y - (double)dividend) / (double)y;

	if (rest == 0) {
		assert_true(computed * y == dividend);
		return;
	}
	if (error > margin->worst_error || -error > margin->worst_error)
		margin->worst_error = error < 0 ? -error : error;
	if ((double)nearest / (double)y < margin->least_distance)
		margin->least_distance = (double)nearest / (double)y;
}

TEST(quotients_stay_off_the_boundaries)
{
	struct netfc_set *set = must_build(name);
	const struct small_shape shape = small_shape(set->id.format);
	const bool parts = set->family == &netfc_exact_family;
	const unsigned s = shape.significand;
	struct margin margin = {0, 1e9};

	for (uint32_t x = 1u << (s - 1); x < 1u << s; x++) {
		for (uint32_t y = 1u << (s - 1); y < 1u << s; y++)
			check_quotient(&margin, s,
				parts ? sum_of_parts(set, x, y)
				      : product_with_reciprocal(set, shape, x, y),
				x, y);
	}
	REPORT("%s: %u-bit significands: least distance %.6f units, worst error %.6f units\n", name,
		s, margin.least_distance, margin.worst_error);
	assert_true(margin.worst_error < 1);
	assert_true(margin.least_distance > 1);
	netfc_set_free(set);
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s SET\n", argv[0]);
		return 1;
	}
	name = argv[1];
	return tests_run(NULL, NULL);
}
