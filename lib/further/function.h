/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FURTHER_FUNCTION_H
#define FURTHER_FUNCTION_H

/**
 * @file
 * A function's array. It is indexed by a slot as it stands in the packet, big-endian, and holds z
 * as it is to stand there: no byte is ever swapped. The exception flags are in the same entry, so
 * that a lane is one access to memory.
 */

#include "further_kernel.h"
#include "slots.h"

/* Lanes and what they have changed so far. */
struct function_run {
	const uint32_t *entries;
	const slot *x;
	slot *z;
	uint64_t changes;
	uint32_t any; /* entries, or-ed */
};

static inline struct function_run
function_start(const struct further_kernel *kernel, const struct vector_packet *packet)
{
	slot *x = (slot *)packet->slots;

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
	SLOTS_UNROLL
	for (uint32_t l = first; l < count; l++) {
		const uint32_t entry = entries[run->x[l]];

		any |= entry;
		after += (uint16_t)entry;
		run->z[l] = (uint16_t)entry;
	}
	run->any |= any;
	/* A word that changes adds its complement, too. */
	run->changes += after + (uint64_t)(count - first) * UINT16_MAX - before;
}

static inline void
function_finish(const struct function_run *run, struct vector_packet *packet)
{
	packet->flags = (uint8_t)(run->any >> FURTHER_ENTRY_FLAGS_SHIFT);
	packet->changes = run->changes;
}

/* function_avx512.c */
void function_run_avx512(const struct further_kernel *kernel, struct vector_packet *packet);

#endif /* FURTHER_FUNCTION_H */
