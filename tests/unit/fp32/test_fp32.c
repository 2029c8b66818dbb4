/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 by integers and by the programs of fp32_exact, each result and each flag against the
 * processor; special values also against a list. The argument is how many random pairs of each
 * operation there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fp32_pairs.h"
#include "operands.h"
#include "unit.h"

#define CHUNK 4096u

static struct netfc_set *set;
static unsigned long pairs;

/* Results of a chunk of pairs. */
struct chunk {
	uint32_t x[CHUNK], y[CHUNK];
	uint32_t expected[CHUNK], z[CHUNK];
	uint8_t expected_flags[CHUNK], flags[CHUNK];
};

static void
expect_same(const struct chunk *c, enum netfc_op op, uint8_t all, const char *how)
{
	uint8_t expected = 0;

	for (unsigned n = 0; n < CHUNK; n++) {
		expected |= c->expected_flags[n];
		if (c->z[n] != c->expected[n] || c->flags[n] != c->expected_flags[n])
			fail_msg("0x%08x %s 0x%08x is 0x%08x, flags %u; %s: 0x%08x, flags %u",
				c->x[n], netfc_op_symbol(op), c->y[n], c->expected[n],
				c->expected_flags[n], how, c->z[n], c->flags[n]);
	}
	assert_int_equal(all, expected);
}

static void
check(struct chunk *c, enum netfc_op op)
{
	uint8_t all;

	fp32_processor(op, c->x, c->y, c->expected, c->expected_flags, CHUNK);
	all = netfc_exact_lanes(netfc_fp32_format(), op, c->x, c->y, c->z, c->flags, CHUNK);
	expect_same(c, op, all, "by integers");
	all = netfc_compute(set, op, c->x, c->y, c->z, c->flags, CHUNK);
	expect_same(c, op, all, "by tables");
}

TEST(all_exponents_with_edges_are_right)
{
	static struct chunk chunk;

	for (uint32_t first = 0; first < FP32_CROSSED; first += one_in() * CHUNK) {
		fp32_crossed_pairs(first, chunk.x, chunk.y, CHUNK);
		FOREACH_OP(op)
		check(&chunk, op);
	}
}

TEST(random_pairs_are_right)
{
	static struct chunk chunk;
	uint64_t seed = 22;

	FOREACH_OP(op)
	{
		for (unsigned long done = 0; done < pairs; done += CHUNK) {
			fp32_random_pairs(&seed, chunk.x, chunk.y, CHUNK);
			check(&chunk, op);
		}
	}
}

#define INF 0x7f800000u
#define MINUS 0x80000000u
#define ONE 0x3f800000u
#define MOST 0x7f7fffffu /* the greatest finite number */
#define LEAST 1u         /* the least one, subnormal */

/* IEEE 754-2019, sections 6 and 7, and the flags of netfc_arith.h. */
static const struct {
	enum netfc_op op;
	uint32_t x, y, z;
	uint8_t flags;
} special[] = {
	{NETFC_ADD, INF, INF, INF, 0},
	{NETFC_ADD, INF, MINUS | INF, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_SUB, INF, INF, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_SUB, MINUS | INF, INF, MINUS | INF, 0},
	{NETFC_ADD, ONE, MINUS | INF, MINUS | INF, 0},
	{NETFC_SUB, ONE, INF, MINUS | INF, 0},
	{NETFC_ADD, 0, 0, 0, 0},
	{NETFC_ADD, MINUS, MINUS, MINUS, 0},
	{NETFC_ADD, MINUS, 0, 0, 0},
	{NETFC_SUB, MINUS, 0, MINUS, 0},
	{NETFC_SUB, 0, 0, 0, 0},
	{NETFC_SUB, ONE, ONE, 0, 0},
	{NETFC_ADD, MINUS | ONE, ONE, 0, 0},
	{NETFC_SUB, 0, ONE, MINUS | ONE, 0},
	{NETFC_ADD, MINUS | ONE, MINUS, MINUS | ONE, 0},
	{NETFC_ADD, LEAST, LEAST, 2, 0},
	{NETFC_ADD, 0x7fffff, LEAST, 0x800000, 0},
	{NETFC_SUB, 0x800000, LEAST, 0x7fffff, 0},
	{NETFC_ADD, MOST, MOST, INF, NETFC_OVERFLOW},
	{NETFC_ADD, MOST, 0x73000000, INF, NETFC_OVERFLOW},
	{NETFC_ADD, MOST, 0x72ffffff, MOST, 0},
	{NETFC_ADD, 0x7fc00001, ONE, NETFC_FP32_NAN, 0},
	{NETFC_ADD, ONE, 0xff800001, NETFC_FP32_NAN, 0},
	{NETFC_MUL, INF, 0, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_MUL, MINUS, INF, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_MUL, INF, MINUS | ONE, MINUS | INF, 0},
	{NETFC_MUL, MINUS, ONE, MINUS, 0},
	{NETFC_MUL, MINUS | LEAST, MINUS | LEAST, 0, NETFC_UNDERFLOW},
	{NETFC_MUL, LEAST, 0xbf000000, MINUS, NETFC_UNDERFLOW},
	{NETFC_MUL, LEAST, 0x3f000001, LEAST, 0},
	{NETFC_MUL, 3, 0x3f000000, 2, 0},
	{NETFC_MUL, MOST, 0x40000000, INF, NETFC_OVERFLOW},
	{NETFC_MUL, MOST, 0xbf800001, MINUS | INF, NETFC_OVERFLOW},
	{NETFC_DIV, 0, 0, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_DIV, INF, MINUS | INF, NETFC_FP32_NAN, NETFC_INVALID},
	{NETFC_DIV, ONE, MINUS, MINUS | INF, NETFC_DIVBYZERO},
	{NETFC_DIV, INF, 0, INF, 0},
	{NETFC_DIV, 0, MINUS | ONE, MINUS, 0},
	{NETFC_DIV, ONE, INF, 0, 0},
	{NETFC_DIV, LEAST, MOST, 0, NETFC_UNDERFLOW},
	{NETFC_DIV, MOST, LEAST, INF, NETFC_OVERFLOW},
	{NETFC_DIV, LEAST, 0x40000000, 0, NETFC_UNDERFLOW},
	{NETFC_DIV, 3, 0x40000000, 2, 0},
	{NETFC_DIV, LEAST, LEAST, ONE, 0},
	{NETFC_DIV, ONE, 0x40400000, 0x3eaaaaab, 0},
	{NETFC_DIV, 0xff812345, 0, NETFC_FP32_NAN, 0},
};

TEST(special_values_are_ieee_754s)
{
	for (unsigned s = 0; s < sizeof(special) / sizeof(special[0]); s++) {
		struct netfc_result result =
			netfc_exact(netfc_fp32_format(), special[s].op, special[s].x, special[s].y);
		uint8_t flags;
		uint32_t z;

		assert_int_equal(result.z, special[s].z);
		assert_int_equal(result.flags, special[s].flags);
		assert_int_equal(netfc_compute(set, special[s].op, &special[s].x, &special[s].y, &z,
					 &flags, 1),
			special[s].flags);
		assert_int_equal(z, special[s].z);
		assert_int_equal(flags, special[s].flags);
	}
}

/* Two batches and a bit, in place. */
#define LANES (2 * NETFC_BATCH + 3)

TEST(any_number_of_lanes_is_computed)
{
	uint32_t x[LANES], y[LANES], z[LANES], expected[LANES];
	uint8_t flags[LANES];
	uint64_t seed = 1;

	fp32_random_pairs(&seed, x, y, LANES);
	FOREACH_OP(op)
	{
		for (unsigned count = 0; count <= LANES; count += 1 + count / 3) {
			memcpy(z, x, sizeof(z));
			fp32_processor(op, x, y, expected, flags, count);
			memcpy(expected + count, z + count, (LANES - count) * sizeof(*z));
			netfc_compute(set, op, z, y, z, NULL, count);
			assert_memory_equal(z, expected, sizeof(z));
			memcpy(z, y, sizeof(z));
			memcpy(expected + count, z + count, (LANES - count) * sizeof(*z));
			netfc_exact_lanes(netfc_fp32_format(), op, x, z, z, NULL, count);
			assert_memory_equal(z, expected, sizeof(z));
		}
	}
	assert_int_equal(netfc_compute(set, NETFC_MUL, x, y, z, NULL, 0), 0);
}

/* What a walk has shown. */
struct walk {
	const struct netfc_program *program;
	unsigned steps;
	uint32_t z;
};

static void
take_step(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	struct walk *walk = arg;

	assert_ptr_equal(step, &program->step[walk->steps]);
	assert_non_null(step->what);
	walk->program = program;
	walk->steps++;
	walk->z = lanes->field[NETFC_Z][0];
}

TEST(a_walk_shows_all_steps_and_ends_with_the_result)
{
	FOREACH_OP(op)
	{
		struct walk walk = {0};
		struct netfc_result result = netfc_walk(set, op, ONE, 0xc0490fdb, take_step, &walk);

		assert_int_equal(result.z, netfc_exact(netfc_fp32_format(), op, ONE, 0xc0490fdb).z);
		assert_int_equal(result.z, walk.z);
		assert_int_equal(result.flags, 0);
		assert_ptr_equal(walk.program, netfc_set_op_program(set, op));
		assert_int_equal(walk.steps, walk.program->step_count);
	}
}

TEST(the_format_is_not_among_those_of_16_bits)
{
	assert_string_equal(netfc_format_name(netfc_fp32_format()), "fp32");
	assert_int_equal(netfc_format_id(netfc_fp32_format()), NETFC_FP32);
	assert_int_equal(netfc_format_width(netfc_fp32_format()), 32);
	assert_int_equal(netfc_format_width(netfc_format_by_name("bf16")), 16);
	assert_null(netfc_format_by_id(NETFC_FP32));
	assert_null(netfc_format_by_name("fp32"));
	assert_ptr_equal(netfc_set_format(set), netfc_fp32_format());
	assert_int_equal(netfc_set_family(set), NETFC_FAMILY_EXACT);
}

/* The reference of a lane is the one of sets of 16 bits, too. */
TEST(one_lane_is_computed)
{
	assert_int_equal(netfc_calc(set, NETFC_ADD, ONE, ONE).z, 0x40000000);
	assert_int_equal(netfc_calc(set, NETFC_DIV, ONE, 0).z, NETFC_FP32_INF);
	assert_int_equal(netfc_calc(set, NETFC_DIV, ONE, 0).flags, NETFC_DIVBYZERO);
}

static uint32_t
bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Every exponent, any fraction; the numbers half-way to the next ones, and beside them. */
TEST(encodings_are_the_processors)
{
	const struct netfc_format *format = netfc_fp32_format();
	uint64_t seed = 9;

	for (uint32_t exponent = 0; exponent < 255; exponent++) {
		for (unsigned n = 0; n < 64; n++) {
			uint32_t bits = exponent << 23, next;
			float value, above;
			double half;

			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			bits |= (uint32_t)(seed >> 41);
			next = bits + 1;
			memcpy(&value, &bits, sizeof(value));
			memcpy(&above, &next, sizeof(above));
			assert_true(netfc_decode(format, bits) == value);
			assert_true(netfc_decode(format, bits | NETFC_FP32_SIGN) == -value);
			assert_int_equal(netfc_encode(format, value), bits);
			assert_int_equal(netfc_magnitude(format, netfc_negate(format, bits)), bits);
			half = next < NETFC_FP32_INF ? value + ((double)above - value) / 2 : value;
			assert_int_equal(netfc_encode(format, half), bits_of((float)half));
			half = nextafter(half, INFINITY);
			assert_int_equal(netfc_encode(format, -half), bits_of((float)-half));
		}
	}
	assert_int_equal(netfc_encode(format, NAN), NETFC_FP32_NAN);
	assert_int_equal(netfc_encode(format, -0x1p128), NETFC_FP32_SIGN | NETFC_FP32_INF);
	assert_int_equal(netfc_classify(format, 0xffc00001), NETFC_NAN);
	assert_int_equal(netfc_classify(format, 0xff800000), NETFC_INF);
	assert_true(netfc_is_negative(format, NETFC_FP32_SIGN));
}

int
main(int argc, char **argv)
{
	int failed;

	pairs = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (pairs == 0 || netfc_set_build("fp32_exact", &set) != NETFC_OK) {
		fprintf(stderr, "usage: %s PAIRS\n", argv[0]);
		return 1;
	}
	failed = tests_run(NULL, NULL);
	netfc_set_free(set);
	return failed;
}
