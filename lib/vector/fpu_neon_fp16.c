/* SPDX-License-Identifier: BSD-3-Clause */
/* See fpu.h: binary16 itself, eight lanes to a register, where the processor computes in it. */
#include "fpu_neon.h"

BLOCK_INLINE uint16x8_t
operate_fp16(enum netfc_op op, uint16x8_t x, uint16x8_t y)
{
	const float16x8_t a = vreinterpretq_f16_u16(x), b = vreinterpretq_f16_u16(y);

	switch (op) {
	case NETFC_ADD:
		return vreinterpretq_u16_f16(vaddq_f16(a, b));
	case NETFC_SUB:
		return vreinterpretq_u16_f16(vsubq_f16(a, b));
	case NETFC_MUL:
		return vreinterpretq_u16_f16(vmulq_f16(a, b));
	case NETFC_DIV:
	default:
		return vreinterpretq_u16_f16(vdivq_f16(a, b));
	}
}

BLOCK_INLINE void
compute_fp16(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	compute(kernel, operate_fp16, op, block, count);
}

BLOCK_FUNCTIONS(fp16, compute_fp16)

bool
fpu_use_neon_fp16(struct fpu_kernel *kernel)
{
	return fpu_use(kernel, &fp16, NULL);
}
