/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP64_AVX512_H
#define FP64_AVX512_H

/**
 * @file
 * Sums of fp64 that are all in the window, rounded eight at a time in AVX-512.
 */

#include "vectors_avx512.h"

/* The magnitudes of integers of 128 bits, with their upper 63 bits and one that tells of others. */
INLINE struct sums
sums_of_window(__m512i lower, __m512i upper, __m512i unit)
{
	const __m512i none = _mm512_setzero_si512(), width = all64(64);
	const __mmask8 negative = _mm512_movepi64_mask(upper);
	const __mmask8 whole = _mm512_testn_epi64_mask(lower, lower);
	__m512i zeros, places, significand, below;
	__mmask8 large;

	upper = _mm512_mask_sub_epi64(upper, negative, none, upper);
	upper = _mm512_mask_sub_epi64(upper, negative & (__mmask8)~whole, upper, all64(1));
	lower = _mm512_mask_sub_epi64(lower, negative, none, lower);
	large = _mm512_test_epi64_mask(upper, upper);
	zeros = _mm512_mask_lzcnt_epi64(
		_mm512_add_epi64(_mm512_lzcnt_epi64(lower), width), large, upper);
	places = _mm512_sub_epi64(zeros, all64(1));
	/* Shifts by 64 places and more, or less than none, leave nothing. */
	significand = _mm512_or_si512(_mm512_sllv_epi64(upper, places),
		_mm512_srlv_epi64(lower, _mm512_sub_epi64(width, places)));
	significand = _mm512_or_si512(
		significand, _mm512_sllv_epi64(lower, _mm512_sub_epi64(places, width)));
	below = _mm512_sllv_epi64(lower, places);
	significand = _mm512_mask_or_epi64(
		significand, _mm512_test_epi64_mask(below, below), significand, all64(1));
	return (struct sums){
		significand, _mm512_sub_epi64(_mm512_add_epi64(unit, all64(127)), zeros), negative};
}

/* -0, where all values are, and the sum is zero. */
INLINE __m512i
signs_of_window(struct sums sums, __m512i common)
{
	const __mmask8 zero = _mm512_testn_epi64_mask(sums.significand, sums.significand);
	const __mmask8 negative = sums.negative | (zero & _mm512_movepi64_mask(common));

	return _mm512_maskz_mov_epi64(negative, all64(FP64_SIGN));
}

INLINE uint8_t
round_window_fast(const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const uint64_t *lower = window_lower(lanes), *upper = window_upper(lanes);
	const uint64_t *common = (const uint64_t *)(const void *)lanes->common;
	const __m512i unit = all64((uint64_t)((int64_t)lanes->window + FP64_UNIT));
	struct exceptions exceptions = {0, 0, 0};

	for (uint32_t i = 0; i < count; i += GROUP) {
		struct sums sums = sums_of_window(
			_mm512_load_si512(lower + i), _mm512_load_si512(upper + i), unit);
		__m512i bits = round_binary_fast(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, sums);

		exceptions.overflow |= _mm512_mask_cmpeq_epi64_mask(
			(__mmask8)lanes_in_step(count - i), bits, all64(FP64_INF));
		bits = _mm512_or_si512(bits, signs_of_window(sums, _mm512_load_si512(common + i)));
		_mm512_mask_storeu_epi64(result + FP64_BYTES * (size_t)i,
			(__mmask8)lanes_in_step(count - i), (__m512i)words_swap((words)bits));
	}
	return flags_of(&exceptions);
}

INLINE uint8_t
finish_fp64_fast(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	(void)to;
	if (values != NULL)
		put_fp64(format, lanes, values, count, false);
	return finish_fp64_by(round_window_fast, mean, lanes, count, workers, result);
}

#endif /* FP64_AVX512_H */
