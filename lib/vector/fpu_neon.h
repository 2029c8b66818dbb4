/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FPU_NEON_H
#define VECTOR_FPU_NEON_H

/**
 * @file
 * What kernels of an FPU share on arm64: eight lanes to a register of 16-bit words, results of
 * which every exception can be told by looking at operands and result.
 *
 * Rounding to nearest, no flushing of subnormals, NaNs kept: FPCR is 0 when a thread starts.
 */

#include <arm_neon.h>

#define BLOCK_NEON
#include "blocks.h"
#include "fpu.h"

#define LANES 8

/* Lanes that are asked together whether one of them needs to be explained. */
#define ASKED BLOCK_STEP

_Static_assert(ASKED % LANES == 0, "whole registers");

/* An operation on eight lanes. */
typedef uint16x8_t (*operate_fn)(enum netfc_op op, uint16x8_t x, uint16x8_t y);

BLOCK_INLINE uint16x8_t
magnitude_of(uint16x8_t words)
{
	return vandq_u16(words, vdupq_n_u16(0x7fff));
}

/* Lanes where z is an infinity or a NaN, or a zero that may have been a number once. */
BLOCK_INLINE uint16x8_t
if_odd(uint16x8_t z, uint16_t inf, bool multiply)
{
	const uint16x8_t one = vdupq_n_u16(1), magnitude = magnitude_of(z);

	/* Zero less one is greater than anything. */
	return multiply ? vcgeq_u16(vsubq_u16(magnitude, one), vdupq_n_u16((uint16_t)(inf - 1)))
			: vcgeq_u16(magnitude, vdupq_n_u16(inf));
}

/* The format's NaN for any, and where z is no finite number or zero: why. */
BLOCK_INLINE void
set_exception_flags(const struct fpu_kernel *kernel, struct block *block, bool multiply,
	bool divide, unsigned int l)
{
	const uint16x8_t inf = vdupq_n_u16(kernel->inf), nan = vdupq_n_u16(kernel->nan);
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t z = vld1q_u16(block->z + l);
	const uint16x8_t mx = magnitude_of(x), my = magnitude_of(y), mz = magnitude_of(z);
	const uint16x8_t nan_in = vcgtq_u16(vmaxq_u16(mx, my), inf);
	const uint16x8_t inf_in = vorrq_u16(vceqq_u16(mx, inf), vceqq_u16(my, inf));
	const uint16x8_t zero_x = vceqzq_u16(mx), zero_y = vceqzq_u16(my);
	const uint16x8_t nan_z = vcgtq_u16(mz, inf), inf_z = vceqq_u16(mz, inf);
	const uint16x8_t zero_z = vceqzq_u16(mz), none = vdupq_n_u16(0);
	const uint16x8_t by_zero =
		divide ? vbicq_u16(zero_y, vorrq_u16(zero_x, vorrq_u16(inf_in, nan_in))) : none;
	const uint16x8_t over = vbicq_u16(inf_z, divide ? vorrq_u16(inf_in, zero_y) : inf_in);
	const uint16x8_t under = multiply ? vbicq_u16(zero_z, vorrq_u16(zero_x, zero_y))
		: divide                  ? vbicq_u16(zero_z, vorrq_u16(zero_x, inf_in))
					  : none;
	uint16x8_t flags =
		vandq_u16(vbicq_u16(nan_z, nan_in), vdupq_n_u16((uint16_t)NETFC_INVALID));

	flags = vorrq_u16(flags, vandq_u16(by_zero, vdupq_n_u16((uint16_t)NETFC_DIVBYZERO)));
	flags = vorrq_u16(flags, vandq_u16(over, vdupq_n_u16((uint16_t)NETFC_OVERFLOW)));
	flags = vorrq_u16(flags, vandq_u16(under, vdupq_n_u16((uint16_t)NETFC_UNDERFLOW)));
	vst1q_u16(block->z + l, vbslq_u16(nan_z, nan, z));
	vst1q_u16(block->flags + l, flags);
}

/* An operation, a constant, on all lanes of a block. */
BLOCK_INLINE void
compute_op(const struct fpu_kernel *kernel, operate_fn operate, enum netfc_op op,
	struct block *block, unsigned int count)
{
	const bool multiply = op == NETFC_MUL, divide = op == NETFC_DIV;

	for (unsigned int first = 0; first < count; first += ASKED) {
		uint16x8_t odd = vdupq_n_u16(0);

		for (unsigned int l = first; l < first + ASKED; l += LANES) {
			uint16x8_t z =
				operate(op, vld1q_u16(block->x + l), vld1q_u16(block->y + l));

			odd = vorrq_u16(odd, if_odd(z, kernel->inf, multiply || divide));
			vst1q_u16(block->z + l, z);
			vst1q_u16(block->flags + l, vdupq_n_u16(0));
		}
		if (vmaxvq_u16(odd) == 0)
			continue;
		for (unsigned int l = first; l < first + ASKED; l += LANES)
			set_exception_flags(kernel, block, multiply, divide, l);
	}
}

BLOCK_INLINE void
compute(const struct vector_kernel *kernel, operate_fn operate, enum netfc_op op,
	struct block *block, unsigned int count)
{
	const struct fpu_kernel *fpu = (const struct fpu_kernel *)kernel;

	switch (op) {
	case NETFC_ADD:
		compute_op(fpu, operate, NETFC_ADD, block, count);
		break;
	case NETFC_SUB:
		compute_op(fpu, operate, NETFC_SUB, block, count);
		break;
	case NETFC_MUL:
		compute_op(fpu, operate, NETFC_MUL, block, count);
		break;
	case NETFC_DIV:
		compute_op(fpu, operate, NETFC_DIV, block, count);
		break;
	}
}

#endif /* VECTOR_FPU_NEON_H */
