/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMILAR_AVX512_H
#define SIMILAR_AVX512_H

/**
 * @file
 * Values of similar size, as gradients are: sums that need less memory and fewer decisions.
 */

#include "kernels/avx512/vectors_avx512.h"

/*
 * bf16 and fp32 whose values all have the same bin, as gradients mostly have: 32 exponents are a
 * factor of 4 thousand millions. Nothing has to be decided lane by lane then. Zeros go with any
 * bin. The first and the last bin are left to others: their subnormals, infinities and NaN are not
 * like the rest.
 */

/* What all values of a packet have in common; NO_BIN: no bin. */
#define ANY_BIN BINS /* they are zeros */

/* Encodings as they came, in 16 or 32 bits: where the exponent's first three bits are. */
#define BIN_BITS 0x70
#define BIN_SHIFT 4

INLINE __m512i
and_nonzero(enum aggregate_format format, __m512i all, __m512i values)
{
	if (format == AGGREGATE_FP32)
		return _mm512_mask_and_epi32(
			all, _mm512_test_epi32_mask(values, all32(0xffffff7f)), all, values);
	return _mm512_mask_blend_epi16(
		_mm512_test_epi16_mask(values, _mm512_set1_epi16((short)0xff7f)), all,
		_mm512_and_si512(all, values));
}

/* The bin of the packet's values. */
INLINE unsigned int
find_bin(enum aggregate_format format, const uint8_t *values, uint32_t bytes)
{
	__m512i any = _mm512_setzero_si512(), all = all32(UINT32_MAX);
	uint32_t some, every;

	for (uint32_t at = 0; at < bytes; at += sizeof(__m512i)) {
		uint32_t left = bytes - at;
		__mmask64 mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
		__m512i bits = _mm512_maskz_loadu_epi8(mask, values + at);

		any = _mm512_or_si512(any, bits);
		all = and_nonzero(format, all, bits);
	}
	some = (uint32_t)_mm512_reduce_or_epi32(any);
	every = (uint32_t)_mm512_reduce_and_epi32(all);
	if (format == AGGREGATE_BF16) {
		some |= some >> 16;
		every &= every >> 16;
		some &= 0xffff;
	}
	if ((some & ~UINT32_C(0x80)) == 0)
		return ANY_BIN;
	some = (some & BIN_BITS) >> BIN_SHIFT;
	every = (every & BIN_BITS) >> BIN_SHIFT;
	return some == every && some > 0 && some < BINS - 1 ? some : NO_BIN;
}

/* Add to it, or begin with it. */
INLINE void
put_one_bin(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	int64_t *bin = lanes->sums + lanes->one_bin * bin_stride(format, lanes);

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(format, values, i, lanes_in_step(count - i));
		__m512i fields = format == AGGREGATE_BF16 ? _mm512_slli_epi32(bits, 16) : bits;
		__mmask16 nonzero = _mm512_test_epi32_mask(fields, all32(fp32.sign - 1));
		__mmask16 negative = _mm512_movepi32_mask(fields);
		__m512i significand = _mm512_maskz_or_epi32(
			nonzero, _mm512_and_si512(fields, all32(0x7fffff)), all32(0x800000));
		__m512i places = _mm512_and_si512(_mm512_srli_epi32(fields, 23), all32(31));

		significand = _mm512_mask_sub_epi32(
			significand, negative, _mm512_setzero_si512(), significand);
		for (int half = 0; half < 2; half++) {
			int64_t *sums = bin + i + GROUP * half;
			__m512i sum = shifted_half(significand, places, half);

			fetch_ahead(sums);
			if (!first)
				sum = _mm512_add_epi64(sum, _mm512_load_si512(sums));
			_mm512_store_si512(sums, sum);
		}
		keep_signs(lanes, i, negative, first);
	}
}

/*
 * Sums as encodings: what is in one of these bins neither overflows nor is subnormal, however much
 * of it is added up or cancels.
 */
INLINE __m512i
encode_one_bin(enum aggregate_format format, __m512i sum, __m512i unit, __mmask8 all_negative)
{
	const struct ieee ieee = ieee_of(format);
	const unsigned int places = 62 - (unsigned int)ieee.fraction_bits;
	__m512i magnitude = _mm512_abs_epi64(sum), zeros = _mm512_lzcnt_epi64(magnitude);
	__mmask8 negative = _mm512_movepi64_mask(sum);
	__mmask8 nonzero = _mm512_test_epi64_mask(sum, sum);
	__m512i significand = _mm512_sllv_epi64(magnitude, _mm512_sub_epi64(zeros, all64(1)));
	__m512i odd = _mm512_and_si512(_mm512_srli_epi64(significand, places), all64(1));
	__m512i raised = _mm512_add_epi64(
		_mm512_add_epi64(significand, odd), all64((UINT64_C(1) << (places - 1)) - 1));
	__m512i bits = _mm512_maskz_add_epi64(nonzero, _mm512_srli_epi64(raised, places),
		_mm512_slli_epi64(_mm512_sub_epi64(unit, zeros), (unsigned int)ieee.fraction_bits));

	return _mm512_mask_or_epi64(
		bits, negative | ((__mmask8)~nonzero & all_negative), bits, all64(ieee.sign));
}

INLINE void
round_one_bin(enum aggregate_format format, enum aggregate_format to,
	const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const int64_t *bin = lanes->sums + lanes->one_bin * bin_stride(format, lanes);
	/* What the exponent of a sum with no leading zeros would be, less the hidden bit. */
	const int unit = 32 * lanes->one_bin + BINS_UNIT + 63 + ieee_of(to).bias - 1;

	for (uint32_t i = 0; i < count; i += GROUP) {
		__m512i bits = encode_one_bin(to, _mm512_load_si512(bin + i), all64((uint64_t)unit),
			lanes->common[i / GROUP]);

		store_group(to, result, i, (__mmask8)lanes_in_step(count - i), bits);
	}
}

/* Another packet does not have that bin: its groups are looked at one by one from now on. */
INLINE void
leave_one_bin(struct aggregate_lanes *lanes, uint32_t count)
{
	memset(lanes->single_bins, lanes->one_bin, (count + GROUP - 1) / GROUP);
	lanes->one_bin = NO_BIN;
}

/*
 * fp16 whose values are all below 2, as gradients mostly are: 11 bits of significand, exponents 1
 * to 15, 64 workers make 31 bits and a sign. Sums have 32 bits then, and half the memory.
 */

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

#endif /* SIMILAR_AVX512_H */
