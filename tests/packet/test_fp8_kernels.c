/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes of 8 bits, of the table set that the argument names, by every match engine and every
 * instruction set: all pairs of operands, all triples of fma, against the reference.
 */
#include <string.h>

#include <rte_common.h>
#include <rte_memory.h>

#include "cases.h"
#include "eal.h"
#include "engines.h"
#include "extended.h"
#include "operands.h"
#include "packets.h"
#include "slots.h"
#include "vector.h"

#define PAIRS 0x10000u
/* A packet's lanes: an odd number of groups of any kernel, and some more. */
#define LANES 2047u
/* A packet's slots start at any even address; the bytes around them must not change. */
#define MARGIN 6

static struct netfc_set *set;
static struct engines engines;
static struct vector_kernel *extended[VECTOR_ISAS];
static const char *name_of_set;

static uint8_t x[PAIRS], y[PAIRS], z[PAIRS], expected[PAIRS], flags[PAIRS];
static uint8_t bytes[2 * MARGIN + 3 * PAIRS];

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(netfc_set_build(name_of_set, &set), NETFC_OK);
	assert_int_equal(engines_create(&engines, set), 0);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
		assert_int_equal(
			extended_create(netfc_set_format(set), isa, SOCKET_ID_ANY, &extended[isa]),
			0);
	for (uint32_t n = 0; n < PAIRS; n++) {
		x[n] = (uint8_t)(n >> 8);
		y[n] = (uint8_t)n;
	}
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	engines_free(&engines);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
		vector_free(extended[isa]);
	netfc_set_free(set);
	return 0;
}

/*
 * Lanes from `first` on, at an address that is even but not a multiple of 4: results, flags, the
 * change of the checksum, and that nothing else is written, not even padding.
 */
static void
check_lanes(const struct vector_kernel *kernel, const char *how, unsigned int op, uint32_t first,
	uint32_t count)
{
	const uint32_t width = count + count % 2;
	struct vector_packet packet = {.slots = bytes + MARGIN, .count = count};
	static uint8_t after[sizeof(bytes)];
	const size_t length = 2 * MARGIN + 3 * (size_t)width;
	uint32_t before;
	uint8_t any = 0;

	memset(bytes, 0xa5, length);
	memcpy(packet.slots, x + first, count);
	memcpy(packet.slots + width, y + first, count);
	memcpy(packet.slots + 2 * (size_t)width, z + first, count);
	memcpy(after, bytes, length);
	memcpy(after + MARGIN + 2 * (size_t)width, expected + first, count);
	before = packet_sum(bytes, length);
	vector_run_packets(kernel, op, &packet, 1);
	for (uint32_t l = first; l < first + count; l++)
		any |= flags[l];
	for (size_t b = 0; b < length; b++) {
		if (bytes[b] != after[b]) {
			const uint32_t l = first + (uint32_t)(b - MARGIN) % width;

			fail_msg("%s: op %u, %u lanes from %u, byte %zu (0x%02x, 0x%02x): 0x%02x, "
				 "not 0x%02x",
				how, op, count, first, b, x[l % PAIRS], y[l % PAIRS], bytes[b],
				after[b]);
		}
	}
	if (packet.flags != any)
		fail_msg("%s: op %u, %u lanes from %u: flags %u, not %u", how, op, count, first,
			packet.flags, any);
	assert_int_equal((before + packet.changes) % UINT16_MAX, packet_sum(bytes, length));
}

static void
check_all_pairs(const struct vector_kernel *kernel, const char *how, unsigned int op)
{
	for (uint32_t first = 0; first < PAIRS; first += LANES)
		check_lanes(kernel, how, op, first, RTE_MIN(PAIRS - first, LANES));
	/* Alone, so that each shows its own flags; and so many that vectors are used. */
	for (uint32_t first = 0; first < PAIRS; first++)
		check_lanes(kernel, how, op, first, 1);
	for (uint32_t count = 1; count <= 200; count++)
		check_lanes(kernel, how, op, 251 * count, count);
	check_lanes(kernel, how, op, 1, 21000);
}

TEST(all_pairs)
{
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		netfc_exact_lanes(netfc_set_format(set), op, x, y, expected, flags, PAIRS);
		for (unsigned int e = 0; e < engines.count; e++)
			check_all_pairs(engines.engine[e].kernel, engines.engine[e].name, op);
	}
}

/* What raises no flag, beside one lane that may. */
TEST(each_lane_of_a_vector_has_its_flags)
{
	uint8_t a[PAIRS], b[PAIRS];

	memcpy(a, x, sizeof(a));
	memcpy(b, y, sizeof(b));
	memset(x, 0x38, 64);
	memset(y, 0x38, 64);
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		for (uint32_t n = 0; n < PAIRS; n++) {
			const uint32_t lane = n % 63;

			x[lane] = a[n];
			y[lane] = b[n];
			netfc_exact_lanes(netfc_set_format(set), op, x, y, expected, flags, 63);
			check_lanes(engines.engine[engines.count - 1].kernel,
				engines.engine[engines.count - 1].name, op, 0, 63);
			x[lane] = y[lane] = 0x38;
		}
	}
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
}

TEST(all_pairs_are_ordered)
{
	memset(z, 0x5a, sizeof(z));
	for (enum netfc_extra_op op = NETFC_MIN; op <= NETFC_COMPARE; op++) {
		memcpy(expected, z, sizeof(z));
		netfc_extra_lanes(netfc_set_format(set), op, x, y, expected, flags, PAIRS);
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
			check_all_pairs(extended[isa], vector_isa_name(isa), op);
	}
}

TEST(all_triples_of_fma)
{
	for (uint32_t third = 0; third <= UINT8_MAX; third += one_in()) {
		memset(z, (int)third, sizeof(z));
		memset(expected, (int)third, sizeof(z));
		netfc_extra_lanes(netfc_set_format(set), NETFC_FMA, x, y, expected, flags, PAIRS);
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
			for (uint32_t first = 0; first < PAIRS; first += LANES)
				check_lanes(extended[isa], vector_isa_name(isa), NETFC_FMA, first,
					RTE_MIN(PAIRS - first, LANES));
			if (third % 16 == 0)
				check_all_pairs(extended[isa], vector_isa_name(isa), NETFC_FMA);
		}
	}
}

/* A function of 256 entries, of which each slot shows its own. */
TEST(functions_have_256_entries)
{
	const struct netfc_function *sqrt = netfc_function_by_name("sqrt");
	static uint16_t values[NETFC_FUNCTION_ENTRIES];
	static uint8_t raised[NETFC_FUNCTION_ENTRIES];

	assert_int_equal(
		netfc_function_table(sqrt, netfc_set_format(set), values, raised), NETFC_OK);
	for (uint32_t n = 0; n < PAIRS; n++) {
		expected[n] = (uint8_t)values[x[n]];
		flags[n] = raised[x[n]];
	}
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		struct vector_kernel *kernel;

		assert_int_equal(
			extended_function_create(8, values, raised, isa, SOCKET_ID_ANY, &kernel),
			0);
		check_all_pairs(kernel, vector_isa_name(isa), 70);
		vector_free(kernel);
	}
}

/* A file may lie about its set's name: then the tables count. */
TEST(other_entries_are_looked_up)
{
	struct netfc_set *other;
	uint32_t *entries;

	assert_int_equal(netfc_set_build(name_of_set, &other), NETFC_OK);
	entries = (uint32_t *)(uintptr_t)netfc_table_entries(netfc_set_find_table(other, "decode"));
	entries[0x38] ^= 1;
	netfc_compute(other, NETFC_MUL, x, y, expected, flags, PAIRS);
	for (enum match_kind match = MATCH_DIRECT; match <= MATCH_FPU; match++) {
		struct engine engine;

		assert_int_equal(engine_create(&engine, other, match, vector_isa_best()), 0);
		if (match == MATCH_DIRECT) {
			assert_string_equal(engine.kernel->description, "");
			check_lanes(engine.kernel, engine.name, NETFC_MUL, 0, LANES);
		} else {
			assert_non_null(strstr(engine.kernel->description, "not the table set"));
		}
		engine_free(&engine);
	}
	netfc_set_free(other);
}

int
main(int argc, char **argv)
{
	if (argc != 2 || start_lcores(1) != 0)
		return 1;
	name_of_set = argv[1];
	return tests_run(set_up, tear_down);
}
