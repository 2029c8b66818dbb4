/* SPDX-License-Identifier: BSD-3-Clause */
/* min, max, compare and fma: against double precision, and fma against MPFR. */
#include <math.h>
#include <string.h>

#include "naive_extra.h"
#include "operands.h"
#include "unit.h"

#include <mpfr.h>

/* The sum of a number and a product of bf16 fits: multiples of 2^-266 below 2^257. */
#define EXACT_BITS 600

#define TRIPLES 1000000
#define MPFR_TRIPLES 50000
/* Every so many x with every y, unless NETFC_STRIDE says otherwise. */
#define STRIDE 97

static const struct netfc_format *format;

static void
fail_result(enum netfc_extra_op op, uint16_t x, uint16_t y, uint16_t z, struct netfc_result result,
	const char *what)
{
	fail_msg("%s: %s(%#x, %#x, %#x) = %#x, flags %#x: %s", netfc_format_name(format),
		netfc_extra_name(op), x, y, z, result.z, result.flags, what);
}

static void
expect_as_naive(enum netfc_extra_op op, uint16_t x, uint16_t y, uint16_t z)
{
	struct netfc_result result = netfc_extra(format, op, x, y, z);
	struct netfc_result expected = naive_extra(format, op, x, y, z);

	if (result.z != expected.z)
		fail_result(op, x, y, z, result, "double precision says otherwise");
	if (result.flags != expected.flags)
		fail_result(op, x, y, z, result, "the flags are others by their definitions");
}

static void
expect_fma(uint16_t x, uint16_t y, uint16_t z)
{
	expect_as_naive(NETFC_FMA, x, y, z);
}

/* naive_order()'s inverse. */
static double
number_at(int64_t order)
{
	const int64_t bits = order ^ (order < 0 ? INT64_MAX : 0);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Each from its first number to its last one, so for all numbers between. */
TEST(ranges_are_what_the_search_finds)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const struct naive_range range = naive_ranges(format)[bits];

		if (isnan(naive_value(format, (uint16_t)bits))) {
			assert_int_equal(
				range.least <= range.greatest, bits == naive_encode(format, NAN));
			continue;
		}
		assert_int_equal(naive_encode(format, number_at(range.least)), bits);
		assert_int_equal(naive_encode(format, number_at(range.greatest)), bits);
		assert_int_not_equal(naive_encode(format, number_at(range.least - 1)), bits);
		assert_int_not_equal(naive_encode(format, number_at(range.greatest + 1)), bits);
	}
}

static uint32_t
wrong_ones(enum netfc_extra_op op, uint16_t x, uint16_t y, uint16_t z, struct netfc_result result)
{
	const uint16_t bits = (uint16_t)result.z;
	const struct naive_lanes lane = {x, &y, &z, &bits, &result.flags, 1};

	return naive_extra_wrong(format, op, &lane);
}

/* The quick comparison of the exhaustive tests is no other than the slow one. */
TEST(the_quick_comparison_tells_neighbours)
{
	uint64_t seed = 3;

	for (unsigned i = 0; i < TRIPLES; i++) {
		uint64_t random = next_random(&seed);
		uint16_t x = (uint16_t)random, y = (uint16_t)(random >> 16);
		uint16_t z = (uint16_t)(random >> 32);
		enum netfc_extra_op op = NETFC_MIN + i % (NETFC_EXTRA_END - NETFC_MIN);
		struct netfc_result result = naive_extra(format, op, x, y, z);

		assert_int_equal(wrong_ones(op, x, y, z, result), 0);
		result.z += (random >> 48 & 1) != 0 ? 1 : UINT16_MAX;
		assert_int_equal(wrong_ones(op, x, y, z, result), 1);
	}
}

TEST(fma_of_all_edge_triples)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(format, edges);

	for (unsigned a = 0; a < count; a++) {
		for (unsigned b = 0; b < count; b++) {
			for (unsigned c = 0; c < count; c++)
				expect_fma(edges[a], edges[b], edges[c]);
		}
	}
}

TEST(fma_of_edges_with_every_number)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(format, edges);

	for (unsigned e = 0; e < count; e++) {
		for (uint32_t x = 0; x < 0x10000; x++) {
			uint16_t other = edges[(e + x) % count];

			expect_fma((uint16_t)x, edges[e], other);
			expect_fma(other, edges[e], (uint16_t)x);
		}
	}
}

TEST(fma_of_random_triples)
{
	uint64_t seed = 1;

	for (unsigned i = 0; i < TRIPLES; i++) {
		uint64_t random = next_random(&seed);

		expect_fma((uint16_t)random, (uint16_t)(random >> 16), (uint16_t)(random >> 32));
	}
}

/* z near -xy: what is left is what a product rounded first would lose. */
TEST(fma_of_triples_that_nearly_cancel)
{
	uint64_t seed = 2;

	for (unsigned i = 0; i < TRIPLES; i++) {
		uint64_t random = next_random(&seed);
		uint16_t x = (uint16_t)random, y = (uint16_t)(random >> 16);
		uint16_t product = netfc_exact(format, NETFC_MUL, x, y).z;

		expect_fma(
			x, y, (uint16_t)(netfc_negate(format, product) + (random >> 32 & 3) - 1));
	}
}

static void
expect_as_in_mpfr(uint16_t x, uint16_t y, uint16_t z)
{
	struct netfc_result result = netfc_extra(format, NETFC_FMA, x, y, z);
	uint32_t magnitude = netfc_magnitude(format, result.z);
	mpfr_t a, b, c;

	mpfr_inits2(EXACT_BITS, a, b, c, (mpfr_ptr)NULL);
	mpfr_set_d(a, naive_value(format, x), MPFR_RNDN);
	mpfr_set_d(b, naive_value(format, y), MPFR_RNDN);
	mpfr_set_d(c, naive_value(format, z), MPFR_RNDN);
	assert_int_equal(mpfr_fma(a, a, b, c, MPFR_RNDN), 0);
	if (mpfr_regular_p(a)) {
		int odd = magnitude % 2;

		mpfr_abs(b, a, MPFR_RNDN);
		if (magnitude > naive_least(format) &&
			mpfr_cmp_d(b, naive_boundary(format, magnitude - 1)) < odd)
			fail_result(NETFC_FMA, x, y, z, result, "greater than the nearest");
		if (magnitude < naive_greatest(format) &&
			mpfr_cmp_d(b, naive_boundary(format, magnitude)) > -odd)
			fail_result(NETFC_FMA, x, y, z, result, "less than the nearest");
		if (netfc_is_negative(format, result.z) != (mpfr_sgn(a) < 0))
			fail_result(NETFC_FMA, x, y, z, result, "the sign is wrong");
	} else if (result.z != naive_encode(format, mpfr_get_d(a, MPFR_RNDN))) {
		fail_result(NETFC_FMA, x, y, z, result, "a special value is wrong");
	}
	mpfr_clears(a, b, c, (mpfr_ptr)NULL);
}

TEST(fma_as_in_mpfr)
{
	uint64_t seed = 3;

	for (unsigned i = 0; i < MPFR_TRIPLES; i++) {
		uint64_t random = next_random(&seed);
		uint16_t x = (uint16_t)random, y = (uint16_t)(random >> 16);

		expect_as_in_mpfr(x, y, (uint16_t)(random >> 32));
		expect_as_in_mpfr(
			x, y, netfc_negate(format, netfc_exact(format, NETFC_MUL, x, y).z));
	}
}

static void
expect_order(uint16_t x, uint16_t y)
{
	for (enum netfc_extra_op op = NETFC_MIN; op <= NETFC_COMPARE; op++)
		expect_as_naive(op, x, y, 0x1234);
}

TEST(order_of_every_number_with_many)
{
	for (uint32_t x = 0; x < 0x10000; x += stride_or(STRIDE)) {
		for (uint32_t y = 0; y < 0x10000; y++)
			expect_order((uint16_t)x, (uint16_t)y);
	}
}

TEST(order_of_edges_and_neighbours)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(format, edges);

	for (uint32_t x = 0; x < 0x10000; x++) {
		for (unsigned e = 0; e < count; e++) {
			expect_order((uint16_t)x, edges[e]);
			expect_order(edges[e], (uint16_t)x);
		}
		expect_order((uint16_t)x, (uint16_t)x);
		expect_order((uint16_t)x, (uint16_t)(x + 1));
		expect_order((uint16_t)x, netfc_negate(format, (uint16_t)x));
	}
}

TEST(lanes_are_computed_as_one_is)
{
	enum {
		LANES = 1000
	};
	uint16_t x[LANES], y[LANES], z[LANES], third[LANES];
	uint8_t flags[LANES], all, expected;
	uint64_t seed = 4;

	for (enum netfc_extra_op op = NETFC_MIN; op < NETFC_EXTRA_END; op++) {
		for (unsigned l = 0; l < LANES; l++) {
			x[l] = (uint16_t)next_random(&seed);
			y[l] = (uint16_t)next_random(&seed);
			z[l] = third[l] = (uint16_t)next_random(&seed);
		}
		all = netfc_extra_lanes(format, op, x, y, z, flags, LANES);
		expected = 0;
		for (unsigned l = 0; l < LANES; l++) {
			struct netfc_result result = netfc_extra(format, op, x[l], y[l], third[l]);

			assert_int_equal(z[l], result.z);
			assert_int_equal(flags[l], result.flags);
			expected |= result.flags;
		}
		assert_int_equal(all, expected);
		memcpy(z, third, sizeof(z));
		assert_int_equal(netfc_extra_lanes(format, op, x, y, z, NULL, LANES), expected);
	}
}

TEST(operations_have_names)
{
	for (unsigned op = 0; op < 20; op++) {
		const char *name = netfc_extra_name(op);

		assert_int_equal(name != NULL, op >= NETFC_MIN && op < NETFC_EXTRA_END);
		if (name != NULL)
			assert_int_equal(netfc_extra_by_name(name), op);
	}
	assert_int_equal(netfc_extra_by_name("pow"), 0);
}

FORMAT_MAIN(NULL, NULL)
