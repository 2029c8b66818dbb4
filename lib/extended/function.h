/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_FUNCTION_H
#define EXTENDED_FUNCTION_H

/**
 * @file
 * A function's array. It is indexed by a slot as it stands in the packet, big-endian, and holds z
 * as it is to stand there: no byte is ever swapped. The exception flags are in the same entry, so
 * that a lane is one access to memory.
 */

#include "lanes/drive.h"

/* What an entry holds: z, and above it the exception flags. */
#define FUNCTION_FLAGS_SHIFT 16

struct function_kernel {
	struct vector_kernel kernel;
	/* By the slot of x; the first 256 where slots have 8 bits. */
	uint32_t entries[NETFC_FUNCTION_ENTRIES] __rte_cache_aligned;
};

/* How packets are walked, of slots of so many bits. */
#define FUNCTION_DRIVE(bits) ((struct drive){bits, true, FUNCTION_FLAGS_SHIFT})

INLINE struct lane
function_look_up(const void *entries, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t entry = ((const uint32_t *)entries)[x];

	(void)y, (void)z;
	return (struct lane){entry, entry};
}

/* function_avx512.c */
vector_packets_fn function_run_avx512;

#endif /* EXTENDED_FUNCTION_H */
