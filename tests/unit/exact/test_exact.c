/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded result: against MPFR, whose result lies between the boundaries of z, and
 * against double precision, which is wide enough for these formats.
 */
#include <math.h>

#include "naive.h"
#include "operands.h"
#include "unit.h"

#include <mpfr.h>

/*
 * The sum of any two numbers of a format fits: bf16's are multiples of 2^-133 below 2^129. No
 * quotient that is not representable itself comes as near to a boundary as this many bits tell.
 */
#define EXACT_BITS 320

#define PAIRS 50000

static const struct netfc_format *format;

static void
fail_result(enum netfc_op op, uint16_t x, uint16_t y, struct netfc_result result, const char *what)
{
	fail_msg("%s: %#x %s %#x = %#x, flags %#x: %s", netfc_format_name(format), x,
		netfc_op_symbol(op), y, result.z, result.flags, what);
}

/* Returns whether the result is exact. */
static bool
compute_exactly(mpfr_t result, enum netfc_op op, uint16_t x, uint16_t y)
{
	int inexact;
	mpfr_t b;

	mpfr_init2(b, 53);
	mpfr_set_d(result, naive_value(format, x), MPFR_RNDN);
	mpfr_set_d(b, naive_value(format, y), MPFR_RNDN);
	inexact = op == NETFC_ADD ? mpfr_add(result, result, b, MPFR_RNDN)
		: op == NETFC_SUB ? mpfr_sub(result, result, b, MPFR_RNDN)
		: op == NETFC_MUL ? mpfr_mul(result, result, b, MPFR_RNDN)
				  : mpfr_div(result, result, b, MPFR_RNDN);
	mpfr_clear(b);
	return inexact == 0;
}

/* Whether the magnitude is what a number rounds to: between two boundaries, ties to even. */
static bool
is_nearest(const mpfr_t number, uint32_t magnitude)
{
	bool even = magnitude % 2 == 0;
	int below = 1, above = -1;
	mpfr_t absolute;

	mpfr_init2(absolute, EXACT_BITS);
	mpfr_abs(absolute, number, MPFR_RNDN);
	if (magnitude > naive_least(format))
		below = mpfr_cmp_d(absolute, naive_boundary(format, magnitude - 1));
	if (magnitude < naive_greatest(format))
		above = mpfr_cmp_d(absolute, naive_boundary(format, magnitude));
	mpfr_clear(absolute);
	return (below > 0 || (below == 0 && even)) && (above < 0 || (above == 0 && even));
}

static void
expect_rounded(enum netfc_op op, uint16_t x, uint16_t y)
{
	struct netfc_result result = netfc_exact(format, op, x, y);
	uint16_t special;
	mpfr_t number;

	if (naive_special(format, op, x, y, &special)) {
		if (result.z != special)
			fail_result(op, x, y, result, "a special value is wrong");
		return;
	}
	mpfr_init2(number, EXACT_BITS);
	assert_true(compute_exactly(number, op, x, y) || op == NETFC_DIV);
	if (!is_nearest(number, netfc_magnitude(format, result.z)))
		fail_result(op, x, y, result, "not the nearest");
	if (result.z != 0 && netfc_is_negative(format, result.z) != (mpfr_sgn(number) < 0))
		fail_result(op, x, y, result, "the sign is wrong");
	mpfr_clear(number);
}

static void
expect_all_rounded(uint16_t x, uint16_t y)
{
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++)
		expect_rounded(op, x, y);
}

TEST(random_pairs_are_rounded_to_nearest)
{
	uint64_t seed = 1;

	for (unsigned i = 0; i < PAIRS; i++) {
		uint64_t random = next_random(&seed);

		expect_all_rounded((uint16_t)random, (uint16_t)(random >> 16));
	}
}

/* Results that nearly cancel, and quotients near one. */
TEST(neighbours_are_rounded_to_nearest)
{
	uint64_t seed = 2;

	for (unsigned i = 0; i < PAIRS; i++) {
		uint64_t random = next_random(&seed);
		uint16_t x = (uint16_t)random, y = (uint16_t)(x + (random >> 16 & 15) - 8);

		expect_all_rounded(x, random >> 63 ? netfc_negate(format, y) : y);
	}
}

/*
 * Double precision is enough: a sum of which it loses a bit is off its larger operand by less than
 * any boundary, products fit, and no inexact quotient is as near to a boundary as its error.
 */
static void
expect_as_in_double(enum netfc_op op, uint16_t x, uint16_t y)
{
	struct netfc_result result = netfc_exact(format, op, x, y);
	uint16_t z;

	if (!naive_special(format, op, x, y, &z))
		z = naive_encode(format, naive_result(format, op, x, y));
	if (result.z != z)
		fail_result(op, x, y, result, "double precision says otherwise");
	if (result.flags != naive_flags(format, op, x, y, z))
		fail_result(op, x, y, result, "the flags are others by their definitions");
}

TEST(edge_operands_with_every_other)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(format, edges);

	for (unsigned e = 0; e < count; e++) {
		for (uint32_t other = 0; other < 0x10000; other++) {
			for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
				expect_as_in_double(op, edges[e], (uint16_t)other);
				expect_as_in_double(op, (uint16_t)other, edges[e]);
			}
		}
	}
}

FORMAT_MAIN(NULL, NULL)
