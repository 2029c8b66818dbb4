/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BINS_NEON_H
#define BINS_NEON_H

/**
 * @file
 * bf16 and fp32 in NEON: values into bins. Values of similar size have one bin: as long as that is
 * so in a group, its other bins are neither cleared nor rounded, nor is their memory touched. Zeros
 * go with any bin.
 */

#include "values_neon.h"

#define EXPONENTS 32 /* of a bin */

/*
 * Half a group. A value is -significand * -2^(exponent % 32) in bin exponent / 32: multiplied and
 * added at once, and 2^31 would not fit.
 */
struct half {
	int32x4_t minus_significand;
	int32x4_t minus_power;
	uint32x4_t exponent;
	uint32x4_t nonzero; /* all bits, or none */
};

INLINE struct half
unpack_half(uint32x4_t fields)
{
	const uint32x4_t one = vdupq_n_u32(1), twice = vshlq_n_u32(fields, 1);
	const uint32x4_t biased = vshrq_n_u32(twice, 24), exponent = vmaxq_u32(biased, one);
	const int32x4_t positive = vreinterpretq_s32_u32(vcgezq_s32(vreinterpretq_s32_u32(fields)));
	/* The fraction and, in place of what is above it, the hidden bit. */
	const int32x4_t significand =
		vreinterpretq_s32_u32(vsliq_n_u32(fields, vminq_u32(biased, one), 23));
	const int32x4_t places =
		vreinterpretq_s32_u32(vandq_u32(exponent, vdupq_n_u32(EXPONENTS - 1)));

	return (struct half){
		.minus_significand = vsubq_s32(veorq_s32(significand, positive), positive),
		.minus_power = vshlq_s32(vdupq_n_s32(-1), places),
		.exponent = exponent,
		.nonzero = vtstq_u32(twice, twice),
	};
}

INLINE void
add_half(int64_t *sums, const struct half *half, bool first)
{
	const int32x4_t x = half->minus_significand, y = half->minus_power;
	const int32x2_t low_x = vget_low_s32(x), low_y = vget_low_s32(y);
	int64x2_t low, high;

	if (first) {
		low = vmull_s32(low_x, low_y);
		high = vmull_high_s32(x, y);
	} else {
		low = vmlal_s32(vld1q_s64(sums), low_x, low_y);
		high = vmlal_high_s32(vld1q_s64(sums + 2), x, y);
	}
	vst1q_s64(sums, low);
	vst1q_s64(sums + 2, high);
}

INLINE void
add_halves(int64_t *sums, const struct half *half, bool first)
{
	add_half(sums, &half[0], first);
	add_half(sums + GROUP / 2, &half[1], first);
}

/* Whether a bin is that of all values but zeros. */
INLINE bool
is_bin_of(const struct half *half, uint32_t bin)
{
	const uint32x4_t start = vdupq_n_u32(EXPONENTS * bin);
	const uint32x4_t low = vandq_u32(veorq_u32(half[0].exponent, start), half[0].nonzero);
	const uint32x4_t high = vandq_u32(veorq_u32(half[1].exponent, start), half[1].nonzero);

	return vmaxvq_u32(vorrq_u32(low, high)) < EXPONENTS;
}

INLINE uint32_t
greatest_bin(const struct half *half)
{
	return vmaxvq_u32(vmaxq_u32(vandq_u32(half[0].exponent, half[0].nonzero),
		       vandq_u32(half[1].exponent, half[1].nonzero))) /
		EXPONENTS;
}

INLINE void
clear_bins(int64_t *bins, size_t stride, unsigned int but)
{
	for (unsigned int b = 0; b < BINS; b++)
		for (unsigned int i = 0; b != but && i < GROUP; i += 2)
			vst1q_s64(bins + b * stride + i, vdupq_n_s64(0));
}

/* Each value into its bin. */
INLINE void
add_to_bins(int64_t *bins, size_t stride, const struct half *half)
{
	static const uint32_t lane[GROUP] = {0, 1, 2, 3, 4, 5, 6, 7};
	int64_t values[GROUP];
	uint32_t at[GROUP];

	add_halves(values, half, true);
	for (unsigned int h = 0; h < 2; h++)
		vst1q_u32(at + 4 * h,
			vmlaq_n_u32(vld1q_u32(lane + 4 * h), vshrq_n_u32(half[h].exponent, 5),
				(uint32_t)stride));
#pragma GCC unroll 8
	for (unsigned int l = 0; l < GROUP; l++)
		bins[at[l]] += values[l];
}

INLINE void
begin_group(int64_t *bins, size_t stride, uint8_t *single, const struct half *half)
{
	const uint32_t bin = greatest_bin(half);

	if (is_bin_of(half, bin)) {
		*single = (uint8_t)bin;
		add_halves(bins + bin * stride, half, true);
		return;
	}
	*single = ALL_BINS;
	clear_bins(bins, stride, BINS);
	add_to_bins(bins, stride, half);
}

/* Once all bins are in use, it does not matter any more what the values are: nothing to mispredict.
 */
INLINE void
add_group(int64_t *bins, size_t stride, uint8_t *single, const struct half *half)
{
	if (*single != ALL_BINS) {
		if (is_bin_of(half, *single)) {
			add_halves(bins + *single * stride, half, false);
			return;
		}
		clear_bins(bins, stride, *single);
		*single = ALL_BINS;
	}
	add_to_bins(bins, stride, half);
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_groups(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	const size_t stride = bin_stride(format, lanes);
	uint32x4_t greatest = vdupq_n_u32(0);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const struct fields fields = load_fields(format, values, count, i);
		const struct half half[2] = {
			unpack_half(fields.half[0]), unpack_half(fields.half[1])};
		uint8_t *single = &lanes->single_bins[i / GROUP];

		if (first)
			begin_group(lanes->sums + i, stride, single, half);
		else
			add_group(lanes->sums + i, stride, single, half);
		greatest = vmaxq_u32(greatest,
			vmaxq_u32(vshlq_n_u32(fields.half[0], 1), vshlq_n_u32(fields.half[1], 1)));
	}
	return vmaxvq_u32(greatest) >= fp32.inf << 1;
}

INLINE void
put_bins_neon(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	keep_common(lanes, values, count * (format == AGGREGATE_FP32 ? 4 : 2), first);
	if (first)
		lanes->has_specials = false;
	if (put_groups(format, lanes, values, count, first))
		note_specials(format, lanes, values, count, false);
}

#endif /* BINS_NEON_H */
