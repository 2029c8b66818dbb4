/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc_compute() of as many lanes as its counter can say: each once, and then it ends. */
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define SPACE (UINT64_C(1) << 32)
#define PIECE (UINT64_C(1) << 22)

/* One piece of memory, again and again: operands and results of all lanes. */
static uint8_t *
map_lanes(void)
{
	const int memory = memfd_create("lanes", MFD_CLOEXEC);
	uint8_t *lanes =
		mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory >= 0 && ftruncate(memory, (off_t)PIECE) == 0);
	assert_ptr_not_equal(lanes, MAP_FAILED);
	for (uint64_t at = 0; at < SPACE; at += PIECE)
		assert_ptr_not_equal(mmap(lanes + at, PIECE, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_FIXED, memory, 0),
			MAP_FAILED);
	close(memory);
	return lanes;
}

TEST(as_many_lanes_as_can_be_counted)
{
	const uint32_t nan = 0x7f;
	uint8_t *lanes = map_lanes();
	struct netfc_set *set;

	assert_int_equal(netfc_set_build("fp8_e4m3_exact", &set), NETFC_OK);
	assert_int_equal(netfc_compute(set, NETFC_DIV, lanes, lanes, lanes, NULL, UINT32_MAX),
		NETFC_INVALID);
	assert_int_equal(lanes[UINT32_MAX - 1], nan);
	netfc_set_free(set);
	munmap(lanes, SPACE);
}
