/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded sets: what their programs compute is what netfc_exact() says without a
 * table. The argument is a set. All y for every NETFC_STRIDE-th x, 97 unless set.
 */
#include "operands.h"
#include "unit.h"

#define ALL 0x10000u

static const char *name;
static struct netfc_set *set;
static uint16_t x[ALL], y[ALL], z[ALL];
static uint8_t flags[ALL];

static void
expect_exact(enum netfc_op op)
{
	const struct netfc_format *format = netfc_set_format(set);

	netfc_compute(set, op, x, y, z, flags, ALL);
	for (uint32_t lane = 0; lane < ALL; lane++) {
		struct netfc_result exact = netfc_exact(format, op, x[lane], y[lane]);

		if (exact.z != z[lane] || exact.flags != flags[lane])
			fail_msg("%s: %#x %s %#x = %#x, flags %#x; exact: %#x, %#x", name, x[lane],
				netfc_op_symbol(op), y[lane], z[lane], flags[lane], exact.z,
				exact.flags);
	}
}

static void
expect_exact_with_all_y(uint16_t operand)
{
	for (uint32_t lane = 0; lane < ALL; lane++) {
		x[lane] = operand;
		y[lane] = (uint16_t)lane;
	}
	FOREACH_OP(op)
	expect_exact(op);
}

TEST(results_are_exact)
{
	for (uint32_t operand = 0; operand < ALL; operand += stride_or(97))
		expect_exact_with_all_y((uint16_t)operand);
}

TEST(results_are_exact_at_the_edges)
{
	uint16_t edges[OPERANDS_MAX];
	unsigned count = edge_operands(netfc_set_format(set), edges);

	for (unsigned e = 0; e < count; e++)
		expect_exact_with_all_y(edges[e]);
}

/* A pair whose look-ups are watched. */
struct watch {
	uint16_t x, y;
	bool decided;
};

static void
expect_reachable(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	struct watch *watch = arg;
	const struct netfc_table *table = netfc_set_table(set, step->table);
	uint32_t key = lanes->field[step->a][0];

	if (step->kind != NETFC_STEP_LOOKUP)
		return;
	if (!netfc_table_is_match(table))
		watch->decided =
			netfc_decide_source(lanes->field[step->dst][0]) != NETFC_FROM_STAGES;
	else if (!watch->decided && !netfc_table_reachable(table, key))
		fail_msg("%s: %#x and %#x look up %s[%#x] (%s)", name, watch->x, watch->y,
			netfc_table_name(table), key, program->field_name[step->a]);
}

static void
walk(uint16_t x_bits, uint16_t y_bits)
{
	struct watch watch = {.x = x_bits, .y = y_bits};

	FOREACH_OP(op)
	{
		watch.decided = false;
		netfc_walk(set, op, x_bits, y_bits, expect_reachable, &watch);
	}
}

TEST(what_is_looked_up_is_reachable)
{
	uint64_t seed = 1;

	for (unsigned n = 0; n < 20000; n++) {
		const uint16_t first = (uint16_t)next_random(&seed);
		const uint16_t second = (uint16_t)next_random(&seed);

		/* Neighbours, and pairs far from each other. */
		walk(first, n % 2 == 0 ? first ^ (second & 0x80ff) : second);
	}
}

/* The greatest and the least exponents meet. */
TEST(what_is_looked_up_is_reachable_at_the_edges)
{
	uint16_t edges[OPERANDS_MAX];
	const unsigned count = edge_operands(netfc_set_format(set), edges);

	for (unsigned i = 0; i < count * count; i++)
		walk(edges[i % count], edges[i / count]);
}

TEST(entries_fit_their_widths)
{
	const struct netfc_table *table;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (uint32_t i = 0; i < netfc_table_size(table); i++)
			assert_int_equal(
				netfc_table_entries(table)[i] >> netfc_table_value_bits(table), 0);
	}
}

/* Match engines take keys of less than 24 bits and values of 24 bits at most. */
TEST(tables_fit_the_match_engines)
{
	const struct netfc_table *table;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		if (!netfc_table_is_match(table))
			continue;
		assert_in_range(netfc_table_index_bits(table), 1, 23);
		assert_in_range(netfc_table_value_bits(table), 1, 24);
	}
}

TEST(the_reference_is_the_program)
{
	uint64_t seed = 2;

	for (uint32_t lane = 0; lane < ALL; lane++) {
		x[lane] = (uint16_t)next_random(&seed);
		y[lane] = (uint16_t)next_random(&seed);
	}
	FOREACH_OP(op)
	{
		netfc_compute(set, op, x, y, z, flags, ALL);
		for (uint32_t lane = 0; lane < ALL; lane++) {
			struct netfc_result result = netfc_calc(set, op, x[lane], y[lane]);

			assert_int_equal(result.z, z[lane]);
			assert_int_equal(result.flags, flags[lane]);
		}
	}
}

static int
build(void **state __attribute__((unused)))
{
	set = must_build(name);
	return 0;
}

static int
discard(void **state __attribute__((unused)))
{
	netfc_set_free(set);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s SET\n", argv[0]);
		return 1;
	}
	name = argv[1];
	return tests_run(build, discard);
}
