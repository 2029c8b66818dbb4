/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_BLOCKS_H
#define VECTOR_BLOCKS_H

/**
 * @file
 * Kernels in plain C, a block of lanes at a time, each step a loop that compilers turn into vector
 * code. Files that include this are compiled for one instruction set each. Those that define
 * BLOCK_NEON move words by hand, as compilers take twice as many instructions of NEON for it.
 */

#include <string.h>

#include "slots.h"
#include "vector.h"

#define BLOCK_INLINE static inline __attribute__((always_inline))

#define BLOCK_LANES 256

/*
 * Loops over a block go on to a multiple of this, as what is left over by vectors would take longer
 * than all of them: lanes behind the last are computed from anything, and not used.
 */
#define BLOCK_STEP 32

#ifdef BLOCK_NEON
#include "block_words_neon.h"
#else
BLOCK_INLINE void
block_read(uint16_t *__restrict__ to, const slot16 *__restrict__ from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot16_swap(from[l]);
}
#endif

struct block {
	uint16_t x[BLOCK_LANES + BLOCK_STEP], y[BLOCK_LANES + BLOCK_STEP];
	uint16_t z[BLOCK_LANES];
	uint16_t flags[BLOCK_LANES]; /* of enum netfc_flag */
} __attribute__((aligned(64)));

BLOCK_INLINE unsigned int
block_steps(unsigned int count)
{
	return (count + BLOCK_STEP - 1) / BLOCK_STEP * BLOCK_STEP;
}

/* Compute a block: x and y to z and flags. */
typedef void (*block_fn)(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count);

/* Lanes of a packet, and where in a block they are. */
struct block_part {
	struct vector_packet *packet;
	uint32_t first; /* of the packet */
	unsigned int at, count;
};

struct block_parts {
	struct block_part part[BLOCK_LANES];
	unsigned int parts, lanes;
};

/* Results into packets. */
BLOCK_INLINE void
block_write(const struct block *block, const struct block_parts *parts)
{
	for (unsigned int p = 0; p < parts->parts; p++) {
		const struct block_part *part = &parts->part[p];
		const uint16_t *__restrict__ z = block->z + part->at;
		const uint16_t *__restrict__ flags = block->flags + part->at;
		slot16 *__restrict__ to =
			(slot16 *)part->packet->slots + 2 * part->packet->count + part->first;
		uint32_t change = 0;
		uint16_t any = 0;
		unsigned int l = 0;

#ifdef BLOCK_NEON
		l = block_exchange(to, z, flags, part->count, &change, &any);
#endif
		for (; l < part->count; l++) {
			uint16_t before = to[l], after = slot16_swap(z[l]);

			change += (uint32_t)(uint16_t)~before + after;
			any |= flags[l];
			to[l] = after;
		}
		part->packet->changes += change;
		part->packet->flags |= (uint8_t)any;
	}
}

/* As many lanes of the packet as there is space for, from `first` on. */
BLOCK_INLINE unsigned int
block_add(struct block *block, struct block_parts *parts, struct vector_packet *packet,
	uint32_t first)
{
	const slot16 *x = (const slot16 *)packet->slots + first;
	unsigned int space = BLOCK_LANES - parts->lanes, at = parts->lanes;
	unsigned int some = packet->count - first < space ? packet->count - first : space;
	/* Whole steps, where there is so much behind y. */
	unsigned int read = packet->count < BLOCK_STEP ? some : block_steps(some);

	block_read(block->x + at, x, read);
	block_read(block->y + at, x + packet->count, read);
	parts->part[parts->parts++] = (struct block_part){packet, first, at, some};
	parts->lanes += some;
	return some;
}

/* Packets share blocks, but each that fits into one is in one. */
BLOCK_INLINE void
block_run_packets(block_fn compute, const struct vector_kernel *kernel, enum netfc_op op,
	struct vector_packet *packets, unsigned int count)
{
	struct block block;
	struct block_parts parts;

	parts.parts = parts.lanes = 0;
	for (unsigned int p = 0; p < count; p++) {
		struct vector_packet *packet = &packets[p], *next = packet + 1;

		packet->flags = 0;
		packet->changes = 0;
		for (uint32_t first = 0; first < packet->count;) {
			first += block_add(&block, &parts, packet, first);
			if (first == packet->count && p + 1 < count &&
				parts.lanes + next->count <= BLOCK_LANES)
				continue;
			compute(kernel, op, &block, parts.lanes);
			block_write(&block, &parts);
			parts.parts = parts.lanes = 0;
		}
	}
}

BLOCK_INLINE void
block_run_lanes(block_fn compute, const struct vector_kernel *kernel, enum netfc_op op,
	const struct vector_lanes *lanes)
{
	const uint32_t count = lanes->count;
	uint16_t *z = lanes->z;
	uint8_t *flags = lanes->flags;
	struct block block;

	for (uint32_t done = 0; done < count; done += BLOCK_LANES) {
		unsigned int some = count - done < BLOCK_LANES ? count - done : BLOCK_LANES;

		block_read(block.x, lanes->x + done, some);
		block_read(block.y, lanes->y + done, some);
		compute(kernel, op, &block, some);
		for (unsigned int l = 0; l < some; l++) {
			z[done + l] = slot16_swap(block.z[l]);
			flags[done + l] = (uint8_t)block.flags[l];
		}
	}
}

/* The functions of a kernel around a block_fn. */
#define BLOCK_FUNCTIONS(name, compute)                                                  \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op, \
		struct vector_packet *packets, unsigned int count)                      \
	{                                                                               \
		block_run_packets(compute, kernel, op, packets, count);                 \
	}                                                                               \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,   \
		const struct vector_lanes *lanes)                                       \
	{                                                                               \
		block_run_lanes(compute, kernel, op, lanes);                            \
	}                                                                               \
	static const struct vector_functions name = {name##_packets, name##_lanes};

#endif /* VECTOR_BLOCKS_H */
