/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of memory against DPDK's. */
#include <stdlib.h>

#include <rte_ip.h>

#include "cases.h"
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

TEST(random_bytes_have_dpdks_sum)
{
	static uint8_t bytes[LONGEST + OFFSETS];

	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	compare(bytes);
}

TEST(carries_are_not_lost)
{
	static uint8_t bytes[LONGEST + OFFSETS];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xff;
	compare(bytes);
}

TEST(nothing_has_no_sum)
{
	assert_int_equal(checksum_choose(vector_isa_best())("", 0), 0);
}
