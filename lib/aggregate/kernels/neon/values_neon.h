/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALUES_NEON_H
#define VALUES_NEON_H

/**
 * @file
 * Values in and out, eight at a time: a group.
 */

#include <arm_neon.h>

#include "kernels/arithmetic.h"
#include "kernels/kernels_lanes.h"

_Static_assert(GROUP == 8, "a vector of words");
_Static_assert(MAX_LANES_AT_ONCE % GROUP == 0, "arrays are made for whole groups");

/* A group that is not whole: its values, then zeros. */
struct tail {
	uint8_t bytes[4 * GROUP];
};

INLINE struct tail
tail_of(const uint8_t *values, uint32_t bytes)
{
	struct tail tail = {{0}};

	memcpy(tail.bytes, values, bytes);
	return tail;
}

INLINE uint16x8_t
swap_words(uint16x8_t group)
{
	return vreinterpretq_u16_u8(vrev16q_u8(vreinterpretq_u8_u16(group)));
}

INLINE uint32x4_t
swap_fields(uint32x4_t fields)
{
	return vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(fields)));
}

INLINE uint16x8_t
load_words(const uint8_t *bytes)
{
	return swap_words(vreinterpretq_u16_u8(vld1q_u8(bytes)));
}

INLINE uint16x8_t
load_group(const uint8_t *values, uint32_t count, uint32_t lane)
{
	const uint8_t *from = values + 2 * (size_t)lane;

	if (count - lane >= GROUP)
		return load_words(from);
	return load_words(tail_of(from, 2 * (count - lane)).bytes);
}

INLINE void
store_group(uint8_t *result, uint32_t count, uint32_t lane, uint16x8_t group)
{
	uint8_t *to = result + 2 * (size_t)lane;
	uint8_t bytes[2 * GROUP];

	if (count - lane >= GROUP) {
		vst1q_u8(to, vreinterpretq_u8_u16(swap_words(group)));
		return;
	}
	vst1q_u8(bytes, vreinterpretq_u8_u16(swap_words(group)));
	memcpy(to, bytes, 2 * (count - lane));
}

/* A group's encodings in fp32; bf16 is the upper half of it. */
struct fields {
	uint32x4_t half[2];
};

INLINE struct fields
load_wide(const uint8_t *bytes)
{
	return (struct fields){{
		swap_fields(vreinterpretq_u32_u8(vld1q_u8(bytes))),
		swap_fields(vreinterpretq_u32_u8(vld1q_u8(bytes + 16))),
	}};
}

INLINE struct fields
load_fields(enum aggregate_format format, const uint8_t *values, uint32_t count, uint32_t lane)
{
	const uint8_t *from = values + 4 * (size_t)lane;

	if (format == AGGREGATE_BF16) {
		const uint16x8_t group = load_group(values, count, lane);

		return (struct fields){{
			vshll_n_u16(vget_low_u16(group), 16),
			vshll_high_n_u16(group, 16),
		}};
	}
	if (count - lane >= GROUP)
		return load_wide(from);
	return load_wide(tail_of(from, 4 * (count - lane)).bytes);
}

INLINE void
store_wide(uint8_t *to, struct fields fields)
{
	for (int h = 0; h < 2; h++)
		vst1q_u8(to + 16 * h, vreinterpretq_u8_u32(swap_fields(fields.half[h])));
}

INLINE void
store_fields(enum aggregate_format format, uint8_t *result, uint32_t count, uint32_t lane,
	struct fields fields)
{
	uint8_t *to = result + 4 * (size_t)lane;
	uint8_t bytes[4 * GROUP];

	if (format == AGGREGATE_BF16) {
		store_group(result, count, lane,
			vuzp2q_u16(vreinterpretq_u16_u32(fields.half[0]),
				vreinterpretq_u16_u32(fields.half[1])));
		return;
	}
	if (count - lane >= GROUP) {
		store_wide(to, fields);
		return;
	}
	store_wide(bytes, fields);
	memcpy(to, bytes, 4 * (count - lane));
}

#endif /* VALUES_NEON_H */
