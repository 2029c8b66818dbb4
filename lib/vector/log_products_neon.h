/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_PRODUCTS_NEON_H
#define VECTOR_LOG_PRODUCTS_NEON_H

/**
 * @file
 * Products and quotients by logarithms: a block's logarithms, then the results, as the tables of
 * both do not fit into the registers together.
 */

#include "log_words_neon.h"

/* Products and quotients with a zero, an infinity or a NaN. */
static __attribute__((noinline)) void
special_products(
	const struct log_registers *kernel, struct block *block, bool divide, unsigned int l)
{
	const uint16x8_t inf = vdupq_n_u16(kernel->inf), none = vdupq_n_u16(0);
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t mx = magnitude_of(x), my = magnitude_of(y);
	const uint16x8_t zero_x = vceqzq_u16(mx), zero_y = vceqzq_u16(my);
	const uint16x8_t inf_x = vceqq_u16(mx, inf), inf_y = vceqq_u16(my, inf);
	const uint16x8_t nan = vcgtq_u16(vmaxq_u16(mx, my), inf);
	const uint16x8_t infinite = vorrq_u16(inf_x, divide ? zero_y : inf_y);
	const uint16x8_t zero = vorrq_u16(zero_x, divide ? inf_y : zero_y);
	const uint16x8_t special = vorrq_u16(vorrq_u16(infinite, zero), nan);
	const uint16x8_t invalid = vbicq_u16(vandq_u16(infinite, zero), nan);
	const uint16x8_t by_zero =
		divide ? vbicq_u16(zero_y, vorrq_u16(vorrq_u16(inf_x, zero_x), nan)) : none;
	const uint16x8_t signs = difference_of_signs(x, y);
	uint16x8_t z = vld1q_u16(block->z + l), flags = vld1q_u16(block->flags + l);

	z = vbslq_u16(special, signs, z);
	z = vorrq_u16(z, vandq_u16(infinite, inf));
	z = vbslq_u16(vorrq_u16(nan, invalid), vdupq_n_u16(kernel->nan), z);
	flags = vbicq_u16(flags, special);
	flags = vorrq_u16(flags, vandq_u16(invalid, vdupq_n_u16((uint16_t)NETFC_INVALID)));
	flags = vorrq_u16(flags, vandq_u16(by_zero, vdupq_n_u16((uint16_t)NETFC_DIVBYZERO)));
	vst1q_u16(block->z + l, z);
	vst1q_u16(block->flags + l, flags);
}

BLOCK_INLINE int16x8_t
join_logs(uint16x8_t x, uint16x8_t y, bool divide)
{
	const int16x8_t a = vreinterpretq_s16_u16(x), b = vreinterpretq_s16_u16(y);

	return divide ? vqsubq_s16(a, b) : vqaddq_s16(a, b);
}

/* Greater than that of any finite number but zero, of a zero, an infinity or a NaN. */
BLOCK_INLINE uint16x8_t
less_one(uint16x8_t magnitude)
{
	return vsubq_u16(magnitude, vdupq_n_u16(1));
}

/* Lanes behind the last are 1, which is nothing special. */
BLOCK_INLINE void
fill_up(struct block *block, unsigned int count)
{
	const uint16x8_t one = vdupq_n_u16(0x3c00);

	for (unsigned int l = 0; l < BLOCK_STEP; l += LANES) {
		vst1q_u16(block->x + count + l, one);
		vst1q_u16(block->y + count + l, one);
	}
}

/*
 * Operands to the log words of their products or quotients, and to signs of z; the lines stay in
 * registers. Returns whether some are special.
 */
BLOCK_INLINE bool
join(const struct log_registers *kernel, struct block *block, int16_t *log, bool divide,
	unsigned int lanes)
{
	const struct lines lines = load_lines(kernel);
	uint16x8_t greatest = vdupq_n_u16(0);

	for (unsigned int l = 0; l < lanes; l += GROUP) {
		const struct group x = load_group(block->x + l), y = load_group(block->y + l);
		const struct group mx = {magnitude_of(x.low), magnitude_of(x.high)};
		const struct group my = {magnitude_of(y.low), magnitude_of(y.high)};
		const struct group log_x = log_words(&lines, mx), log_y = log_words(&lines, my);

		vst1q_s16(log + l, join_logs(log_x.low, log_y.low, divide));
		vst1q_s16(log + l + LANES, join_logs(log_x.high, log_y.high, divide));
		vst1q_u16(block->z + l, difference_of_signs(x.low, y.low));
		vst1q_u16(block->z + l + LANES, difference_of_signs(x.high, y.high));
		greatest = vmaxq_u16(greatest, vmaxq_u16(less_one(mx.low), less_one(my.low)));
		greatest = vmaxq_u16(greatest, vmaxq_u16(less_one(mx.high), less_one(my.high)));
	}
	return vmaxvq_u16(greatest) >= kernel->inf - 1;
}

/* Magnitudes of eight products or quotients to z. */
BLOCK_INLINE void
store_products(struct block *block, unsigned int l, uint16x8_t magnitude, uint16x8_t inf)
{
	vst1q_u16(block->z + l, vorrq_u16(magnitude, vld1q_u16(block->z + l)));
	vst1q_u16(block->flags + l, flags_of(magnitude, inf));
}

BLOCK_INLINE void
compute_products(
	const struct log_registers *kernel, struct block *block, bool divide, unsigned int count)
{
	const unsigned int lanes = block_steps(count);
	const uint16x8_t inf = vdupq_n_u16(kernel->inf);
	int16_t log[BLOCK_LANES];
	struct powers powers;
	bool special;

	fill_up(block, count);
	special = join(kernel, block, log, divide, lanes);
	powers = load_powers(kernel);
	for (unsigned int l = 0; l < lanes; l += GROUP) {
		struct group magnitude =
			exp_words(&powers, vld1q_s16(log + l), vld1q_s16(log + l + LANES));

		store_products(block, l, magnitude.low, inf);
		store_products(block, l + LANES, magnitude.high, inf);
	}
	for (unsigned int l = 0; special && l < lanes; l += LANES)
		special_products(kernel, block, divide, l);
}

#endif /* VECTOR_LOG_PRODUCTS_NEON_H */
