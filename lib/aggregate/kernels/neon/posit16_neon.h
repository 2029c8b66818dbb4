/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef POSIT16_NEON_H
#define POSIT16_NEON_H

/**
 * @file
 * Sums of posit16 in NEON: number.h once more, eight lanes at a time, and rounding by way of
 * binary64, whose exponent is what a posit spells out.
 *
 * A sum is an integer of units of 2^-28 below 2^62. From 2^47 of them on, its lowest 15 bits are
 * put into one that tells whether any is set: neighbouring posits, times the number of workers,
 * are much further apart there. That leaves 47 bits, which a binary64 holds, and a quotient by up
 * to AGGREGATE_MAX_WORKERS is not taken for a midpoint of two posits that it is only near to, as
 * in fp16_neon.h.
 */

#include "kernels/neon/values_neon.h"

#define POSIT_FOLDED 15
#define POSIT_MOST 28 /* the greatest exponent; the least is its negative */

/* Values of eight lanes: significand * 2^places units, not rounded if places are negative. */
struct posits {
	int16x8_t significand, places;
};

INLINE struct posits
unpack_posits(uint16x8_t group)
{
	const int16x8_t word = vreinterpretq_s16_u16(group), negative = vshrq_n_s16(word, 15);
	const int16x8_t x = vshlq_n_s16(vabsq_s16(word), 1); /* begins with the regime */
	const int16x8_t more = vclsq_s16(x); /* bits of the regime after the first */
	const int16x8_t regime = veorq_s16(more, vreinterpretq_s16_u16(vcgezq_s16(x)));
	const int16x8_t rest = vshlq_s16(x, vaddq_s16(more, vdupq_n_s16(2)));
	const int16x8_t exponent = vsliq_n_s16(
		vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_s16(rest), 15)), regime, 1);
	/* The hidden bit takes the place of the exponent's bit; fractions have 12 bits. */
	const int16x8_t fraction = vorrq_s16(rest, vdupq_n_s16(INT16_MIN));
	const int16x8_t significand =
		vandq_s16(vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_s16(fraction), 3)),
			vreinterpretq_s16_u16(vtstq_s16(x, x)));

	return (struct posits){
		vsubq_s16(veorq_s16(significand, negative), negative),
		vaddq_s16(exponent, vdupq_n_s16(-12 - POSIT16_UNIT)),
	};
}

INLINE void
add_two(int64_t *sums, int32x2_t significand, int32x2_t places, bool first)
{
	int64x2_t units = vshlq_s64(vmovl_s32(significand), vmovl_s32(places));

	if (!first)
		units = vaddq_s64(units, vld1q_s64(sums));
	vst1q_s64(sums, units);
}

INLINE void
add_four(int64_t *sums, int16x4_t significand, int16x4_t places, bool first)
{
	const int32x4_t wide = vmovl_s16(significand), wide_places = vmovl_s16(places);

	add_two(sums, vget_low_s32(wide), vget_low_s32(wide_places), first);
	add_two(sums + 2, vget_high_s32(wide), vget_high_s32(wide_places), first);
}

/* Returns whether there is NaR; what it adds means nothing. */
INLINE bool
put_posits(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	uint16x8_t nar = vdupq_n_u16(0);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const uint16x8_t group = load_group(values, count, i);
		const struct posits posits = unpack_posits(group);
		int64_t *sums = lanes->sums + i;

		add_four(
			sums, vget_low_s16(posits.significand), vget_low_s16(posits.places), first);
		add_four(sums + 4, vget_high_s16(posits.significand), vget_high_s16(posits.places),
			first);
		nar = vorrq_u16(nar, vceqq_u16(group, vdupq_n_u16(POSIT_NAR)));
	}
	return vmaxvq_u16(nar) != 0;
}

INLINE void
put_posit16_neon(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	if (first)
		lanes->has_specials = false;
	if (put_posits(lanes, values, count, first))
		note_specials(AGGREGATE_POSIT16, lanes, values, count, false);
}

/* Two sums, or means, as numbers without their signs. */
INLINE uint32x4_t
magnitudes_of(int64x2_t sums, bool mean, float64x2_t workers)
{
	const uint64x2_t low_bits = vdupq_n_u64((1 << POSIT_FOLDED) - 1);
	const uint64x2_t magnitude = vreinterpretq_u64_s64(vabsq_s64(sums));
	/* All of the lowest bits set and one added: it goes on from there if any was set. */
	const uint64x2_t folded =
		vbicq_u64(vorrq_u64(magnitude, vaddq_u64(vandq_u64(magnitude, low_bits), low_bits)),
			low_bits);
	const uint64x2_t great =
		vcgtq_u64(magnitude, vdupq_n_u64(UINT64_C(1) << (32 + POSIT_FOLDED)));
	const float64x2_t number =
		vcvtq_n_f64_u64(vbslq_u64(great, folded, magnitude), -POSIT16_UNIT);

	return vreinterpretq_u32_f64(mean ? vdivq_f64(number, workers) : number);
}

/* Four posits' magnitudes, of the upper and lower words of a binary64; 0 for 0. */
INLINE uint32x4_t
encode_posits(uint32x4_t upper, uint32x4_t lower)
{
	const uint32x4_t below = vdupq_n_u32(31);
	/* Fractions have 12 bits. Here are 15, the lowest of which tells the rest. */
	const uint32x4_t more = vorrq_u32(lower, vandq_u32(upper, below));
	const uint32x4_t bit = vandq_u32(vtstq_u32(more, more), vdupq_n_u32(32));
	const uint32x4_t fraction = vorrq_u32(vbicq_u32(upper, below), bit);
	const int32x4_t biased = vreinterpretq_s32_u32(vshrq_n_u32(upper, 20));
	const int32x4_t exponent =
		vminq_s32(vmaxq_s32(vsubq_s32(biased, vdupq_n_s32(1023)), vdupq_n_s32(-POSIT_MOST)),
			vdupq_n_s32(POSIT_MOST));
	const int32x4_t regime = vshrq_n_s32(exponent, 1), negative = vshrq_n_s32(regime, 31);
	/* The regime's last two bits, the exponent's bit, the fraction. */
	const int32x4_t start = vaddq_s32(vdupq_n_s32(2), negative);
	const int32x4_t bits = vsliq_n_s32(
		vsliq_n_s32(vreinterpretq_s32_u32(vshlq_n_u32(fraction, 9)), exponent, 29), start,
		30);
	/* Its first bit as often as it takes; no bit is lost. */
	const uint32x4_t shifted =
		vreinterpretq_u32_s32(vshlq_s32(bits, vnegq_s32(veorq_s32(regime, negative))));
	const uint32x4_t odd = vandq_u32(vshrq_n_u32(shifted, 17), vdupq_n_u32(1));
	const uint32x4_t rounded =
		vshrq_n_u32(vaddq_u32(vaddq_u32(shifted, vdupq_n_u32(0xffff)), odd), 17);

	return vandq_u32(rounded, vtstq_u32(upper, upper));
}

INLINE uint32x4_t
round_four(const int64_t *sums, bool mean, float64x2_t workers)
{
	const uint32x4_t low = magnitudes_of(vld1q_s64(sums), mean, workers);
	const uint32x4_t high = magnitudes_of(vld1q_s64(sums + 2), mean, workers);

	return encode_posits(vuzp2q_u32(low, high), vuzp1q_u32(low, high));
}

/* All bits where sums are negative. */
INLINE int16x8_t
if_negative(const int64_t *sums)
{
	const int32x4_t low = vuzp2q_s32(
		vreinterpretq_s32_s64(vld1q_s64(sums)), vreinterpretq_s32_s64(vld1q_s64(sums + 2)));
	const int32x4_t high = vuzp2q_s32(vreinterpretq_s32_s64(vld1q_s64(sums + 4)),
		vreinterpretq_s32_s64(vld1q_s64(sums + 6)));

	return vshrq_n_s16(vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)), 15);
}

INLINE void
round_posit16_neon(bool mean, const struct aggregate_lanes *lanes, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	const float64x2_t divisor = vdupq_n_f64(workers);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const int64_t *sums = lanes->sums + i;
		const int16x8_t negative = if_negative(sums);
		const int16x8_t magnitude = vreinterpretq_s16_u16(
			vuzp1q_u16(vreinterpretq_u16_u32(round_four(sums, mean, divisor)),
				vreinterpretq_u16_u32(round_four(sums + 4, mean, divisor))));

		store_group(result, count, i,
			vreinterpretq_u16_s16(vsubq_s16(veorq_s16(magnitude, negative), negative)));
	}
}

#endif /* POSIT16_NEON_H */
