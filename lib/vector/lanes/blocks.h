/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_BLOCKS_H
#define VECTOR_BLOCKS_H

/**
 * @file
 * Kernels in plain C, a block of lanes at a time, each step a loop that compilers turn into vector
 * code. Files that include this are compiled for one instruction set each. Those that define
 * BLOCK_NEON move words by hand, as compilers take twice as many instructions of NEON for it.
 */

#include <stdbool.h>
#include <string.h>

#ifdef BLOCK_NEON
#include <arm_neon.h>
#endif

#include "slots.h"
#include "vector.h"

#define BLOCK_LANES 256

/*
 * Loops over a block go on to a multiple of this, as what is left over by vectors would take longer
 * than all of them: lanes after the last are computed from anything, and not used.
 */
#define BLOCK_STEP 32

#ifdef BLOCK_NEON
/* What compilers make of the loops below takes about twice as many instructions. */

#define WORDS 8          /* of a vector */
#define STEP (4 * WORDS) /* taken together */

INLINE uint16x8_t
swap_words(uint8x16_t words)
{
	return vreinterpretq_u16_u8(vrev16q_u8(words));
}

INLINE uint16x8x4_t
swap_step(uint8x16x4_t step)
{
	return (uint16x8x4_t){{swap_words(step.val[0]), swap_words(step.val[1]),
		swap_words(step.val[2]), swap_words(step.val[3])}};
}

INLINE void
block_read(uint16_t *__restrict__ to, const slot16 *__restrict__ from, unsigned int count)
{
	unsigned int l = 0;

	for (; l + STEP <= count; l += STEP)
		vst1q_u16_x4(to + l, swap_step(vld1q_u8_x4((const uint8_t *)(from + l))));
	for (; l + WORDS <= count; l += WORDS)
		vst1q_u16(to + l, swap_words(vld1q_u8((const uint8_t *)(from + l))));
	for (; l < count; l++)
		to[l] = slot16_swap(from[l]);
}

/* All words, or-ed. */
INLINE uint16_t
or_of_words(uint16x8_t words)
{
	const uint64x2_t halves = vreinterpretq_u64_u16(words);
	uint64_t any = vgetq_lane_u64(halves, 0) | vgetq_lane_u64(halves, 1);

	any |= any >> 32;
	return (uint16_t)(any | any >> 16);
}

/* What results change: sums of words, and flags. */
struct exchanged {
	uint32x4_t added, removed;
	uint16x8_t flags;
};

INLINE void
exchange_step(struct exchanged *sum, uint8_t *to, const uint16_t *z, const uint16_t *flags)
{
	const uint8x16x4_t before = vld1q_u8_x4(to);
	const uint16x8x4_t any = vld1q_u16_x4(flags), words = vld1q_u16_x4(z);
	uint8x16x4_t after;

#pragma GCC unroll 4
	for (unsigned int i = 0; i < 4; i++) {
		after.val[i] = vrev16q_u8(vreinterpretq_u8_u16(words.val[i]));
		sum->removed = vpadalq_u16(sum->removed, vreinterpretq_u16_u8(before.val[i]));
		sum->added = vpadalq_u16(sum->added, vreinterpretq_u16_u8(after.val[i]));
		sum->flags = vorrq_u16(sum->flags, any.val[i]);
	}
	vst1q_u8_x4(to, after);
}

INLINE void
exchange_words(struct exchanged *sum, uint8_t *to, const uint16_t *z, const uint16_t *flags)
{
	const uint8x16_t after = vrev16q_u8(vreinterpretq_u8_u16(vld1q_u16(z)));

	sum->removed = vpadalq_u16(sum->removed, vreinterpretq_u16_u8(vld1q_u8(to)));
	sum->added = vpadalq_u16(sum->added, vreinterpretq_u16_u8(after));
	sum->flags = vorrq_u16(sum->flags, vld1q_u16(flags));
	vst1q_u8(to, after);
}

/*
 * Results into a packet, as many as make whole vectors: what they change in a checksum, and their
 * flags, or-ed. Returns how many there were.
 */
INLINE unsigned int
block_exchange(slot16 *__restrict__ to, const uint16_t *__restrict__ z,
	const uint16_t *__restrict__ flags, unsigned int count, uint32_t *change, uint16_t *any)
{
	struct exchanged sum = {vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u16(0)};
	unsigned int l = 0;

	for (; l + STEP <= count; l += STEP)
		exchange_step(&sum, (uint8_t *)(to + l), z + l, flags + l);
	for (; l + WORDS <= count; l += WORDS)
		exchange_words(&sum, (uint8_t *)(to + l), z + l, flags + l);
	*change = UINT16_MAX * l + vaddvq_u32(vsubq_u32(sum.added, sum.removed));
	*any = or_of_words(sum.flags);
	return l;
}
#else
INLINE void
block_read(uint16_t *__restrict__ to, const slot16 *__restrict__ from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot16_swap(from[l]);
}
#endif

struct block {
	uint16_t x[BLOCK_LANES + BLOCK_STEP], y[BLOCK_LANES + BLOCK_STEP];
	uint16_t z[BLOCK_LANES];     /* of three operands the last, too */
	uint16_t flags[BLOCK_LANES]; /* of enum netfc_flag */
} __attribute__((aligned(64)));

INLINE unsigned int
block_steps(unsigned int count)
{
	return (count + BLOCK_STEP - 1) / BLOCK_STEP * BLOCK_STEP;
}

/* Lanes after the last, up to a whole step: numbers of any format that are nothing special. */
INLINE void
block_pad(struct block *block, unsigned int count)
{
	uint16_t *x = block->x + count, *y = block->y + count;

	for (unsigned int l = 0; l < BLOCK_STEP; l++)
		x[l] = 0x3c00;
	for (unsigned int l = 0; l < BLOCK_STEP; l++)
		y[l] = 0x3c00;
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
	bool reads_z; /* a constant */
};

/* Results into packets. */
INLINE void
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
INLINE unsigned int
block_add(struct block *block, struct block_parts *parts, struct vector_packet *packet,
	uint32_t first)
{
	const slot16 *x = (const slot16 *)packet->slots + first;
	unsigned int space = BLOCK_LANES - parts->lanes, at = parts->lanes;
	unsigned int some = packet->count - first < space ? packet->count - first : space;
	/* Whole steps, where there is so much after y. */
	unsigned int read = packet->count < BLOCK_STEP ? some : block_steps(some);

	block_read(block->x + at, x, read);
	block_read(block->y + at, x + packet->count, read);
	if (parts->reads_z)
		block_read(block->z + at, x + 2 * packet->count, some);
	parts->part[parts->parts++] = (struct block_part){packet, first, at, some};
	parts->lanes += some;
	return some;
}

/* Packets share blocks, but each that fits into one is in one. */
INLINE void
block_run_packets(block_fn compute, const struct vector_kernel *kernel, enum netfc_op op,
	struct vector_packet *packets, unsigned int count, const bool reads_z)
{
	struct block block;
	struct block_parts parts;

	parts.parts = parts.lanes = 0;
	parts.reads_z = reads_z;
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

INLINE void
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
		block_run_packets(compute, kernel, op, packets, count, false);          \
	}                                                                               \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,   \
		const struct vector_lanes *lanes)                                       \
	{                                                                               \
		block_run_lanes(compute, kernel, op, lanes);                            \
	}                                                                               \
	static const struct vector_functions name = {name##_packets, name##_lanes};

#endif /* VECTOR_BLOCKS_H */
