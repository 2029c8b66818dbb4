/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_FUNCTION_H
#define EXTENDED_FUNCTION_H

/**
 * @file
 * A function's array. It is indexed by a slot as it stands in the packet, big-endian, and holds z
 * as it is to stand there: no byte is ever swapped. The exception flags are in the same entry, so
 * that a lane is one access to memory.
 */

#include <rte_common.h>

#include "slots.h"
#include "vector.h"

/* What an entry holds: z, and above it the exception flags. */
#define FUNCTION_FLAGS_SHIFT 16

struct function_kernel {
	struct vector_kernel kernel;
	uint32_t entries[NETFC_FUNCTION_ENTRIES] __rte_cache_aligned; /* by the slot of x */
};

/* Lanes do not depend on each other: leave the processor more of them than loop. */
#define FUNCTION_UNROLL _Pragma("GCC unroll 8")

/* Lanes and what they have changed so far. */
struct function_run {
	const uint32_t *entries;
	const slot16 *x;
	slot16 *z;
	uint64_t changes;
	uint32_t any; /* entries, or-ed */
};

static inline struct function_run
function_start(const struct function_kernel *kernel, const struct vector_packet *packet)
{
	slot16 *x = (slot16 *)packet->slots;

	return (struct function_run){
		.entries = kernel->entries,
		.x = x,
		.z = x + 2 * (size_t)packet->count,
	};
}

/* The lanes from `first` on, one by one. */
static inline void
function_run_each(struct function_run *run, uint32_t first, uint32_t count)
{
	const uint32_t *entries = run->entries;
	uint64_t before = 0, after = 0;
	uint32_t any = 0;

	for (uint32_t l = first; l < count; l++)
		before += run->z[l];
	FUNCTION_UNROLL
	for (uint32_t l = first; l < count; l++) {
		const uint32_t entry = entries[run->x[l]];

		any |= entry;
		after += (uint16_t)entry;
		run->z[l] = (uint16_t)entry;
	}
	run->any |= any;
	run->changes += slots_changes(count - first, before, after);
}

static inline void
function_finish(const struct function_run *run, struct vector_packet *packet)
{
	packet->flags = (uint8_t)(run->any >> FUNCTION_FLAGS_SHIFT);
	packet->changes = run->changes;
}

/* The one lane of a packet. */
static inline void
function_run_single(const struct function_kernel *kernel, struct vector_packet *packet)
{
	slot16 *x = (slot16 *)packet->slots, *z = x + 2;
	const uint32_t entry = kernel->entries[*x];

	packet->changes = (uint32_t)(uint16_t)~*z + (uint16_t)entry;
	packet->flags = (uint8_t)(entry >> FUNCTION_FLAGS_SHIFT);
	*z = (uint16_t)entry;
}

/* `run`, a constant, is for packets of more lanes than one. */
static __rte_always_inline void
function_run_packets(const struct vector_kernel *kernel, struct vector_packet *packets,
	unsigned int count,
	void (*run)(const struct function_kernel *kernel, struct vector_packet *packet))
{
	const struct function_kernel *function = (const struct function_kernel *)kernel;

	for (unsigned int p = 0; p < count; p++) {
		if (packets[p].count == 1)
			function_run_single(function, &packets[p]);
		else
			run(function, &packets[p]);
	}
}

/* function_avx512.c */
vector_packets_fn function_run_avx512;

#endif /* EXTENDED_FUNCTION_H */
