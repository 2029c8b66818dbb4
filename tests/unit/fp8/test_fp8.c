/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table set of 8 bits, the argument: all pairs of operands and all triples, by integers and by
 * the set's programs, against values by their definition (OCP 8-bit Floating Point Specification,
 * revision 1.0, section 5), in double precision, which holds sums and products whole; quotients of
 * so few bits stay as far from any boundary as they are before they are rounded to 53.
 */
#include <math.h>

#include "fp8_values.h"
#include "unit.h"

static struct netfc_set *set;
static const struct netfc_format *format;
static struct fp8 fp8;
static const double *const value = fp8.value;

static double
apply(enum netfc_op op, double x, double y)
{
	switch (op) {
	case NETFC_ADD:
		return x + y;
	case NETFC_SUB:
		return x - y;
	case NETFC_MUL:
		return x * y;
	case NETFC_DIV:
	default:
		return x / y;
	}
}

static uint8_t
flags_of(double exact, unsigned z, bool over, bool nan, bool by_zero)
{
	return by_zero                                           ? NETFC_DIVBYZERO
		: isnan(exact) && !nan                           ? NETFC_INVALID
		: over                                           ? NETFC_OVERFLOW
		: exact != 0 && !isnan(exact) && (z & 0x7f) == 0 ? NETFC_UNDERFLOW
								 : 0;
}

static struct netfc_result
expected_of(enum netfc_op op, unsigned x, unsigned y)
{
	const double a = value[x], b = value[y], exact = apply(op, a, b);
	const bool by_zero = op == NETFC_DIV && b == 0 && isfinite(a) && a != 0;
	bool over;
	const unsigned z = fp8_round(&fp8, exact, &over);

	return (struct netfc_result){z, flags_of(exact, z, over, isnan(a) || isnan(b), by_zero)};
}

static void
expect_same(const char *how, enum netfc_op op, unsigned x, unsigned y, struct netfc_result got)
{
	const struct netfc_result expected = expected_of(op, x, y);

	if (got.z != expected.z || got.flags != expected.flags)
		fail_msg("%s: 0x%02x %s 0x%02x is 0x%02x, flags %u, not 0x%02x, flags %u", how, x,
			netfc_op_symbol(op), y, got.z, got.flags, expected.z, expected.flags);
}

TEST(all_pairs_are_right)
{
	static uint8_t x[0x10000], y[0x10000], z[0x10000], flags[0x10000];

	for (unsigned n = 0; n < 0x10000; n++) {
		x[n] = (uint8_t)(n >> 8);
		y[n] = (uint8_t)n;
	}
	FOREACH_OP(op)
	{
		netfc_compute(set, op, x, y, z, flags, 0x10000);
		for (unsigned n = 0; n < 0x10000; n++)
			expect_same(
				"by tables", op, x[n], y[n], (struct netfc_result){z[n], flags[n]});
		netfc_exact_lanes(format, op, x, y, z, flags, 0x10000);
		for (unsigned n = 0; n < 0x10000; n++)
			expect_same("by integers", op, x[n], y[n],
				(struct netfc_result){z[n], flags[n]});
	}
}

/* The entries that are said to be reachable are those that all pairs look up. */
static uint8_t reached[NETFC_MAX_TABLES][0x1000];

static void
note_lookup(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	const uint32_t word = lanes->field[NETFC_COMMON_FIELDS + 4][0];

	(void)program, (void)arg;
	/* A number that is decided looks keys up that do not matter. */
	if (step->kind == NETFC_STEP_LOOKUP && netfc_decide_source(word) == NETFC_FROM_STAGES &&
		netfc_table_is_match(netfc_set_table(set, step->table)))
		reached[step->table][lanes->field[step->a][0]] = 1;
}

TEST(reachable_entries_are_reached_and_no_others)
{
	FOREACH_OP(op)
	{
		for (unsigned n = 0; n < 0x10000; n++)
			netfc_walk(set, op, n >> 8, n & 0xff, note_lookup, NULL);
	}
	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		for (uint32_t i = 0; netfc_table_is_match(table) && i < netfc_table_size(table);
			i++) {
			if (netfc_table_reachable(table, i) != reached[t][i])
				fail_msg("%s[0x%x] is %sreached", netfc_table_name(table), i,
					reached[t][i] ? "" : "not ");
		}
	}
}

/* x * y + z is exact in double precision: products have 6 or 8 bits, and all lie within 2^66. */
static struct netfc_result
expected_fma(unsigned x, unsigned y, unsigned z)
{
	const double a = value[x], b = value[y], c = value[z], exact = fma(a, b, c);
	bool over;
	const unsigned result = fp8_round(&fp8, exact, &over);

	return (struct netfc_result){
		result, flags_of(exact, result, over, isnan(a) || isnan(b) || isnan(c), false)};
}

TEST(all_triples_of_fma_are_right)
{
	for (unsigned n = 0; n < 0x1000000; n++) {
		const unsigned x = n >> 16, y = n >> 8 & 0xff, z = n & 0xff;
		const struct netfc_result got = netfc_extra(format, NETFC_FMA, x, y, z);
		const struct netfc_result expected = expected_fma(x, y, z);

		if (got.z != expected.z || got.flags != expected.flags)
			fail_msg("0x%02x * 0x%02x + 0x%02x is 0x%02x, flags %u, not 0x%02x, flags "
				 "%u",
				x, y, z, got.z, got.flags, expected.z, expected.flags);
	}
}

static unsigned
expected_extremum(unsigned x, unsigned y, bool most)
{
	if (isnan(value[x]) || isnan(value[y]))
		return fp8_nan(&fp8);
	if (value[x] == 0 && value[y] == 0)
		return most ? x & y : x | y;
	return (value[x] > value[y]) == most ? x : y;
}

static double
expected_order(unsigned x, unsigned y)
{
	if (isnan(value[x]) || isnan(value[y]))
		return NAN;
	return (value[x] > value[y]) - (value[x] < value[y]);
}

TEST(all_pairs_are_ordered)
{
	for (unsigned n = 0; n < 0x10000; n++) {
		const unsigned x = n >> 8, y = n & 0xff;
		bool over;

		assert_int_equal(
			netfc_extra(format, NETFC_MIN, x, y, 0).z, expected_extremum(x, y, false));
		assert_int_equal(
			netfc_extra(format, NETFC_MAX, x, y, 0).z, expected_extremum(x, y, true));
		assert_int_equal(netfc_extra(format, NETFC_COMPARE, x, y, 0).z,
			fp8_round(&fp8, expected_order(x, y), &over));
	}
}

TEST(numbers_are_decoded_and_encoded)
{
	bool over;

	for (unsigned bits = 0; bits < 256; bits++) {
		const double decoded = netfc_decode(format, bits);

		assert_true(isnan(value[bits]) ? isnan(decoded) : decoded == value[bits]);
		assert_int_equal(signbit(decoded) != 0 && !isnan(decoded),
			signbit(value[bits]) != 0 && !isnan(decoded));
		assert_int_equal(
			netfc_encode(format, value[bits]), fp8_round(&fp8, value[bits], &over));
	}
	for (double size = 0x1p-20; size < 0x1p17; size *= 1 + 0x1p-9) {
		assert_int_equal(netfc_encode(format, size), fp8_round(&fp8, size, &over));
		assert_int_equal(netfc_encode(format, -size), fp8_round(&fp8, -size, &over));
	}
	assert_int_equal(netfc_encode(format, 464), fp8_round(&fp8, 464, &over));
}

TEST(the_format_says_what_it_is)
{
	const struct netfc_format *plain = netfc_format_by_id(netfc_format_id(format));

	assert_int_equal(netfc_format_width(format), 8);
	assert_string_equal(netfc_format_name(format), fp8.e4m3 ? "fp8_e4m3" : "fp8_e5m2");
	assert_ptr_equal(netfc_format_by_name(netfc_format_name(format)), plain);
	assert_int_equal(netfc_format_saturates(format), fp8.saturates);
	assert_ptr_equal(fp8.saturates ? netfc_format_saturating(plain) : plain, format);
	assert_int_equal(netfc_overflowed(format, false), fp8_too_large(&fp8, false));
	assert_int_equal(netfc_overflowed(format, true), fp8_too_large(&fp8, true));
	assert_int_equal(netfc_inf_magnitude(format), fp8_greatest(&fp8) + 1);
}

/* One look-up of each table, of its values' bits. */
TEST(four_operations_fit_two_kilobytes)
{
	size_t bytes = 0;

	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		if (netfc_table_is_match(table))
			bytes +=
				netfc_table_size(table) * ((netfc_table_value_bits(table) + 7) / 8);
	}
	assert_true(bytes <= 2048);
}

int
main(int argc, char **argv)
{
	int failed;

	if (argc != 2 || netfc_set_build(argv[1], &set) != NETFC_OK)
		return 2;
	format = netfc_set_format(set);
	fp8_define(&fp8, argv[1]);
	failed = tests_run(NULL, NULL);
	netfc_set_free(set);
	return failed;
}
