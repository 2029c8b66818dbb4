/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUND_BINS_NEON_H
#define ROUND_BINS_NEON_H

/**
 * @file
 * bf16 and fp32 in NEON: bins to results, each rounded once, by the processor's own conversions.
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

#include "bins_neon.h"

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

/* Two digits less what is cut off, of two lanes; `sign` is all bits or none. */
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

#endif /* ROUND_BINS_NEON_H */
