/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUND_TOTALS_AVX512_H
#define ROUND_TOTALS_AVX512_H

/**
 * @file
 * Sums of 128 bits to results, eight at a time in AVX-512: fp64's window, and short totals.
 */

#include "kernels/avx512/vectors_avx512.h"
#include "kernels/round_totals.h"

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
	(void)format, (void)to;
	return finish_fp64_by(round_window_fast, mean, lanes, values, count, workers, result);
}

/* There is no division of vectors. */
INLINE struct sums
divide_all_finely(struct sums sums, unsigned int workers)
{
	uint64_t significand[GROUP], exponent[GROUP];

	_mm512_storeu_si512(significand, sums.significand);
	_mm512_storeu_si512(exponent, sums.exponent);
	for (unsigned int lane = 0; lane < GROUP; lane++) {
		const struct exact exact = divide_finely(
			(struct exact){significand[lane], (int)exponent[lane]}, workers);

		significand[lane] = exact.significand;
		exponent[lane] = (uint64_t)exact.exponent;
	}
	return (struct sums){
		_mm512_loadu_si512(significand), _mm512_loadu_si512(exponent), sums.negative};
}

/* Lanes all of whose values were -0. */
INLINE __mmask8
minus_zeros(const uint8_t *marks, __mmask8 lanes)
{
	return (__mmask8)_mm_testn_epi8_mask(
		_mm_maskz_loadu_epi8(lanes, marks), _mm_set1_epi8(AGGREGATE_MARK_MINUS_ZERO));
}

INLINE __m512i
encode_totals(enum aggregate_format to, struct sums sums, __mmask8 minus_zero,
	struct exceptions *exceptions)
{
	const __mmask8 zero = _mm512_testn_epi64_mask(sums.significand, sums.significand);
	const bool wide = to == AGGREGATE_FP64;
	__m512i bits = wide ? round_binary_fast(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, sums)
			    : round_fast(ieee_of(to), sums);

	exceptions->overflow |= _mm512_cmpeq_epi64_mask(bits, all64(infinity_of(to)));
	exceptions->underflow |= (__mmask8)(~zero & _mm512_testn_epi64_mask(bits, bits));
	return _mm512_mask_or_epi64(
		bits, sums.negative | (zero & minus_zero), bits, all64(sign_of(to)));
}

INLINE uint8_t
round_short_totals(enum aggregate_format to, bool mean, const struct aggregate_totals *totals,
	unsigned int workers, uint8_t *result)
{
	const uint32_t base = totals_base(totals, totals->digits), count = totals->count;
	const int unit = unit_of(aggregate_values_format(totals->format)) + DIGIT_BITS * (int)base;
	const struct short_bins bins = short_bins_of(totals);
	const uint8_t *marks = totals->marks;
	struct exceptions exceptions = {0, 0, 0};

	for (uint32_t i = 0; i < count; i += GROUP) {
		const __mmask8 lanes = (__mmask8)lanes_in_step(count - i);
		const struct total_words is = short_words(bins, i, count - i);
		struct sums sums = sums_of_window(
			(__m512i)is.lower, (__m512i)is.upper, all64((uint64_t)(int64_t)unit));
		__m512i bits;

		if (mean)
			sums = divide_all_finely(sums, workers);
		bits = encode_totals(to, sums, minus_zeros(marks + i, lanes), &exceptions);
		if (to == AGGREGATE_FP64)
			_mm512_mask_storeu_epi64(result + FP64_BYTES * (size_t)i, lanes,
				(__m512i)words_swap((words)bits));
		else
			store_group(to, result, i, lanes, bits);
	}
	return flags_of(&exceptions);
}

INLINE uint8_t
round_short_totals_to(enum aggregate_format to, const struct aggregate_totals *totals,
	unsigned int op, unsigned int workers, uint8_t *result)
{
	return op == AGGREGATE_MEAN ? round_short_totals(to, true, totals, workers, result)
				    : round_short_totals(to, false, totals, workers, result);
}

static bool
are_short_numbers(const struct aggregate_totals *totals)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < totals->count; i++)
		any |= totals->marks[i];
	return (any & ~AGGREGATE_MARK_MINUS_ZERO) == 0 &&
		totals_are_short(totals, 0, totals->count);
}

static uint8_t
round_totals_fast(const struct aggregate_totals *totals, unsigned int op, unsigned int workers,
	uint8_t *result)
{
	const unsigned int to = aggregate_results_format(totals->format);

	if (!are_short_numbers(totals))
		return round_any_totals(totals, op, workers, result);
	switch (to) {
	case AGGREGATE_FP16:
		return round_short_totals_to(AGGREGATE_FP16, totals, op, workers, result);
	case AGGREGATE_BF16:
		return round_short_totals_to(AGGREGATE_BF16, totals, op, workers, result);
	case AGGREGATE_FP32:
		return round_short_totals_to(AGGREGATE_FP32, totals, op, workers, result);
	case AGGREGATE_FP64:
		/* Of the vectors, 63 bits, which do not suffice to divide by more. */
		if (op == AGGREGATE_MEAN && workers > 256)
			return round_any_totals(totals, op, workers, result);
		return round_short_totals_to(AGGREGATE_FP64, totals, op, workers, result);
	default:
		return round_any_totals(totals, op, workers, result);
	}
}

#endif /* ROUND_TOTALS_AVX512_H */
