/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes of 32 bits by every match engine and every instruction set, against the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <rte_common.h>
#include <rte_memory.h>

#include "eal.h"
#include "fp32_pairs.h"
#include "wide.h"
#include "wide_slots.h"

/* Lanes of a packet: those that a datagram of 65,507 bytes has space for. */
#define LANES 5457u
#define RANDOM_CHUNKS 16u
/* A packet's slots start at any even address; what stands around them must stay. */
#define MARGIN 6

static struct netfc_set *set;

static struct {
	struct wide *wide;
	char name[64];
} engines[MATCH_KINDS * VECTOR_ISAS];
static unsigned int engine_count;

static uint32_t x[LANES], y[LANES], expected[LANES];
static uint8_t flags[LANES];
static uint8_t bytes[2 * MARGIN + LANES * NETFC_WIDE_LANE_BYTES];

/* Engines that walk programs have no kernels of several instruction sets. */
static bool
has_isas(enum match_kind match)
{
	return match == MATCH_DIRECT || match == MATCH_FPU;
}

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(netfc_set_build("fp32_exact", &set), NETFC_OK);
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		const enum vector_isa best = has_isas(match) ? vector_isa_best() : VECTOR_PLAIN;

		for (enum vector_isa isa = VECTOR_PLAIN; isa <= best; isa++) {
			assert_int_equal(wide_create(set, match, isa, SOCKET_ID_ANY,
						 &engines[engine_count].wide),
				0);
			snprintf(engines[engine_count].name, sizeof(engines[0].name), "%s, %s",
				match_kind_name(match), vector_isa_name(isa));
			engine_count++;
		}
	}
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (unsigned int e = 0; e < engine_count; e++)
		wide_free(engines[e].wide);
	netfc_set_free(set);
	return 0;
}

/* Operands and what stands in z, from an address that is even and no more. */
static uint8_t *
write_slots(unsigned int count)
{
	wide_slot *slots = (wide_slot *)(bytes + MARGIN);

	memset(bytes, 0xa5, sizeof(bytes));
	for (unsigned int l = 0; l < count; l++) {
		slots[l] = wide_swap(x[l]);
		slots[count + l] = wide_swap(y[l]);
		slots[2 * count + l] = l * 0x9e3779b9u;
	}
	return bytes + MARGIN;
}

/* The sum of all words, folded. */
static uint32_t
sum_of(const uint8_t *from, size_t length)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < length; at += 2) {
		uint16_t word;

		memcpy(&word, from + at, sizeof(word));
		sum += word;
	}
	return (uint32_t)(sum % UINT16_MAX);
}

static void
check_untouched(unsigned int count)
{
	const wide_slot *slots = (const wide_slot *)(bytes + MARGIN);
	const uint8_t *end = bytes + MARGIN + count * NETFC_WIDE_LANE_BYTES;

	for (unsigned int b = 0; b < MARGIN; b++) {
		assert_int_equal(bytes[b], 0xa5);
		assert_int_equal(end[b], 0xa5);
	}
	for (unsigned int l = 0; l < count; l++) {
		assert_int_equal(wide_swap(slots[l]), x[l]);
		assert_int_equal(wide_swap(slots[count + l]), y[l]);
	}
}

/* The first `count` lanes of one engine: z, flags, and what z changes in a checksum. */
static void
check_engine(unsigned int engine, enum netfc_op op, unsigned int count)
{
	const struct further_kernel *kernel = wide_kernel(engines[engine].wide, op);
	struct vector_packet packet = {.slots = write_slots(count), .count = count};
	const wide_slot *z = (const wide_slot *)packet.slots + 2 * count;
	const uint32_t before = sum_of(bytes, sizeof(bytes));
	uint8_t any = 0;

	further_run(kernel, &packet);
	for (unsigned int l = 0; l < count; l++) {
		any |= flags[l];
		if (wide_swap(z[l]) != expected[l])
			fail_msg("%s: 0x%08x %s 0x%08x is 0x%08x, not 0x%08x", engines[engine].name,
				x[l], netfc_op_symbol(op), y[l], expected[l], wide_swap(z[l]));
	}
	if (packet.flags != any)
		fail_msg("%s: flags of %s: %u, not %u", engines[engine].name, netfc_op_name(op),
			packet.flags, any);
	assert_int_equal((before + packet.changes) % UINT16_MAX, sum_of(bytes, sizeof(bytes)));
	check_untouched(count);
}

static void
check_engines(unsigned int count)
{
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		netfc_fp32_exact_lanes(op, x, y, expected, flags, count);
		for (unsigned int e = 0; e < engine_count; e++)
			check_engine(e, op, count);
	}
}

static void
all_exponents_with_edges(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < FP32_CROSSED; first += LANES) {
		const uint32_t count = RTE_MIN(FP32_CROSSED - first, LANES);

		fp32_crossed_pairs(first, x, y, count);
		check_engines(count);
	}
}

static void
random_pairs(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned int chunk = 0; chunk < RANDOM_CHUNKS; chunk++) {
		fp32_random_pairs(&seed, x, y, LANES);
		check_engines(LANES);
	}
}

/* Flags are those of all lanes together: one lane alone shows its own. */
static void
each_lane_has_its_flags(void **state)
{
	static const uint32_t values[] = {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000,
		0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
		0x7f800001, 0xffc12345};

	(void)state;
	for (unsigned int p = 0; p < RTE_DIM(values) * RTE_DIM(values); p++) {
		x[0] = values[p / RTE_DIM(values)];
		y[0] = values[p % RTE_DIM(values)];
		check_engines(1);
	}
}

static void
any_number_of_lanes(void **state)
{
	uint64_t seed = 6;

	(void)state;
	for (unsigned int count = 1; count <= 2 * NETFC_BATCH + 33; count++) {
		fp32_random_pairs(&seed, x, y, count);
		check_engines(count);
	}
}

static void
descriptions(void **state)
{
	(void)state;
	for (unsigned int e = 0; e < engine_count; e++) {
		const char *description = wide_description(engines[e].wide);

		if (strncmp(engines[e].name, "direct", strlen("direct")) == 0)
			assert_non_null(strstr(description, "equal to the tables"));
		else if (strncmp(engines[e].name, "fpu", strlen("fpu")) == 0)
			assert_non_null(strstr(description, "not the table set"));
		else
			assert_null(description);
	}
}

/* A file may lie about its set's name: then the tables count, not the processor. */
static void
other_entries_are_not_the_processors(void **state)
{
	struct netfc_set *other;
	struct wide *wide;
	uint32_t *entries;

	(void)state;
	assert_int_equal(netfc_set_build("fp32_exact", &other), NETFC_OK);
	/* The first table is that of both exponents of a sum. */
	entries = (uint32_t *)(uintptr_t)netfc_table_entries(netfc_set_table(other, 0));
	entries[0x7f7f] ^= 1;
	x[0] = y[0] = 0x3f800000;
	netfc_fp32_compute(other, NETFC_ADD, x, y, expected, flags, 1);
	assert_int_not_equal(expected[0], 0x40000000);
	for (enum match_kind match = MATCH_DIRECT; match <= MATCH_FPU; match++) {
		struct vector_packet packet = {.slots = write_slots(1), .count = 1};

		assert_int_equal(
			wide_create(other, match, vector_isa_best(), SOCKET_ID_ANY, &wide), 0);
		further_run(wide_kernel(wide, NETFC_ADD), &packet);
		if (match == MATCH_DIRECT)
			assert_null(wide_description(wide));
		assert_int_equal(wide_swap(((const wide_slot *)packet.slots)[2]),
			match == MATCH_DIRECT ? expected[0] : 0x40000000);
		wide_free(wide);
	}
	netfc_set_free(other);
}

#ifdef __x86_64__
/* Where floats are flushed to zero, no kernel is made of them. */
static void
floats_that_are_not_ieees(void **state)
{
	const unsigned int before = _mm_getcsr();
	static const unsigned int modes[] = {_MM_FLUSH_ZERO_ON, _MM_DENORMALS_ZERO_ON,
		_MM_ROUND_DOWN, _MM_ROUND_UP, _MM_ROUND_TOWARD_ZERO};

	(void)state;
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		for (enum match_kind match = MATCH_DIRECT; match <= MATCH_FPU; match++) {
			struct wide *wide;
			int error;

			_mm_setcsr(before | modes[m]);
			error = wide_create(set, match, vector_isa_best(), SOCKET_ID_ANY, &wide);
			_mm_setcsr(before);
			assert_int_equal(error, 0);
			assert_null(wide_description(wide));
			wide_free(wide);
		}
	}
}
#endif

/* The four kernels belong to what made them. */
static void
kernels_are_not_freed_alone(void **state)
{
	struct wide *wide;

	(void)state;
	assert_int_equal(wide_create(set, MATCH_HASH, VECTOR_PLAIN, SOCKET_ID_ANY, &wide), 0);
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++)
		further_free(wide_kernel(wide, op));
	wide_free(wide);
	wide_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_lane_has_its_flags),
		cmocka_unit_test(any_number_of_lanes),
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(all_exponents_with_edges),
		cmocka_unit_test(descriptions),
		cmocka_unit_test(other_entries_are_not_the_processors),
#ifdef __x86_64__
		cmocka_unit_test(floats_that_are_not_ieees),
#endif
		cmocka_unit_test(kernels_are_not_freed_alone),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
