/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP16_NEON_H
#define FP16_NEON_H

/**
 * @file
 * Sums of fp16 in NEON, by the processor's own conversions, every one of which is exact or rounds
 * once.
 *
 * An fp16 is a multiple of 2^-24 below 2^16: so many units, less than 2^40 of them, are an integer
 * that a binary64 converts to without rounding. The sum of 64 workers has less than 2^46 units,
 * which a binary64 holds again. From there to fp16 by way of binary32: the first step rounds to
 * odd, so that the second one, to nearest, is the only one that counts (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
 *
 * A mean rounds once more, in binary64. It does not matter either: sum / workers is not a midpoint
 * of two neighbours in fp16, or it is more than 2^-47 of itself away from it, as the sum less
 * workers times the midpoint is a whole number of half units.
 */

#include "kernels/neon/values_neon.h"

/* Bits of a sum below the point. */
#define UNITS (-FP16_UNIT)

/* Two lanes more to their sums. */
INLINE void
add_units(int64_t *sums, float64x2_t numbers, bool first)
{
	int64x2_t units = vcvtq_n_s64_f64(numbers, UNITS);

	if (!first)
		units = vaddq_s64(units, vld1q_s64(sums));
	vst1q_s64(sums, units);
}

INLINE void
add_numbers(int64_t *sums, float32x4_t numbers, bool first)
{
	add_units(sums, vcvt_f64_f32(vget_low_f32(numbers)), first);
	add_units(sums + 2, vcvt_high_f64_f32(numbers), first);
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_numbers(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	uint16x8_t greatest = vdupq_n_u16(0);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const uint16x8_t group = load_group(values, count, i);
		const float16x8_t numbers = vreinterpretq_f16_u16(group);

		add_numbers(lanes->sums + i, vcvt_f32_f16(vget_low_f16(numbers)), first);
		add_numbers(lanes->sums + i + GROUP / 2, vcvt_high_f32_f16(numbers), first);
		greatest = vmaxq_u16(greatest, vandq_u16(group, vdupq_n_u16(0x7fff)));
	}
	return vmaxvq_u16(greatest) >= fp16.inf;
}

INLINE void
put_fp16_neon(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	keep_common(lanes, values, 2 * count, first);
	if (first)
		lanes->has_specials = false;
	if (put_numbers(lanes, values, count, first))
		note_specials(AGGREGATE_FP16, lanes, values, count, false);
}

/* Two sums, or means, as numbers. */
INLINE float64x2_t
numbers_of(const int64_t *sums, bool mean, float64x2_t workers)
{
	const float64x2_t numbers = vcvtq_n_f64_s64(vld1q_s64(sums), UNITS);

	return mean ? vdivq_f64(numbers, workers) : numbers;
}

INLINE float32x4_t
round_to_odd(const int64_t *sums, bool mean, float64x2_t workers)
{
	return vcvtx_high_f32_f64(vcvtx_f32_f64(numbers_of(sums, mean, workers)),
		numbers_of(sums + 2, mean, workers));
}

INLINE uint16x8_t
round_numbers(const int64_t *sums, bool mean, float64x2_t workers)
{
	const float32x4_t low = round_to_odd(sums, mean, workers);
	const float32x4_t high = round_to_odd(sums + GROUP / 2, mean, workers);

	return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

/* All bits where the sum is zero. */
INLINE uint16x8_t
if_zero(const int64_t *sums)
{
	const uint32x4_t low = vuzp1q_u32(vreinterpretq_u32_u64(vceqzq_s64(vld1q_s64(sums))),
		vreinterpretq_u32_u64(vceqzq_s64(vld1q_s64(sums + 2))));
	const uint32x4_t high = vuzp1q_u32(vreinterpretq_u32_u64(vceqzq_s64(vld1q_s64(sums + 4))),
		vreinterpretq_u32_u64(vceqzq_s64(vld1q_s64(sums + 6))));

	return vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

/* A zero sum is +0 unless all values are negative, and hence -0. */
INLINE uint8_t
round_fp16_neon(bool mean, const struct aggregate_lanes *lanes, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	const float64x2_t divisor = vdupq_n_f64(workers);
	const uint16x8_t sign = vdupq_n_u16((uint16_t)fp16.sign);
	uint16x8_t over = vdupq_n_u16(0), under = vdupq_n_u16(0);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const uint16x8_t zero = if_zero(lanes->sums + i);
		const uint16x8_t all_negative = load_words(lanes->common + 2 * (size_t)i);
		uint16x8_t z = round_numbers(lanes->sums + i, mean, divisor);
		const uint16x8_t magnitude = vbicq_u16(z, sign);

		over = vorrq_u16(over, vceqq_u16(magnitude, vdupq_n_u16((uint16_t)fp16.inf)));
		under = vorrq_u16(under, vbicq_u16(vceqzq_u16(magnitude), zero));
		z = vorrq_u16(z, vandq_u16(vandq_u16(all_negative, sign), zero));
		store_group(result, count, i, z);
	}
	return (uint8_t)((vmaxvq_u16(over) != 0 ? NETFC_OVERFLOW : 0) |
		(vmaxvq_u16(under) != 0 ? NETFC_UNDERFLOW : 0));
}

#endif /* FP16_NEON_H */
