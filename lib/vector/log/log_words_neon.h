/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_WORDS_NEON_H
#define VECTOR_LOG_WORDS_NEON_H

/**
 * @file
 * Logarithms and powers of 16 lanes, from tables in registers: see log_registers.h. Sixteen lanes
 * are worked on together, as a table look-up in registers takes sixteen bytes: tables are held as
 * planes of bytes, and words zipped together again.
 */

#include <arm_neon.h>

#define BLOCK_NEON
#include "lanes/blocks.h"
#include "log/log_registers.h"
#include "log/special.h"

#define LANES 8
#define GROUP (2 * LANES)

_Static_assert(BLOCK_STEP % GROUP == 0, "groups are whole");

/* binary16: a fraction of 10 bits; a float's exponent is 112 more. */
#define FRACTION_BITS 10

/* Powers of two, coarse and fine ones. */
#define POWERS 32

/* The upper byte of floats from 1.0 to 2.0. */
#define FLOAT_ONE 0x3f

/* Words of sixteen lanes. */
struct group {
	uint16x8_t low, high;
};

/* Bytes of the lines' words; of slopes, which are less than 128, the lower ones. */
struct lines {
	uint8x16x4_t base_0, base_1, slope;
};

/* Bytes of the powers' floats, from the least on; the last is FLOAT_ONE. */
struct powers {
	uint8x16x2_t coarse_0, coarse_1, coarse_2, fine_0, fine_1, fine_2;
};

/* The lower and the upper bytes of words. */
INLINE void
split_words(const uint16_t *words, uint8_t planes[2][SEGMENTS])
{
	for (unsigned int i = 0; i < SEGMENTS; i += GROUP) {
		uint8x16x2_t bytes = vld2q_u8((const uint8_t *)(words + i));

		vst1q_u8(planes[0] + i, bytes.val[0]);
		vst1q_u8(planes[1] + i, bytes.val[1]);
	}
}

INLINE struct lines
load_lines(const struct log_registers *kernel)
{
	uint8_t base[2][SEGMENTS], slope[2][SEGMENTS];

	split_words(kernel->base, base);
	split_words(kernel->slope, slope);
	return (struct lines){vld1q_u8_x4(base[0]), vld1q_u8_x4(base[1]), vld1q_u8_x4(slope[0])};
}

/* The bytes of floats but the last, from the least on. */
INLINE void
split_floats(const float *floats, uint8_t planes[3][POWERS])
{
	for (unsigned int i = 0; i < POWERS; i += GROUP) {
		uint8x16x4_t bytes = vld4q_u8((const uint8_t *)(floats + i));

		for (unsigned int b = 0; b < 3; b++)
			vst1q_u8(planes[b] + i, bytes.val[b]);
	}
}

INLINE struct powers
load_powers(const struct log_registers *kernel)
{
	uint8_t coarse[3][POWERS], fine[3][POWERS];

	split_floats(kernel->coarse, coarse);
	split_floats(kernel->fine, fine);
	return (struct powers){
		vld1q_u8_x2(coarse[0]),
		vld1q_u8_x2(coarse[1]),
		vld1q_u8_x2(coarse[2]),
		vld1q_u8_x2(fine[0]),
		vld1q_u8_x2(fine[1]),
		vld1q_u8_x2(fine[2]),
	};
}

INLINE struct group
load_group(const uint16_t *words)
{
	return (struct group){vld1q_u16(words), vld1q_u16(words + LANES)};
}

INLINE uint16x8_t
magnitude_of(uint16x8_t words)
{
	return vandq_u16(words, vdupq_n_u16(0x7fff));
}

INLINE uint16x8_t
difference_of_signs(uint16x8_t x, uint16x8_t y)
{
	return vandq_u16(veorq_u16(x, y), vdupq_n_u16(0x8000));
}

/* All bits where signs differ. */
INLINE uint16x8_t
if_signs_differ(uint16x8_t x, uint16x8_t y)
{
	return vcltzq_s16(vreinterpretq_s16_u16(veorq_u16(x, y)));
}

/* Bit by bit: magnitude, and of another word the sign. */
INLINE uint16x8_t
with_sign(uint16x8_t magnitude, uint16x8_t signs)
{
	return vbslq_u16(vdupq_n_u16(0x8000), signs, magnitude);
}

/*
 * Exponent and fraction, subnormals normalised: (e << 10 | f) of magnitude 2^e * 1.f. The float of
 * a binary16 has them at bit 13; six bits of its exponent tell all those that can occur.
 */
INLINE uint16x8_t
normalise(uint16x8_t magnitude)
{
	const float16x8_t number = vreinterpretq_f16_u16(magnitude);
	const uint32x4_t low = vreinterpretq_u32_f32(vcvt_f32_f16(vget_low_f16(number)));
	const uint32x4_t high = vreinterpretq_u32_f32(vcvt_high_f32_f16(number));

	return vsubq_u16(vshrn_high_n_u32(vshrn_n_u32(low, 13), high, 13),
		vdupq_n_u16(0x7f << FRACTION_BITS & UINT16_MAX));
}

/* The lower bytes of words. */
INLINE uint8x16_t
lower_bytes(uint16x8_t low, uint16x8_t high)
{
	return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

/* The log words of finite magnitudes other than zero. */
INLINE struct group
log_words(const struct lines *lines, struct group magnitude)
{
	const uint16x8_t low = normalise(magnitude.low), high = normalise(magnitude.high);
	const int8x16_t along =
		vreinterpretq_s8_u8(vandq_u8(lower_bytes(low, high), vdupq_n_u8(SEGMENT - 1)));
	const uint8x16_t segment =
		vandq_u8(vshrn_high_n_u16(vshrn_n_u16(low, SEGMENT_BITS), high, SEGMENT_BITS),
			vdupq_n_u8(SEGMENTS - 1));
	const uint8x16_t base_0 = vqtbl4q_u8(lines->base_0, segment);
	const uint8x16_t base_1 = vqtbl4q_u8(lines->base_1, segment);
	const int8x16_t slope = vreinterpretq_s8_u8(vqtbl4q_u8(lines->slope, segment));
	const int16x8_t line_low = vmlal_s8(vreinterpretq_s16_u8(vzip1q_u8(base_0, base_1)),
		vget_low_s8(slope), vget_low_s8(along));
	const int16x8_t line_high =
		vmlal_high_s8(vreinterpretq_s16_u8(vzip2q_u8(base_0, base_1)), slope, along);

	return (struct group){
		vsraq_n_u16(low, vreinterpretq_u16_s16(line_low), LINE_BITS),
		vsraq_n_u16(high, vreinterpretq_u16_s16(line_high), LINE_BITS),
	};
}

/* Floats of sixteen lanes, from their bytes. */
struct floats {
	float32x4_t part[4];
};

INLINE struct floats
look_up_floats(uint8x16x2_t plane_0, uint8x16x2_t plane_1, uint8x16x2_t plane_2, uint8x16_t index)
{
	const uint8x16_t byte_0 = vqtbl2q_u8(plane_0, index);
	const uint8x16_t byte_1 = vqtbl2q_u8(plane_1, index);
	const uint8x16_t byte_2 = vqtbl2q_u8(plane_2, index);
	const uint8x16_t byte_3 = vdupq_n_u8(FLOAT_ONE);
	const uint16x8_t words_0 = vreinterpretq_u16_u8(vzip1q_u8(byte_0, byte_1));
	const uint16x8_t words_1 = vreinterpretq_u16_u8(vzip2q_u8(byte_0, byte_1));
	const uint16x8_t upper_0 = vreinterpretq_u16_u8(vzip1q_u8(byte_2, byte_3));
	const uint16x8_t upper_1 = vreinterpretq_u16_u8(vzip2q_u8(byte_2, byte_3));

	return (struct floats){{
		vreinterpretq_f32_u16(vzip1q_u16(words_0, upper_0)),
		vreinterpretq_f32_u16(vzip2q_u16(words_0, upper_0)),
		vreinterpretq_f32_u16(vzip1q_u16(words_1, upper_1)),
		vreinterpretq_f32_u16(vzip2q_u16(words_1, upper_1)),
	}};
}

/* The magnitudes of 2^(n/k) of eight lanes: 2^exponent * coarse * fine, rounded. */
INLINE uint16x8_t
round_powers(int16x8_t n, const float32x4_t *coarse, const float32x4_t *fine)
{
	const int16x8_t exponent = vandq_s16(n, vdupq_n_s16((int16_t)-(1 << FRACTION_BITS)));
	const int32x4_t low = vshll_n_s16(vget_low_s16(exponent), 23 - FRACTION_BITS);
	const int32x4_t high = vshll_high_n_s16(exponent, 23 - FRACTION_BITS);
	const int32x4_t power_low = vreinterpretq_s32_f32(vmulq_f32(coarse[0], fine[0]));
	const int32x4_t power_high = vreinterpretq_s32_f32(vmulq_f32(coarse[1], fine[1]));

	return vreinterpretq_u16_f16(
		vcvt_high_f16_f32(vcvt_f16_f32(vreinterpretq_f32_s32(vaddq_s32(power_low, low))),
			vreinterpretq_f32_s32(vaddq_s32(power_high, high))));
}

/* The magnitudes of 2^(n/k). */
INLINE struct group
exp_words(const struct powers *powers, int16x8_t n_low, int16x8_t n_high)
{
	const uint16x8_t low = vreinterpretq_u16_s16(n_low), high = vreinterpretq_u16_s16(n_high);
	const uint8x16_t mask = vdupq_n_u8(31);
	const uint8x16_t upper = vshrn_high_n_u16(vshrn_n_u16(low, 5), high, 5);
	const uint8x16_t lower = lower_bytes(low, high);
	const struct floats coarse = look_up_floats(
		powers->coarse_0, powers->coarse_1, powers->coarse_2, vandq_u8(upper, mask));
	const struct floats fine = look_up_floats(
		powers->fine_0, powers->fine_1, powers->fine_2, vandq_u8(lower, mask));

	return (struct group){
		round_powers(n_low, coarse.part, fine.part),
		round_powers(n_high, coarse.part + 2, fine.part + 2),
	};
}

/* NETFC_UNDERFLOW and NETFC_OVERFLOW of magnitudes. */
INLINE uint16x8_t
flags_of(uint16x8_t magnitude, uint16x8_t inf)
{
	const uint16x8_t under =
		vandq_u16(vceqzq_u16(magnitude), vdupq_n_u16((uint16_t)NETFC_UNDERFLOW));

	return vbslq_u16(vceqq_u16(magnitude, inf), vdupq_n_u16((uint16_t)NETFC_OVERFLOW), under);
}

#endif /* VECTOR_LOG_WORDS_NEON_H */
