/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BINS_NEON_H
#define BINS_NEON_H

/**
 * @file
 * bf16 and fp32 in NEON: values into bins, and bins to results. Values of similar size have one
 * bin: as long as that is so in a group, its other bins are neither cleared nor rounded, nor is
 * their memory touched. Zeros go with any bin.
 */

#include "kernels/neon/values_neon.h"

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

/*
 * Bins to results, each rounded once, by the processor's own conversions.
 *
 * Sums of fp32 are 64-bit integers that are converted at once. What does not fit into one is told
 * by its lowest bit, far below those that are kept. Scaling it afterwards is exact: what
 * would be subnormal is a multiple of the least subnormal, as all values are.
 *
 * Means of fp32 are quotients of binary64, rounded again: what does not fit into 53 bits is told by
 * the last of them. A number half-way between two of fp32 has 25 bits, and workers times as many no
 * more than 31 (64 workers add none). No less than 32 bits are kept, so the sum lies on the same
 * side of that product as the exact one, by a unit of its last bit or more: the quotient, too.
 *
 * bf16 has 8 bits of significand: those of a group's one bin make 8 + 31 bits, 45 with
 * AGGREGATE_MAX_WORKERS of them, which a binary64 holds; of more bins, no less than 20 bits are
 * kept and the lowest tells the rest. From there see fp16_neon.h.
 */

/* Four sums, window * 2^unit each; what is less than a unit is told by the lowest bit. */
struct windows {
	int64x2_t low, high;
	int32x4_t unit;
};

/* As sum_of_bins(): digits of 32 bits, of which the highest two that are not just sign are kept. */
struct digits {
	uint32x4_t upper, lower, rest, place;
};

INLINE struct digits
select_digits(const uint32x4_t *digits, uint32x4_t sign)
{
	const uint32x4_t none = vdupq_n_u32(0);
	struct digits kept = {digits[0], none, none, none};
	uint32x4_t rest = none;

	for (unsigned int b = 1; b < BINS + 1; b++) {
		const uint32x4_t same = vceqq_u32(digits[b], sign);

		kept.upper = vbslq_u32(same, kept.upper, digits[b]);
		kept.lower = vbslq_u32(same, kept.lower, digits[b - 1]);
		kept.rest = vbslq_u32(same, kept.rest, rest);
		kept.place = vbslq_u32(same, kept.place, vdupq_n_u32(EXPONENTS * b));
		rest = vorrq_u32(rest, digits[b - 1]);
	}
	return kept;
}

/* Bits of two digits that a window does not have. */
#define CUT_BF16 12
#define CUT_FP32 1

/* Two digits less what is cut off, of two lanes; `sign` has all bits set or none. */
INLINE int64x2_t
window_of(enum aggregate_format to, uint32x4_t digits, uint32x4_t sign)
{
	const int64x2_t two = vreinterpretq_s64_u32(digits), above = vreinterpretq_s64_u32(sign);

	return to == AGGREGATE_BF16 ? vsriq_n_s64(above, two, CUT_BF16)
				    : vsriq_n_s64(above, two, CUT_FP32);
}

/* Four lanes' bins. */
INLINE struct windows
join_bins(enum aggregate_format to, const int64_t *bins, size_t stride)
{
	const int cut = to == AGGREGATE_BF16 ? CUT_BF16 : CUT_FP32;
	int64x2_t low = vdupq_n_s64(0), high = low;
	uint32x4_t digits[BINS + 1], sign, rest;
	struct digits kept;

	for (unsigned int b = 0; b < BINS; b++) {
		low = vaddq_s64(low, vld1q_s64(bins + b * stride));
		high = vaddq_s64(high, vld1q_s64(bins + b * stride + 2));
		digits[b] = vuzp1q_u32(vreinterpretq_u32_s64(low), vreinterpretq_u32_s64(high));
		low = vshrq_n_s64(low, 32);
		high = vshrq_n_s64(high, 32);
	}
	digits[BINS] = vuzp1q_u32(vreinterpretq_u32_s64(low), vreinterpretq_u32_s64(high));
	sign = vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(digits[BINS]), 31));
	kept = select_digits(digits, sign);
	rest = vorrq_u32(vandq_u32(kept.lower, vdupq_n_u32((1u << cut) - 1)), kept.rest);
	kept.lower =
		vorrq_u32(kept.lower, vandq_u32(vtstq_u32(rest, rest), vdupq_n_u32(1u << cut)));
	return (struct windows){
		window_of(to, vzip1q_u32(kept.lower, kept.upper), vzip1q_u32(sign, sign)),
		window_of(to, vzip2q_u32(kept.lower, kept.upper), vzip2q_u32(sign, sign)),
		vaddq_s32(vreinterpretq_s32_u32(kept.place), vdupq_n_s32(BINS_UNIT - 32 + cut)),
	};
}

/* Half a group's sums. */
INLINE struct windows
load_windows(enum aggregate_format format, enum aggregate_format to,
	const struct aggregate_lanes *lanes, uint32_t lane)
{
	const size_t stride = bin_stride(format, lanes);
	const unsigned int single = lanes->single_bins[lane / GROUP];
	const int64_t *bins = lanes->sums + lane, *bin = bins + single * stride;

	if (single == ALL_BINS)
		return join_bins(to, bins, stride);
	return (struct windows){
		vld1q_s64(bin),
		vld1q_s64(bin + 2),
		vdupq_n_s32(EXPONENTS * (int32_t)single + BINS_UNIT),
	};
}

/* 2^exponents as floats. */
INLINE float32x4_t
powers_of(int32x4_t exponent)
{
	return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(exponent, vdupq_n_s32(127)), 23));
}

/* fp32, of four sums. A unit alone may be less than floats reach. */
INLINE uint32x4_t
round_to_fp32(const struct windows *windows)
{
	const int64x2_t low = windows->low, high = windows->high;
	const int32x4_t some = vshrq_n_s32(windows->unit, 1);
	float32x4_t numbers = {(float)vgetq_lane_s64(low, 0), (float)vgetq_lane_s64(low, 1),
		(float)vgetq_lane_s64(high, 0), (float)vgetq_lane_s64(high, 1)};

	numbers = vmulq_f32(numbers, powers_of(some));
	numbers = vmulq_f32(numbers, powers_of(vsubq_s32(windows->unit, some)));
	return vreinterpretq_u32_f32(numbers);
}

/* Two sums or means, of more bits than are asked for; windows of no more than 53 bits. */
INLINE float64x2_t
wide_numbers(int64x2_t window, int32x2_t unit, bool mean, float64x2_t workers)
{
	const int64x2_t exponent = vaddq_s64(vmovl_s32(unit), vdupq_n_s64(1023));
	const float64x2_t number =
		vmulq_f64(vcvtq_f64_s64(window), vreinterpretq_f64_s64(vshlq_n_s64(exponent, 52)));

	return mean ? vdivq_f64(number, workers) : number;
}

/* bf16 in the upper halves; what is below means nothing. */
INLINE uint32x4_t
round_to_bf16(const struct windows *windows, bool mean, float64x2_t workers)
{
	const int32x4_t unit = windows->unit;
	const uint32x4_t bits = vreinterpretq_u32_f32(vcvtx_high_f32_f64(
		vcvtx_f32_f64(wide_numbers(windows->low, vget_low_s32(unit), mean, workers)),
		wide_numbers(windows->high, vget_high_s32(unit), mean, workers)));
	const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));

	return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
}

/* Windows of 64 bits to 53: where these do not suffice, the lowest of them tells what is below. */
INLINE int64x2_t
narrow_window(int64x2_t window)
{
	const uint64x2_t large = vcgtq_s64(vabsq_s64(window), vdupq_n_s64(INT64_C(1) << 53));
	const uint64x2_t below = vandq_u64(large, vdupq_n_u64(0x7ff));
	const uint64x2_t some = vtstq_u64(vreinterpretq_u64_s64(window), below);

	return vbslq_s64(below, vreinterpretq_s64_u64(vandq_u64(some, vdupq_n_u64(0x400))), window);
}

INLINE uint32x4_t
round_means_to_fp32(const struct windows *windows, float64x2_t workers)
{
	const int64x2_t low = narrow_window(windows->low), high = narrow_window(windows->high);
	const int32x4_t unit = windows->unit;

	return vreinterpretq_u32_f32(vcvt_high_f32_f64(
		vcvt_f32_f64(wide_numbers(low, vget_low_s32(unit), true, workers)),
		wide_numbers(high, vget_high_s32(unit), true, workers)));
}

INLINE uint32x4_t
if_zero_windows(const struct windows *windows)
{
	return vuzp1q_u32(vreinterpretq_u32_u64(vceqzq_s64(windows->low)),
		vreinterpretq_u32_u64(vceqzq_s64(windows->high)));
}

/* What all values of four lanes, as fields, have in common: a zero sum is +0 unless all are -0. */
INLINE uint32x4_t
round_half(enum aggregate_format to, bool mean, const struct windows *windows, float64x2_t workers,
	uint32x4_t common)
{
	const uint32x4_t sign = vdupq_n_u32(fp32.sign);
	uint32x4_t z;

	if (to == AGGREGATE_BF16)
		z = round_to_bf16(windows, mean, workers);
	else
		z = mean ? round_means_to_fp32(windows, workers) : round_to_fp32(windows);
	return vorrq_u32(z, vandq_u32(vandq_u32(common, sign), if_zero_windows(windows)));
}

INLINE uint8_t
round_bins_neon(enum aggregate_format format, enum aggregate_format to, bool mean,
	const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	const float64x2_t divisor = vdupq_n_f64(workers);
	const uint32x4_t last = vdupq_n_u32(to == AGGREGATE_BF16 ? 0xffff : 0);
	const uint32x4_t inf = vdupq_n_u32(fp32.inf), sign = vdupq_n_u32(fp32.sign);
	uint32x4_t over = vdupq_n_u32(0), under = over;

	for (uint32_t i = 0; i < count; i += GROUP) {
		const struct fields common = load_fields(format, lanes->common, count, i);
		struct fields z;

		for (unsigned int h = 0; h < 2; h++) {
			const struct windows windows = load_windows(format, to, lanes, i + 4 * h);
			uint32x4_t magnitude;

			z.half[h] = round_half(to, mean, &windows, divisor, common.half[h]);
			magnitude = vbicq_u32(z.half[h], vorrq_u32(sign, last));
			over = vorrq_u32(over, vceqq_u32(magnitude, inf));
			under = vorrq_u32(
				under, vbicq_u32(vceqzq_u32(magnitude), if_zero_windows(&windows)));
		}
		store_fields(to, result, count, i, z);
	}
	return (uint8_t)((vmaxvq_u32(over) != 0 ? NETFC_OVERFLOW : 0) |
		(vmaxvq_u32(under) != 0 ? NETFC_UNDERFLOW : 0));
}

#endif /* BINS_NEON_H */
