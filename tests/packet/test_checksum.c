/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of memory against DPDK's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <rte_ip.h>

#include "checksum.h"

#define LONGEST 2000
#define OFFSETS 8

/* By each instruction set. */
static void
compare_sum(const uint8_t *bytes, size_t length)
{
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
		/* A zero may be written as ones. */
		assert_int_equal(checksum_choose(isa)(bytes, length) % 0xffff,
			rte_raw_cksum(bytes, length) % 0xffff);
}

static void
compare(const uint8_t *bytes)
{
	for (size_t offset = 0; offset < OFFSETS; offset++)
		for (size_t length = 0; length <= LONGEST; length++)
			compare_sum(bytes + offset, length);
}

static void
random_bytes_have_dpdks_sum(void **state)
{
	static uint8_t bytes[LONGEST + OFFSETS];

	(void)state;
	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	compare(bytes);
}

static void
carries_are_not_lost(void **state)
{
	static uint8_t bytes[LONGEST + OFFSETS];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xff;
	compare(bytes);
}

static void
nothing_has_no_sum(void **state)
{
	(void)state;
	assert_int_equal(checksum_choose(vector_isa_best())("", 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_bytes_have_dpdks_sum),
		cmocka_unit_test(carries_are_not_lost),
		cmocka_unit_test(nothing_has_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
