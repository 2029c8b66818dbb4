/* SPDX-License-Identifier: BSD-3-Clause */
/* See fpu.h: binary32, four lanes to a register, which any arm64 processor computes in. */
#include "fpu_neon.h"

BLOCK_INLINE float32x4_t
operate_floats(enum netfc_op op, float32x4_t x, float32x4_t y)
{
	switch (op) {
	case NETFC_ADD:
		return vaddq_f32(x, y);
	case NETFC_SUB:
		return vsubq_f32(x, y);
	case NETFC_MUL:
		return vmulq_f32(x, y);
	case NETFC_DIV:
	default:
		return vdivq_f32(x, y);
	}
}

BLOCK_INLINE uint16x8_t
operate_fp16(enum netfc_op op, uint16x8_t x, uint16x8_t y)
{
	const float16x8_t a = vreinterpretq_f16_u16(x), b = vreinterpretq_f16_u16(y);
	const float32x4_t low =
		operate_floats(op, vcvt_f32_f16(vget_low_f16(a)), vcvt_f32_f16(vget_low_f16(b)));
	const float32x4_t high = operate_floats(op, vcvt_high_f32_f16(a), vcvt_high_f32_f16(b));

	return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

/* To the nearest, ties to even; a carry into the exponent is meant. */
BLOCK_INLINE uint32x4_t
round_bf16(float32x4_t number)
{
	const uint32x4_t bits = vreinterpretq_u32_f32(number);
	const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));

	return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
}

BLOCK_INLINE uint16x8_t
operate_bf16(enum netfc_op op, uint16x8_t x, uint16x8_t y)
{
	const uint16x8_t zero = vdupq_n_u16(0);
	const float32x4_t low = operate_floats(op, vreinterpretq_f32_u16(vzip1q_u16(zero, x)),
		vreinterpretq_f32_u16(vzip1q_u16(zero, y)));
	const float32x4_t high = operate_floats(op, vreinterpretq_f32_u16(vzip2q_u16(zero, x)),
		vreinterpretq_f32_u16(vzip2q_u16(zero, y)));

	return vuzp2q_u16(
		vreinterpretq_u16_u32(round_bf16(low)), vreinterpretq_u16_u32(round_bf16(high)));
}

BLOCK_INLINE void
compute_fp16(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	compute(kernel, operate_fp16, op, block, count);
}

BLOCK_INLINE void
compute_bf16(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	compute(kernel, operate_bf16, op, block, count);
}

BLOCK_FUNCTIONS(fp16, compute_fp16)
BLOCK_FUNCTIONS(bf16, compute_bf16)

bool
fpu_use_neon(struct fpu_kernel *kernel)
{
	return fpu_use(kernel, &fp16, &bf16);
}
