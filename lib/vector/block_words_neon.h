/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_BLOCK_WORDS_NEON_H
#define VECTOR_BLOCK_WORDS_NEON_H

/**
 * @file
 * Words between packets and blocks, in NEON: what compilers make of block_words.h takes about twice
 * as many instructions.
 */

#include <arm_neon.h>

#define WORDS 8          /* of a vector */
#define STEP (4 * WORDS) /* taken together */

BLOCK_INLINE uint16x8_t
swap_words(uint8x16_t words)
{
	return vreinterpretq_u16_u8(vrev16q_u8(words));
}

BLOCK_INLINE uint16x8x4_t
swap_step(uint8x16x4_t step)
{
	return (uint16x8x4_t){{swap_words(step.val[0]), swap_words(step.val[1]),
		swap_words(step.val[2]), swap_words(step.val[3])}};
}

BLOCK_INLINE void
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
BLOCK_INLINE uint16_t
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

BLOCK_INLINE void
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

BLOCK_INLINE void
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
BLOCK_INLINE unsigned int
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

#endif /* VECTOR_BLOCK_WORDS_NEON_H */
