/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_SUMS_NEON_H
#define VECTOR_LOG_SUMS_NEON_H

/**
 * @file
 * Sums and differences by logarithms: a block's operands to indices into mi, which are all looked
 * up before the first result is made.
 */

#include "log_words_neon.h"

/* What a sum needs besides its operands. */
struct sums {
	uint16_t index[BLOCK_LANES]; /* into mi */
	int16_t mi[BLOCK_LANES];
	int16_t log[BLOCK_LANES];         /* of the greater operand */
	uint16_t is_greater[BLOCK_LANES]; /* z is the greater operand */
};

/* Eight operands to indices into mi. */
BLOCK_INLINE void
store_indices(const struct log_registers *kernel, const struct block *block, struct sums *sums,
	unsigned int l, uint16x8_t log_greater, uint16x8_t log_lesser)
{
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t lesser = vminq_u16(magnitude_of(x), magnitude_of(y));
	const uint16x8_t distance = vsubq_u16(log_greater, log_lesser);
	const uint16x8_t half =
		vandq_u16(if_signs_differ(x, y), vdupq_n_u16((uint16_t)(kernel->last + 1)));

	vst1q_u16(sums->index + l, vaddq_u16(vminq_u16(distance, vdupq_n_u16(kernel->last)), half));
	vst1q_s16(sums->log + l, vreinterpretq_s16_u16(log_greater));
	vst1q_u16(sums->is_greater + l,
		vorrq_u16(vcgtq_u16(distance, vdupq_n_u16(kernel->guard)), vceqzq_u16(lesser)));
}

/* Operands to indices into mi; the tables of lines stay in registers. */
BLOCK_INLINE void
compare(const struct log_registers *kernel, struct block *block, struct sums *sums, bool subtract,
	unsigned int lanes)
{
	const struct lines lines = load_lines(kernel);

	for (unsigned int l = 0; l < lanes; l += GROUP) {
		const struct group x = load_group(block->x + l);
		struct group y = load_group(block->y + l), greater, lesser;

		if (subtract) {
			y.low = veorq_u16(y.low, vdupq_n_u16(0x8000));
			y.high = veorq_u16(y.high, vdupq_n_u16(0x8000));
			vst1q_u16(block->y + l, y.low);
			vst1q_u16(block->y + l + LANES, y.high);
		}
		greater.low = vmaxq_u16(magnitude_of(x.low), magnitude_of(y.low));
		greater.high = vmaxq_u16(magnitude_of(x.high), magnitude_of(y.high));
		lesser.low = vminq_u16(magnitude_of(x.low), magnitude_of(y.low));
		lesser.high = vminq_u16(magnitude_of(x.high), magnitude_of(y.high));
		greater = log_words(&lines, greater);
		lesser = log_words(&lines, lesser);
		store_indices(kernel, block, sums, l, greater.low, lesser.low);
		store_indices(kernel, block, sums, l + LANES, greater.high, lesser.high);
	}
}

BLOCK_INLINE void
look_up_mi(const struct log_registers *kernel, struct sums *sums, unsigned int lanes)
{
	for (unsigned int l = 0; l < lanes; l += LANES) {
#pragma GCC unroll 8
		for (unsigned int i = l; i < l + LANES; i++)
			sums->mi[i] = kernel->mi[sums->index[i]];
	}
}

/* Sums with an infinity or a NaN, which the greater operand is. */
static __attribute__((noinline)) void
special_sums(const struct log_registers *kernel, struct block *block, unsigned int l)
{
	const uint16x8_t inf = vdupq_n_u16(kernel->inf);
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t mx = magnitude_of(x), my = magnitude_of(y);
	const uint16x8_t greater = vmaxq_u16(mx, my), special = vcgeq_u16(greater, inf);
	const uint16x8_t nan = vcgtq_u16(greater, inf);
	const uint16x8_t invalid =
		vandq_u16(vandq_u16(vceqq_u16(mx, inf), vceqq_u16(my, inf)), if_signs_differ(x, y));
	uint16x8_t z = vld1q_u16(block->z + l), flags = vld1q_u16(block->flags + l);

	z = vbslq_u16(special, vbslq_u16(vcgeq_u16(mx, my), x, y), z);
	z = vbslq_u16(vorrq_u16(nan, invalid), vdupq_n_u16(kernel->nan), z);
	flags = vorrq_u16(vbicq_u16(flags, special),
		vandq_u16(invalid, vdupq_n_u16((uint16_t)NETFC_INVALID)));
	vst1q_u16(block->z + l, z);
	vst1q_u16(block->flags + l, flags);
}

/* Magnitudes of eight sums to z. */
BLOCK_INLINE void
select_sums(const struct log_registers *kernel, struct block *block, const struct sums *sums,
	unsigned int l, uint16x8_t magnitude, uint16x8_t inf)
{
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t mx = magnitude_of(x), my = magnitude_of(y);
	const uint16x8_t greater = vbslq_u16(vcgeq_u16(mx, my), x, y);
	const uint16x8_t is_greater = vld1q_u16(sums->is_greater + l);
	const uint16x8_t is_zero = vandq_u16(vceqq_u16(mx, my), if_signs_differ(x, y));
	const uint16x8_t z = vbslq_u16(is_greater, greater, with_sign(magnitude, greater));

	vst1q_u16(block->z + l, vbicq_u16(z, is_zero));
	vst1q_u16(block->flags + l,
		vbicq_u16(flags_of(magnitude, inf), vorrq_u16(is_greater, is_zero)));
	if (vmaxvq_u16(vmaxq_u16(mx, my)) >= kernel->inf)
		special_sums(kernel, block, l);
}

BLOCK_INLINE int16x8_t
add_mi(const struct sums *sums, unsigned int l)
{
	return vqaddq_s16(vld1q_s16(sums->log + l), vld1q_s16(sums->mi + l));
}

BLOCK_INLINE void
compute_sums(
	const struct log_registers *kernel, struct block *block, bool subtract, unsigned int count)
{
	const unsigned int lanes = block_steps(count);
	const uint16x8_t inf = vdupq_n_u16(kernel->inf);
	struct powers powers;
	struct sums sums;

	compare(kernel, block, &sums, subtract, lanes);
	look_up_mi(kernel, &sums, lanes);
	powers = load_powers(kernel);
	for (unsigned int l = 0; l < lanes; l += GROUP) {
		struct group magnitude =
			exp_words(&powers, add_mi(&sums, l), add_mi(&sums, l + LANES));

		select_sums(kernel, block, &sums, l, magnitude.low, inf);
		select_sums(kernel, block, &sums, l + LANES, magnitude.high, inf);
	}
}

#endif /* VECTOR_LOG_SUMS_NEON_H */
