/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes of 32 bits by every match engine and every instruction set, against the reference. */
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <rte_common.h>
#include <rte_memory.h>

#include "cases.h"
#include "eal.h"
#include "engines.h"
#include "fp32_pairs.h"
#include "operands.h"
#include "packets.h"
#include "slots.h"
#include "vector.h"

/* Lanes of a packet: those that a datagram of 65,507 bytes has space for. */
#define LANES 5457u
#define RANDOM_CHUNKS 16u
/* A packet's slots start at any even address; the bytes around them must not change. */
#define MARGIN 6

static struct netfc_set *set;
static struct engines engines;

static uint32_t x[LANES], y[LANES], expected[LANES];
static uint8_t flags[LANES];
static uint8_t bytes[2 * MARGIN + LANES * NETFC_WIDE_LANE_BYTES];

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(netfc_set_build("fp32_exact", &set), NETFC_OK);
	assert_int_equal(engines_create(&engines, set), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	engines_free(&engines);
	netfc_set_free(set);
	return 0;
}

/* Operands and the old z, at an address that is even but not a multiple of 4. */
static uint8_t *
write_slots(unsigned int count)
{
	slot32 *slots = (slot32 *)(bytes + MARGIN);

	memset(bytes, 0xa5, sizeof(bytes));
	for (unsigned int l = 0; l < count; l++) {
		slots[l] = slot32_swap(x[l]);
		slots[count + l] = slot32_swap(y[l]);
		slots[2 * count + l] = l * 0x9e3779b9u;
	}
	return bytes + MARGIN;
}

static void
check_untouched(unsigned int count)
{
	const slot32 *slots = (const slot32 *)(bytes + MARGIN);
	const uint8_t *end = bytes + MARGIN + count * NETFC_WIDE_LANE_BYTES;

	for (unsigned int b = 0; b < MARGIN; b++) {
		assert_int_equal(bytes[b], 0xa5);
		assert_int_equal(end[b], 0xa5);
	}
	for (unsigned int l = 0; l < count; l++) {
		assert_int_equal(slot32_swap(slots[l]), x[l]);
		assert_int_equal(slot32_swap(slots[count + l]), y[l]);
	}
}

/* The first `count` lanes of one engine: z, flags, and what z changes in a checksum. */
static void
check_engine(unsigned int engine, enum netfc_op op, unsigned int count)
{
	struct vector_packet packet = {.slots = write_slots(count), .count = count};
	const slot32 *z = (const slot32 *)packet.slots + 2 * count;
	const uint32_t before = packet_sum(bytes, sizeof(bytes));
	uint8_t any = 0;

	vector_run_packets(engines.engine[engine].kernel, op, &packet, 1);
	for (unsigned int l = 0; l < count; l++) {
		any |= flags[l];
		if (slot32_swap(z[l]) != expected[l])
			fail_msg("%s: 0x%08x %s 0x%08x is 0x%08x, not 0x%08x",
				engines.engine[engine].name, x[l], netfc_op_symbol(op), y[l],
				expected[l], slot32_swap(z[l]));
	}
	if (packet.flags != any)
		fail_msg("%s: flags of %s: %u, not %u", engines.engine[engine].name,
			netfc_op_name(op), packet.flags, any);
	assert_int_equal((before + packet.changes) % UINT16_MAX, packet_sum(bytes, sizeof(bytes)));
	check_untouched(count);
}

static void
check_engines(unsigned int count)
{
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		netfc_exact_lanes(netfc_fp32_format(), op, x, y, expected, flags, count);
		for (unsigned int e = 0; e < engines.count; e++)
			check_engine(e, op, count);
	}
}

TEST(all_exponents_with_edges)
{
	for (uint32_t first = 0; first < FP32_CROSSED; first += one_in() * LANES) {
		const uint32_t count = RTE_MIN(FP32_CROSSED - first, LANES);

		fp32_crossed_pairs(first, x, y, count);
		check_engines(count);
	}
}

TEST(random_pairs)
{
	uint64_t seed = 5;

	for (unsigned int chunk = 0; chunk < RANDOM_CHUNKS; chunk++) {
		fp32_random_pairs(&seed, x, y, LANES);
		check_engines(LANES);
	}
}

/* Flags are those of all lanes together: one lane alone shows its own. */
TEST(each_lane_has_its_flags)
{
	static const uint32_t values[] = {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000,
		0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
		0x7f800001, 0xffc12345};

	for (unsigned int p = 0; p < RTE_DIM(values) * RTE_DIM(values); p++) {
		x[0] = values[p / RTE_DIM(values)];
		y[0] = values[p % RTE_DIM(values)];
		check_engines(1);
	}
}

TEST(any_number_of_lanes)
{
	uint64_t seed = 6;

	for (unsigned int count = 1; count <= 2 * NETFC_BATCH + 33; count++) {
		fp32_random_pairs(&seed, x, y, count);
		check_engines(count);
	}
}

TEST(descriptions)
{
	for (unsigned int e = 0; e < engines.count; e++) {
		const char *description = engines.engine[e].kernel->description;

		if (engines.engine[e].match == MATCH_DIRECT)
			assert_non_null(strstr(description, "equal to the tables"));
		else if (engines.engine[e].match == MATCH_FPU)
			assert_non_null(strstr(description, "not the table set"));
		else
			assert_string_equal(description, "");
	}
}

/* A file may lie about its set's name: then the tables count, not the processor. */
TEST(other_entries_are_not_the_processors)
{
	struct netfc_set *other;
	struct engine engine;
	uint32_t *entries;

	assert_int_equal(netfc_set_build("fp32_exact", &other), NETFC_OK);
	/* The first table is that of both exponents of a sum. */
	entries = (uint32_t *)(uintptr_t)netfc_table_entries(netfc_set_table(other, 0));
	entries[0x7f7f] ^= 1;
	x[0] = y[0] = 0x3f800000;
	netfc_compute(other, NETFC_ADD, x, y, expected, flags, 1);
	assert_int_not_equal(expected[0], 0x40000000);
	for (enum match_kind match = MATCH_DIRECT; match <= MATCH_FPU; match++) {
		struct vector_packet packet = {.slots = write_slots(1), .count = 1};

		assert_int_equal(engine_create(&engine, other, match, vector_isa_best()), 0);
		vector_run_packets(engine.kernel, NETFC_ADD, &packet, 1);
		if (match == MATCH_DIRECT)
			assert_string_equal(engine.kernel->description, "");
		assert_int_equal(slot32_swap(((const slot32 *)packet.slots)[2]),
			match == MATCH_DIRECT ? expected[0] : 0x40000000);
		engine_free(&engine);
	}
	netfc_set_free(other);
}

#ifdef __x86_64__
/* Where floats are flushed to zero, no kernel is made of them. */
TEST(floats_that_are_not_ieees)
{
	const unsigned int before = _mm_getcsr();
	static const unsigned int modes[] = {_MM_FLUSH_ZERO_ON, _MM_DENORMALS_ZERO_ON,
		_MM_ROUND_DOWN, _MM_ROUND_UP, _MM_ROUND_TOWARD_ZERO};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		for (enum match_kind match = MATCH_DIRECT; match <= MATCH_FPU; match++) {
			struct engine engine;

			_mm_setcsr(before | modes[m]);
			assert_int_equal(engine_create(&engine, set, match, vector_isa_best()), 0);
			_mm_setcsr(before);
			assert_string_equal(engine.kernel->description, "");
			engine_free(&engine);
		}
	}
}
#endif

int
main(void)
{
	if (start_lcores(1) != 0)
		return 1;
	return tests_run(set_up, tear_down);
}
