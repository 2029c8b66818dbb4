/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ONE_BIN_AVX512_H
#define ONE_BIN_AVX512_H

/**
 * @file
 * bf16 and fp32 whose values all have the same bin, as gradients mostly have: 32 exponents are a
 * factor of 4 thousand millions. Nothing has to be decided lane by lane then. Zeros go with any
 * bin. The first and the last bin are left to others: their subnormals, infinities and NaN are not
 * like the rest.
 */

#include "vectors_avx512.h"

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

#endif /* ONE_BIN_AVX512_H */
