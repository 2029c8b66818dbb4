/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOATS_NEON_H
#define VECTOR_FLOATS_NEON_H

/** @file A register of words to binary32 and back, as floats_avx512.h. */

#include <arm_neon.h>

#define BLOCK_NEON
#include "blocks.h"

#define INLINE BLOCK_INLINE

/* Two registers of floats for one of words. */
struct floats {
	float32x4_t low, high;
};

INLINE struct floats
from_fp16(uint16x8_t words)
{
	const float16x8_t number = vreinterpretq_f16_u16(words);

	return (struct floats){vcvt_f32_f16(vget_low_f16(number)), vcvt_high_f32_f16(number)};
}

INLINE uint16x8_t
to_fp16(struct floats floats)
{
	return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(floats.low), floats.high));
}

INLINE struct floats
from_bf16(uint16x8_t words)
{
	const uint16x8_t zero = vdupq_n_u16(0);

	return (struct floats){vreinterpretq_f32_u16(vzip1q_u16(zero, words)),
		vreinterpretq_f32_u16(vzip2q_u16(zero, words))};
}

/* The upper halves of these are rounded to the nearest, ties to even. */
INLINE uint16x8_t
rounded(float32x4_t value)
{
	const uint32x4_t bits = vreinterpretq_u32_f32(value);
	const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));

	return vreinterpretq_u16_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd));
}

INLINE uint16x8_t
to_bf16(struct floats floats)
{
	return vuzp2q_u16(rounded(floats.low), rounded(floats.high));
}

#endif /* VECTOR_FLOATS_NEON_H */
