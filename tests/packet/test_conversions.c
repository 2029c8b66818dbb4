/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversions in slots of 32 bits, by the library and by the kernels of all instruction sets,
 * against values that are decoded and encoded: of binary32 all numbers at which a kernel may
 * change its mind, and others a step apart.
 *
 * test_conversions FORMAT FUNCTION STEP
 */
#include <math.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_memory.h>

#include "eal.h"
#include "extended.h"
#include "slots.h"
#include "unit.h"

#define LANES 1001u /* no multiple of a vector */

static const struct netfc_format *from, *to;
static const struct netfc_function *function;
static uint64_t step;
static enum vector_isa best; /* asking the processor takes long */
static struct vector_kernel *kernel[VECTOR_ISAS];

static uint32_t x[LANES], by_library[LANES];
static uint8_t flags[LANES];
static uint32_t slots[3 * LANES];

static uint8_t
flags_of(double value, uint32_t z)
{
	const struct netfc_format *plain =
		netfc_format_saturates(to) ? netfc_format_by_id(netfc_format_id(to)) : to;
	const enum netfc_class class = netfc_classify(plain, netfc_encode(plain, value));

	if (isnan(value))
		return 0;
	if (isinf(value))
		return netfc_classify(to, z) == NETFC_NAN ? NETFC_INVALID : 0;
	if (class == NETFC_INF || class == NETFC_NAN)
		return NETFC_OVERFLOW;
	return class == NETFC_ZERO && value != 0 ? NETFC_UNDERFLOW : 0;
}

static void
check_kernel(enum vector_isa isa, unsigned int count, uint8_t expected_flags)
{
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = count};
	uint64_t changes = 0;

	for (unsigned int l = 0; l < count; l++) {
		slots[l] = rte_cpu_to_be_32(x[l]);
		slots[2 * count + l] = ~slots[l];
		changes += 2 * UINT16_MAX + slot_words(rte_cpu_to_be_32(by_library[l]), 32) -
			slot_words(slots[2 * count + l], 32);
	}
	vector_run_packets(kernel[isa], netfc_function_number(function), &packet, 1);
	for (unsigned int l = 0; l < count; l++) {
		if (rte_be_to_cpu_32(slots[2 * count + l]) != by_library[l])
			fail_msg("%s: 0x%08x is 0x%x, not 0x%x", vector_isa_name(isa), x[l],
				rte_be_to_cpu_32(slots[2 * count + l]), by_library[l]);
	}
	assert_int_equal(packet.flags, expected_flags);
	assert_int_equal(packet.changes % UINT16_MAX, changes % UINT16_MAX);
}

/* Those of x. */
static void
check(unsigned int count)
{
	uint8_t any = 0;

	assert_int_equal(
		netfc_function_lanes(function, from, x, by_library, flags, count), NETFC_OK);
	for (unsigned int l = 0; l < count; l++) {
		const double value =
			netfc_decode(from, x[l] & UINT32_MAX >> (32 - netfc_format_width(from)));
		const uint32_t z = isnan(value) ? netfc_nan(to) : netfc_encode(to, value);

		if (by_library[l] != z || flags[l] != flags_of(value, z))
			fail_msg("%s of 0x%08x = %g is 0x%x, flags %u, not 0x%x, %u",
				netfc_function_name(function), x[l], value, by_library[l], flags[l],
				z, flags_of(value, z));
		any |= flags[l];
	}
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= best; isa++)
		check_kernel(isa, count, any);
}

TEST(numbers_a_step_apart)
{
	unsigned int count = 0;

	for (uint64_t number = 0; number <= UINT32_MAX; number += step) {
		x[count++] = (uint32_t)number;
		if (count == LANES) {
			check(count);
			count = 0;
		}
	}
	if (count > 0)
		check(count);
}

/* Beside the boundaries of bfloat16, and of formats of up to 11 bits. */
TEST(numbers_beside_boundaries)
{
	static const uint32_t low[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fff,
		0x8000, 0x8001, 0xffff};

	for (uint32_t high = 0; high <= UINT16_MAX; high++) {
		for (unsigned int l = 0; l < RTE_DIM(low); l++)
			x[l] = high << 16 | low[l];
		check(RTE_DIM(low));
	}
}

int
main(int argc, char **argv)
{
	int failed;

	if (argc != 4 || start_lcores(1) != 0)
		return 2;
	from = netfc_format_by_name(argv[1]);
	from = from != NULL ? from : netfc_fp32_format();
	function = netfc_function_by_name(argv[2]);
	step = strtoull(argv[3], NULL, 10);
	best = vector_isa_best();
	if (function == NULL || step == 0)
		return 2;
	to = netfc_function_result(function, from).format;
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= best; isa++) {
		if (extended_conversion_create(function, from, isa, SOCKET_ID_ANY, &kernel[isa]) !=
			0)
			return 2;
	}
	failed = tests_run(NULL, NULL);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= best; isa++)
		vector_free(kernel[isa]);
	return failed;
}
