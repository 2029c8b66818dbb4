/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_BLOCKS_H
#define VECTOR_BLOCKS_H

/**
 * @file
 * Kernels in plain C, a block of lanes at a time, each step a loop that compilers turn into vector
 * code. Files that include this are compiled for one instruction set each.
 */

#include <string.h>

#include "vector.h"

#define BLOCK_INLINE static inline __attribute__((always_inline))

#define BLOCK_LANES 256

/* 16 bits of a packet, wherever they are. */
typedef uint16_t block_slot __attribute__((aligned(1), may_alias));

struct block {
	uint16_t x[BLOCK_LANES], y[BLOCK_LANES], z[BLOCK_LANES];
	uint16_t flags[BLOCK_LANES]; /* of enum netfc_flag */
} __attribute__((aligned(64)));

/* Compute a block: x and y to z and flags. */
typedef void (*block_fn)(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count);

/* Between the byte order of packets and ours. */
BLOCK_INLINE uint16_t
block_swap(uint16_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint16_t)(word << 8 | word >> 8);
#else
	return word;
#endif
}

BLOCK_INLINE void
block_read(uint16_t *__restrict__ to, const block_slot *__restrict__ from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = block_swap(from[l]);
}

BLOCK_INLINE uint8_t
block_run_packet(block_fn compute, const struct vector_kernel *kernel, enum netfc_op op,
	const void *x, const void *y, void *z, uint32_t count, uint64_t *changes)
{
	struct block block;
	uint16_t any = 0;

	for (uint32_t done = 0; done < count; done += BLOCK_LANES) {
		unsigned int some = count - done < BLOCK_LANES ? count - done : BLOCK_LANES;
		block_slot *__restrict__ to = (block_slot *)z + done;
		uint32_t change = 0;

		block_read(block.x, (const block_slot *)x + done, some);
		block_read(block.y, (const block_slot *)y + done, some);
		compute(kernel, op, &block, some);
		for (unsigned int l = 0; l < some; l++) {
			uint16_t before = to[l], after = block_swap(block.z[l]);

			change += (uint32_t)(uint16_t)~before + after;
			any |= block.flags[l];
			to[l] = after;
		}
		*changes += change;
	}
	return (uint8_t)any;
}

BLOCK_INLINE void
block_run_lanes(block_fn compute, const struct vector_kernel *kernel, enum netfc_op op,
	const uint16_t *x, const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count)
{
	struct block block;

	for (uint32_t done = 0; done < count; done += BLOCK_LANES) {
		unsigned int some = count - done < BLOCK_LANES ? count - done : BLOCK_LANES;

		block_read(block.x, x + done, some);
		block_read(block.y, y + done, some);
		compute(kernel, op, &block, some);
		for (unsigned int l = 0; l < some; l++) {
			z[done + l] = block_swap(block.z[l]);
			flags[done + l] = (uint8_t)block.flags[l];
		}
	}
}

/* The two functions of a kernel around a block_fn. */
#define BLOCK_FUNCTIONS(name, compute)                                                             \
	static uint8_t name##_packet(const struct vector_kernel *kernel, enum netfc_op op,         \
		const void *x, const void *y, void *z, uint32_t count, uint64_t *changes)          \
	{                                                                                          \
		return block_run_packet(compute, kernel, op, x, y, z, count, changes);             \
	}                                                                                          \
	static void name##_lanes(const struct vector_kernel *kernel, enum netfc_op op,             \
		const uint16_t *x, const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count) \
	{                                                                                          \
		block_run_lanes(compute, kernel, op, x, y, z, flags, count);                       \
	}

#endif /* VECTOR_BLOCKS_H */
