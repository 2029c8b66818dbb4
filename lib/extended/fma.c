/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See extended_kernels.h: x * y + z by loops that compilers turn into vector code, for processors
 * without arithmetic that rounds down and up. Products are exact in double precision, and what a
 * sum of two loses can be computed (Knuth's two-sum): double's rounding and the next one to
 * binary32 make one, to odd. To be compiled without contraction of products and sums.
 */
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>

#include "extended_kernels.h"
#include "isa.h"
#include "lanes/blocks.h"
#include "lanes/float_formats.h"

/* ---- formats to binary32, exactly ---- */

INLINE float
from_fp16(uint16_t bits)
{
	const uint32_t magnitude = bits & INT16_MAX, sign = (uint32_t)(bits >> 15) << 31;
	const uint32_t rebias = (uint32_t)(FLOAT_BIAS - 15) << FLOAT_FRACTION;
	const uint32_t special = magnitude >= 0x7c00 ? rebias : 0;
	const uint32_t normal = (magnitude << 13) + rebias + special;
	const uint32_t subnormal = float_bits((float)(int32_t)magnitude * 0x1p-24f);

	return float_of(sign | (magnitude < 0x400 ? subnormal : normal));
}

INLINE float
from_bf16(uint16_t bits)
{
	return float_of((uint32_t)bits << 16);
}

/*
 * The magnitude's 15 bits are a run of equal bits, the regime, ended by a bit unlike them, then
 * exponent and fraction, as in a float.
 */
INLINE float
from_posit(uint16_t bits, const unsigned int es)
{
	const uint32_t sign = (uint32_t)(bits >> 15) << 31;
	const uint32_t magnitude = bits >> 15 ? (uint16_t)-bits : bits;
	const uint32_t top = magnitude << 17;
	const int32_t ones = (int32_t)mask_of(top >> 31);
	/* 16 bits, the last of which ends any run: as a float, 142 less the run is its exponent. */
	const int32_t run_end = (int32_t)((top ^ (uint32_t)ones) >> 16 | 1);
	const uint32_t place = float_bits((float)run_end) >> FLOAT_FRACTION;
	const uint32_t rest = top << (143 - place);
	const uint32_t regime = (place - 142) ^ (uint32_t)ones;
	const uint32_t value = (rest >> (32 - FLOAT_FRACTION - es)) +
		(regime << (FLOAT_FRACTION + es)) + ((uint32_t)FLOAT_BIAS << FLOAT_FRACTION);
	/* 0 of 0, and NaN of NaR. */
	const uint32_t special = magnitude == 0 ? 0 : FLOAT_INF | 1;

	return float_of(sign | (top == 0 ? special : value));
}

/* ---- formats: constants wherever these are used ---- */

INLINE float
decode(const enum netfc_format_id format, uint16_t word)
{
	switch (format) {
	case NETFC_FP16:
		return from_fp16(word);
	case NETFC_BF16:
		return from_bf16(word);
	default:
		return from_posit(word, format == NETFC_POSIT16 ? 1 : 2);
	}
}

INLINE uint16_t
encode(const enum netfc_format_id format, uint32_t sum)
{
	switch (format) {
	case NETFC_FP16:
		return to_fp16(sum);
	case NETFC_BF16:
		return to_bf16(sum);
	default:
		return to_posit(sum, format == NETFC_POSIT16 ? 1 : 2);
	}
}

/* ---- x * y + z ---- */

struct fused {
	float x[BLOCK_LANES], y[BLOCK_LANES], z[BLOCK_LANES];
	float sum[BLOCK_LANES];    /* x * y + z, rounded twice, and */
	int32_t lost[BLOCK_LANES]; /* 1 if more, -1 if less than that is exact */
	uint32_t odd[BLOCK_LANES];
	uint16_t result[BLOCK_LANES];
} __attribute__((aligned(64)));

INLINE void
decode_block(const enum netfc_format_id format, const struct block *restrict block,
	struct fused *restrict fused, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		fused->x[l] = decode(format, block->x[l]);
		fused->y[l] = decode(format, block->y[l]);
		fused->z[l] = decode(format, block->z[l]);
	}
}

INLINE void
add_products(struct fused *restrict fused, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		const double product = (double)fused->x[l] * (double)fused->y[l];
		const double addend = fused->z[l], sum = product + addend, part = sum - product;
		const double error = (product - (sum - part)) + (addend - part);
		const float rounded = (float)sum;
		/* Of infinities NaN: nothing lost. */
		const double lost = (sum - (double)rounded) + error;

		fused->sum[l] = rounded;
		fused->lost[l] = (int32_t)(lost > 0 ? 1.0 : lost < 0 ? -1.0 : 0.0);
	}
}

/* An even number that is not exact: its neighbour on the exact one's side. */
INLINE void
make_odd(struct fused *restrict fused, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		const uint32_t bits = float_bits(fused->sum[l]);
		const int32_t sign = (int32_t)mask_of(bits >> 31);
		const int32_t away_from_zero = (fused->lost[l] ^ sign) - sign;

		fused->odd[l] = bits + (bits & 1 ? 0 : (uint32_t)away_from_zero);
	}
}

/* ---- flags ---- */

/* Words alone, so that vectors have as many of them. */
INLINE uint16_t
mask_of_word(bool condition)
{
	return (uint16_t)-(uint16_t)condition;
}

INLINE uint16_t
magnitude_of(uint16_t bits)
{
	return bits & INT16_MAX;
}

INLINE void
set_exception_flags(const uint16_t inf, const struct fused *restrict fused,
	struct block *restrict block, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++) {
		const uint16_t x = magnitude_of(block->x[l]), y = magnitude_of(block->y[l]);
		const uint16_t z = magnitude_of(block->z[l]);
		const uint16_t result = magnitude_of(fused->result[l]);
		const uint16_t finite =
			mask_of_word(x < inf) & mask_of_word(y < inf) & mask_of_word(z < inf);
		const uint16_t nan =
			mask_of_word(x > inf) | mask_of_word(y > inf) | mask_of_word(z > inf);
		const uint16_t zero = mask_of_word((fused->odd[l] & INT32_MAX) == 0);

		block->flags[l] = (mask_of_word(result > inf) & ~nan & NETFC_INVALID) |
			(mask_of_word(result == inf) & finite & NETFC_OVERFLOW) |
			(mask_of_word(result == 0) & ~zero & NETFC_UNDERFLOW);
	}
}

/* ---- packets ---- */

/* `format` is a constant wherever this is used. */
INLINE void
compute(const struct vector_kernel *kernel, struct block *block, unsigned int count,
	const enum netfc_format_id format)
{
	const unsigned int lanes = block_steps(count);
	struct fused fused;

	/* Lanes after the last: nothing that takes longer. */
	for (unsigned int l = count; l < lanes; l++)
		block->x[l] = block->y[l] = block->z[l] = 0;
	decode_block(format, block, &fused, lanes);
	add_products(&fused, lanes);
	make_odd(&fused, lanes);
	for (unsigned int l = 0; l < lanes; l++)
		fused.result[l] = encode(format, fused.odd[l]);
	/* No sum of posits raises a flag. */
	if (format == NETFC_FP16 || format == NETFC_BF16)
		set_exception_flags(
			((const struct extended_kernel *)kernel)->inf, &fused, block, lanes);
	else
		memset(block->flags, 0, sizeof(block->flags));
	memcpy(block->z, fused.result, sizeof(block->z));
}

#define FMA(name, format)                                                              \
	INLINE void name##_block(const struct vector_kernel *kernel, enum netfc_op op, \
		struct block *block, unsigned int count)                               \
	{                                                                              \
		(void)op;                                                              \
		compute(kernel, block, count, format);                                 \
	}                                                                              \
	static void name(const struct vector_kernel *kernel, unsigned int op,          \
		struct vector_packet *packets, unsigned int count)                     \
	{                                                                              \
		block_run_packets(name##_block, kernel, op, packets, count, true);     \
	}

FMA_USE(FMA)
