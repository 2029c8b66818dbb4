/* SPDX-License-Identifier: BSD-3-Clause */
/* See fpu.h. */
#include <immintrin.h>

#include "blocks.h"
#include "fpu.h"

#define RESTRICT __restrict__

/* Lanes of a register of floats; the steps of blocks are multiples of it. */
#define FLOATS 8

struct floats {
	float x[BLOCK_LANES], y[BLOCK_LANES], z[BLOCK_LANES];
} __attribute__((aligned(32)));

BLOCK_INLINE void
from_fp16(const uint16_t *words, float *floats, unsigned int count)
{
	for (unsigned int l = 0; l < count; l += FLOATS)
		_mm256_store_ps(floats + l,
			_mm256_cvtph_ps(
				_mm_load_si128((const __m128i *)(const void *)(words + l))));
}

BLOCK_INLINE void
to_fp16(const float *floats, uint16_t *words, unsigned int count)
{
	for (unsigned int l = 0; l < count; l += FLOATS)
		_mm_store_si128((__m128i *)(void *)(words + l),
			_mm256_cvtps_ph(_mm256_load_ps(floats + l),
				_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

BLOCK_INLINE void
from_bf16(const uint16_t *RESTRICT words, float *RESTRICT floats, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		uint32_t bits = (uint32_t)words[l] << 16;

		memcpy(&floats[l], &bits, sizeof(bits));
	}
}

/* To the nearest, ties to even; a carry into the exponent is meant. */
BLOCK_INLINE void
to_bf16(const float *RESTRICT floats, uint16_t *RESTRICT words, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		uint32_t bits;

		memcpy(&bits, &floats[l], sizeof(bits));
		words[l] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
}

BLOCK_INLINE void
operate(enum netfc_op op, struct floats *f, unsigned int count)
{
	const float *RESTRICT x = f->x, *RESTRICT y = f->y;
	float *RESTRICT z = f->z;

	switch (op) {
	case NETFC_ADD:
		for (unsigned int l = 0; l < count; l++)
			z[l] = x[l] + y[l];
		break;
	case NETFC_SUB:
		for (unsigned int l = 0; l < count; l++)
			z[l] = x[l] - y[l];
		break;
	case NETFC_MUL:
		for (unsigned int l = 0; l < count; l++)
			z[l] = x[l] * y[l];
		break;
	case NETFC_DIV:
		for (unsigned int l = 0; l < count; l++)
			z[l] = x[l] / y[l];
		break;
	}
}

/* All bits, or none. */
BLOCK_INLINE uint16_t
mask_of(bool condition)
{
	return (uint16_t)-(uint16_t)condition;
}

/* The format's NaN for any, and where z is no finite number or zero: why. */
BLOCK_INLINE void
set_exception_flags(const struct fpu_kernel *kernel, struct block *block, bool multiply,
	bool divide, unsigned int count)
{
	const uint16_t *RESTRICT x = block->x, *RESTRICT y = block->y;
	const uint16_t inf = kernel->inf, nan = kernel->nan;
	uint16_t *RESTRICT z = block->z, *RESTRICT flags = block->flags;

	for (unsigned int l = 0; l < count; l++) {
		uint16_t mx = x[l] & 0x7fff, my = y[l] & 0x7fff, mz = z[l] & 0x7fff;
		uint16_t nan_in = mask_of(mx > inf) | mask_of(my > inf);
		uint16_t inf_in = mask_of(mx == inf) | mask_of(my == inf);
		uint16_t zero_x = mask_of(mx == 0), zero_y = mask_of(my == 0);
		uint16_t nan_z = mask_of(mz > inf), inf_z = mask_of(mz == inf);
		uint16_t by_zero = divide ? zero_y & ~(zero_x | inf_in | nan_in) : 0;
		uint16_t under = multiply ? mask_of(mz == 0) & ~(zero_x | zero_y)
			: divide          ? mask_of(mz == 0) & ~(zero_x | inf_in)
					  : 0;

		z[l] = (uint16_t)((nan & nan_z) | (z[l] & ~nan_z));
		flags[l] =
			(uint16_t)((nan_z & ~nan_in & NETFC_INVALID) | (by_zero & NETFC_DIVBYZERO) |
				(inf_z & ~(inf_in | (divide ? zero_y : 0)) & NETFC_OVERFLOW) |
				(under & NETFC_UNDERFLOW));
	}
}

BLOCK_INLINE void
compute(const struct vector_kernel *kernel, enum netfc_op op, bool bf16, struct block *block,
	unsigned int count)
{
	unsigned int rounded = block_steps(count);
	struct floats floats;

	memset(block->x + count, 0, (rounded - count) * sizeof(block->x[0]));
	memset(block->y + count, 0, (rounded - count) * sizeof(block->y[0]));
	(bf16 ? from_bf16 : from_fp16)(block->x, floats.x, rounded);
	(bf16 ? from_bf16 : from_fp16)(block->y, floats.y, rounded);
	operate(op, &floats, rounded);
	(bf16 ? to_bf16 : to_fp16)(floats.z, block->z, rounded);
	if (op == NETFC_MUL)
		set_exception_flags((const struct fpu_kernel *)kernel, block, true, false, rounded);
	else
		set_exception_flags(
			(const struct fpu_kernel *)kernel, block, false, op == NETFC_DIV, rounded);
}

BLOCK_INLINE void
compute_fp16(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	compute(kernel, op, false, block, count);
}

BLOCK_INLINE void
compute_bf16(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	compute(kernel, op, true, block, count);
}

BLOCK_FUNCTIONS(fp16, compute_fp16)
BLOCK_FUNCTIONS(bf16, compute_bf16)

bool
fpu_use_avx2(struct fpu_kernel *kernel)
{
	return fpu_use(kernel, &fp16, &bf16);
}
