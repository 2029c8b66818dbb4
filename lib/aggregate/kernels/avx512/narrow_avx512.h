/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NARROW_AVX512_H
#define NARROW_AVX512_H

/**
 * @file
 * fp16 whose values are all below 2, as gradients mostly are: 11 bits of significand, exponents 1
 * to 15, 64 workers make 31 bits and a sign. Sums have 32 bits then, and half the memory.
 */

#include "kernels/avx512/vectors_avx512.h"

/* Of an encoding as it came: the exponent's first bit, of 2 and more, infinities and NaN. */
#define NOT_NARROW 0x0040

INLINE bool
is_narrow(const uint8_t *values, uint32_t bytes)
{
	__m512i any = _mm512_setzero_si512();

	for (uint32_t at = 0; at < bytes; at += sizeof(__m512i)) {
		uint32_t left = bytes - at;
		__mmask64 mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;

		any = _mm512_or_si512(any, _mm512_maskz_loadu_epi8(mask, values + at));
	}
	return _mm512_test_epi16_mask(any, _mm512_set1_epi16(NOT_NARROW)) == 0;
}

INLINE int32_t *
sums_of_32_bits(const struct aggregate_lanes *lanes)
{
	return (int32_t *)(void *)lanes->sums;
}

/* Add to them, or begin with them. */
INLINE void
put_narrow(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(AGGREGATE_FP16, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(AGGREGATE_FP16, bits);
		__m512i sum = _mm512_sllv_epi32(
			step.significand, _mm512_sub_epi32(step.exponent, all32(1)));
		int32_t *sums = sums_of_32_bits(lanes) + i;

		fetch_ahead((const int64_t *)(const void *)sums);
		if (!first)
			sum = _mm512_add_epi32(sum, _mm512_load_si512(sums));
		_mm512_store_si512(sums, sum);
		keep_signs(lanes, i, negative_of(AGGREGATE_FP16, bits), first);
	}
}

/* From the last group on, as a group's place as 64 bits is that of later ones as 32. */
INLINE void
leave_narrow(struct aggregate_lanes *lanes, uint32_t count)
{
	for (uint32_t g = (count + GROUP - 1) / GROUP; g-- > 0;)
		_mm512_store_si512(lanes->sums + g * GROUP,
			_mm512_cvtepi32_epi64(_mm256_load_si256(
				(const __m256i *)(const void *)(sums_of_32_bits(lanes) +
					g * GROUP))));
	lanes->narrow = false;
}

/* Whether all values, and those before, are narrow. */
INLINE bool
stays_narrow(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	bool narrow;

	if (!first && !lanes->narrow)
		return false;
	narrow = is_narrow(values, 2 * count);
	if (first)
		lanes->narrow = narrow;
	else if (!narrow)
		leave_narrow(lanes, count);
	return narrow;
}

INLINE __m512i
fp16_sums_group(const struct aggregate_lanes *lanes, uint32_t i)
{
	return _mm512_cvtepi32_epi64(
		_mm256_load_si256((const __m256i *)(const void *)(sums_of_32_bits(lanes) + i)));
}

/*
 * Sums as encodings. They are multiples of the least number: below 2^11 of it they are encodings as
 * they are, above, each place that is rounded away counts one in the exponent. None overflows.
 */
INLINE __m512i
encode_narrow(__m512i sum, __mmask16 all_negative)
{
	__m512i one = all32(1), magnitude = _mm512_abs_epi32(sum);
	__mmask16 negative = _mm512_movepi32_mask(sum);
	__mmask16 zero = _mm512_testn_epi32_mask(sum, sum);
	__m512i places =
		_mm512_max_epi32(_mm512_sub_epi32(all32(31 - 10), _mm512_lzcnt_epi32(magnitude)),
			_mm512_setzero_si512());
	__m512i cut = _mm512_sub_epi32(_mm512_sllv_epi32(one, places), one);
	__m512i odd =
		_mm512_and_si512(_mm512_srlv_epi32(magnitude, places), _mm512_and_si512(cut, one));
	__m512i raised =
		_mm512_add_epi32(_mm512_add_epi32(magnitude, odd), _mm512_srli_epi32(cut, 1));
	__m512i bits =
		_mm512_add_epi32(_mm512_srlv_epi32(raised, places), _mm512_slli_epi32(places, 10));

	return _mm512_mask_or_epi32(bits, negative | (zero & all_negative), bits, all32(0x8000));
}

INLINE void
round_narrow(const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const __mmask16 *all_negative = (const __mmask16 *)(const void *)lanes->common;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i sum = _mm512_load_si512(sums_of_32_bits(lanes) + i);
		__m512i bits = encode_narrow(sum, all_negative[i / STEP]);

		_mm256_mask_storeu_epi16(result + 2 * (size_t)i, lanes_in_step(count - i),
			_mm512_castsi512_si256(
				swap16(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(bits)))));
	}
}

#endif /* NARROW_AVX512_H */
