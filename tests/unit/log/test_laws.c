/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for the arithmetic of table sets as for real arithmetic. The argument is a format. */
#include <math.h>

#include "block.h"
#include "naive.h"

/*
 * How many log words z is off before it is rounded: each rounding to the nearest costs one half,
 * each one down costs one, and a result has two of them.
 */
static double
words_off(const struct netfc_set *s)
{
	return netfc_set_rounding(s) == NETFC_FLOOR ? 2 : 1;
}

static bool
is_difference(enum netfc_op op, double x, double y)
{
	return (op == NETFC_ADD && signbit(x) != signbit(y)) ||
		(op == NETFC_SUB && signbit(x) == signbit(y));
}

/*
 * Between what the absolute value of a result may lie. Of a difference theta matters too, which the
 * two logarithms put off by up to a word; more than is left if the operands are as near as that.
 */
static void
bound_result(
	const struct netfc_set *s, enum netfc_op op, double x, double y, double *low, double *high)
{
	/* A hair more for the guard, which drops less than that. */
	double factor = exp2(words_off(s) / netfc_set_scale(s)) * (1 + 0x1p-14);
	double word = exp2(1.0 / netfc_set_scale(s));
	double large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));

	if (is_difference(op, x, y)) {
		*low = fmax(0, large - small * word) / factor;
		*high = (large - small / word) * factor;
		return;
	}
	*low = op == NETFC_MUL ? fabs(x * y) : op == NETFC_DIV ? fabs(x / y) : large + small;
	*high = *low * factor;
	*low /= factor;
}

static void
expect_near(const struct netfc_set *s, enum netfc_op op, uint32_t lane)
{
	double x = naive_value(format, block.x[lane]), y = naive_value(format, block.y[lane]);
	uint32_t z = netfc_magnitude(format, block.z[lane]);
	uint32_t to_floor = netfc_set_rounding(s) == NETFC_FLOOR;
	double low, high;

	bound_result(s, op, x, y, &low, &high);
	if (z + to_floor < naive_round(format, low) || z > naive_round(format, high))
		block_fail(s, op, lane, "further from the real result than the roundings go");
	if (z != 0 &&
		(naive_value(format, block.z[lane]) < 0) !=
			(naive_result(format, op, block.x[lane], block.y[lane]) < 0))
		block_fail(s, op, lane, "the sign is wrong");
}

static void
expect_all_near(const struct netfc_set *s, enum netfc_op op)
{
	uint16_t special;

	netfc_compute(s, op, block.x, block.y, block.z, block.flags, BLOCK_LANES);
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (!naive_special(format, op, block.x[lane], block.y[lane], &special))
			expect_near(s, op, lane);
	}
}

static void
check_nearness(void)
{
	for (unsigned s = 0; s < BLOCK_SETS; s++) {
		FOREACH_OP(op)
		{
			expect_all_near(block_set[s], op);
		}
	}
}

TEST(results_are_as_near_as_the_roundings_allow)
{
	uint64_t seed = 4;

	for (unsigned i = 0; i < 2; i++) {
		block_fill_random(&seed);
		check_nearness();
		block_fill_neighbours(&seed);
		check_nearness();
	}
}

static void
expect_same(struct netfc_result a, struct netfc_result b)
{
	assert_int_equal(a.z, b.z);
	assert_int_equal(a.flags, b.flags);
}

TEST(sums_and_products_commute)
{
	uint64_t seed = 5;

	for (unsigned i = 0; i < 2 * BLOCK_LANES; i++) {
		uint16_t x = (uint16_t)next_random(&seed), y = (uint16_t)next_random(&seed);

		for (unsigned s = 0; s < BLOCK_SETS; s++) {
			expect_same(netfc_calc(block_set[s], NETFC_ADD, x, y),
				netfc_calc(block_set[s], NETFC_ADD, y, x));
			expect_same(netfc_calc(block_set[s], NETFC_MUL, x, y),
				netfc_calc(block_set[s], NETFC_MUL, y, x));
		}
	}
}

TEST(subtraction_adds_the_negative)
{
	uint64_t seed = 6;

	for (unsigned i = 0; i < 2 * BLOCK_LANES; i++) {
		uint16_t x = (uint16_t)next_random(&seed), y = (uint16_t)next_random(&seed);

		for (unsigned s = 0; s < BLOCK_SETS; s++)
			expect_same(netfc_calc(block_set[s], NETFC_SUB, x, y),
				netfc_calc(block_set[s], NETFC_ADD, x, netfc_negate(format, y)));
	}
}

/* A factor's or a divisor's sign is the result's; NaN alone has none. */
TEST(signs_of_products_and_quotients_multiply)
{
	uint64_t seed = 7;

	for (unsigned i = 0; i < 2 * BLOCK_LANES; i++) {
		uint16_t x = (uint16_t)next_random(&seed), y = (uint16_t)next_random(&seed);

		for (enum netfc_op op = NETFC_MUL; op <= NETFC_DIV; op++) {
			struct netfc_result plus = netfc_calc(block_set[0], op, x, y);
			struct netfc_result minus =
				netfc_calc(block_set[0], op, netfc_negate(format, x), y);

			if (!isnan(naive_value(format, plus.z)))
				plus.z = netfc_negate(format, plus.z);
			expect_same(minus, plus);
		}
	}
}

FORMAT_MAIN(block_build_sets, block_free_sets)
