/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTORS_AVX512_H
#define VECTORS_AVX512_H

/**
 * @file
 * Values in and out, special values and rounding in AVX-512: number.h and kernels_lanes.h once
 * more, eight or sixteen lanes at a time.
 */

#include <immintrin.h>

#include <netfc_arith.h>

#include "kernels/kernels_lanes.h"

/* How many groups ahead integers are fetched. */
#define FETCH_GROUPS 16

/* Lanes of a step that brings values in; results go out GROUP at a time. */
#define STEP 16

INLINE __m512i
all64(uint64_t value)
{
	return _mm512_set1_epi64((long long)value);
}

INLINE __m512i
all32(uint32_t value)
{
	return _mm512_set1_epi32((int)value);
}

/* The lanes of a step that there are. */
INLINE __mmask16
lanes_in_step(uint32_t left)
{
	return left >= STEP ? 0xffff : (__mmask16)((1u << left) - 1);
}

INLINE __m512i
swap32(__m512i values)
{
	return _mm512_shuffle_epi8(values,
		_mm512_broadcast_i32x4(
			_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)));
}

INLINE __m512i
swap16(__m512i values)
{
	return _mm512_shuffle_epi8(values,
		_mm512_broadcast_i32x4(
			_mm_set_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1)));
}

/* Sixteen encodings in 32 bits each; those that there are not are 0. */
INLINE __m512i
load_step(enum aggregate_format format, const uint8_t *values, uint32_t i, __mmask16 lanes)
{
	if (format == AGGREGATE_FP32)
		return swap32(_mm512_maskz_loadu_epi32(lanes, values + 4 * (size_t)i));
	return _mm512_cvtepu16_epi32(_mm512_castsi512_si256(swap16(
		_mm512_castsi256_si512(_mm256_maskz_loadu_epi16(lanes, values + 2 * (size_t)i)))));
}

INLINE void
store_group(enum aggregate_format format, uint8_t *result, uint32_t i, __mmask8 lanes, __m512i bits)
{
	if (format == AGGREGATE_FP32)
		_mm256_mask_storeu_epi32(result + 4 * (size_t)i, lanes,
			_mm512_castsi512_si256(
				swap32(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(bits)))));
	else
		_mm_mask_storeu_epi16(result + 2 * (size_t)i, lanes,
			_mm512_castsi512_si128(
				swap16(_mm512_castsi128_si512(_mm512_cvtepi64_epi16(bits)))));
}

INLINE __m256i
half_of(__m512i step, int half)
{
	return half == 0 ? _mm512_castsi512_si256(step) : _mm512_extracti64x4_epi64(step, 1);
}

/* Half a step, shifted to where it belongs. */
INLINE __m512i
shifted_half(__m512i significand, __m512i places, int half)
{
	return _mm512_sllv_epi64(_mm512_cvtepi32_epi64(half_of(significand, half)),
		_mm512_cvtepu32_epi64(half_of(places, half)));
}

/* Sixteen values, and where they go. */
struct step {
	__m512i significand; /* signed, 32 bits */
	__m512i exponent;    /* of the least bit: 0 is the least there is */
};

/* bf16 as the upper half of fp32. */
INLINE struct step
unpack_step(enum aggregate_format format, __m512i bits)
{
	const struct ieee ieee = format == AGGREGATE_BF16 ? fp32 : ieee_of(format);
	__m512i fields = format == AGGREGATE_BF16 ? _mm512_slli_epi32(bits, 16) : bits;
	__m512i magnitude = _mm512_and_si512(fields, all32(ieee.sign - 1));
	__m512i biased = _mm512_srli_epi32(magnitude, (unsigned int)ieee.fraction_bits);
	__mmask16 negative = _mm512_test_epi32_mask(fields, all32(ieee.sign));
	__mmask16 normal = _mm512_test_epi32_mask(biased, biased);
	__m512i hidden = all32(1u << ieee.fraction_bits);
	__m512i significand = _mm512_and_si512(fields, all32((1u << ieee.fraction_bits) - 1));

	significand = _mm512_mask_or_epi32(significand, normal, significand, hidden);
	significand =
		_mm512_mask_sub_epi32(significand, negative, _mm512_setzero_si512(), significand);
	return (struct step){significand, _mm512_max_epu32(biased, all32(1))};
}

INLINE __mmask16
negative_of(enum aggregate_format format, __m512i bits)
{
	return _mm512_test_epi32_mask(bits, all32(ieee_of(format).sign));
}

/*
 * The integers of a chunk that comes back after many others are far away. Those of the groups to
 * come are most likely in the same bin.
 */
INLINE void
fetch_ahead(const int64_t *sums)
{
	_mm_prefetch((const char *)(sums + FETCH_GROUPS * GROUP), _MM_HINT_T0);
}

/* A bit for each lane whose values are all negative. */
INLINE void
keep_signs(struct aggregate_lanes *lanes, uint32_t i, __mmask16 negative, bool first)
{
	__mmask16 *signs = (__mmask16 *)(void *)lanes->common + i / STEP;

	*signs = first ? negative : *signs & negative;
}

/* Special values. */

/* By kind, in a byte each. */
INLINE __m128i
specials_of(struct ieee ieee, __m512i bits)
{
	__m512i magnitude = _mm512_and_si512(bits, all32(ieee.sign - 1));
	__mmask16 nan = _mm512_cmpgt_epu32_mask(magnitude, all32(ieee.inf));
	__mmask16 inf = _mm512_cmpeq_epu32_mask(magnitude, all32(ieee.inf));
	__mmask16 minus = _mm512_mask_test_epi32_mask(inf, bits, all32(ieee.sign));
	__m128i special = _mm_maskz_mov_epi8(nan, _mm_set1_epi8(SPECIAL_NAN));

	special = _mm_mask_mov_epi8(special, inf, _mm_set1_epi8(SPECIAL_PLUS_INF));
	return _mm_mask_mov_epi8(special, minus, _mm_set1_epi8(SPECIAL_MINUS_INF));
}

INLINE __mmask16
find_specials(enum aggregate_format format, __m512i bits)
{
	const struct ieee ieee = ieee_of(format);

	return _mm512_cmpge_epu32_mask(
		_mm512_and_si512(bits, all32(ieee.sign - 1)), all32(ieee.inf));
}

/* What kernels that look for special values themselves call when they have found any. */
INLINE void
note_specials_fast(enum aggregate_format format, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count)
{
	if (!lanes->has_specials)
		memset(lanes->specials, 0, lanes->capacity);
	lanes->has_specials = true;
	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(format, values, i, lanes_in_step(count - i));
		__m128i *specials = (__m128i *)(void *)(lanes->specials + i);

		_mm_store_si128(specials,
			_mm_or_si128(_mm_load_si128(specials), specials_of(ieee_of(format), bits)));
	}
}

/* Sums of eight lanes. */
struct sums {
	__m512i significand, exponent; /* as in struct exact; significand 0: the sum is zero */
	__mmask8 negative;
};

/* magnitude * 2^unit, units by lane. */
INLINE struct sums
sums_of(__m512i magnitude, __m512i unit, __mmask8 negative)
{
	__m512i zeros = _mm512_lzcnt_epi64(magnitude);

	return (struct sums){_mm512_sllv_epi64(magnitude, _mm512_sub_epi64(zeros, all64(1))),
		_mm512_add_epi64(_mm512_sub_epi64(all64(63), zeros), unit), negative};
}

INLINE struct sums
divide_fast(struct sums sums, struct divisor divisor)
{
	__m512i upper = _mm512_srli_epi64(sums.significand, 32);
	__m512i quotient = _mm512_srl_epi64(_mm512_mul_epu32(upper, all64(divisor.multiplier)),
		_mm_cvtsi32_si128(divisor.shift));
	__m512i rest = _mm512_sub_epi64(upper, _mm512_mul_epu32(quotient, all64(divisor.workers)));
	__mmask8 more =
		_mm512_test_epi64_mask(_mm512_or_si512(rest, sums.significand), all64(UINT32_MAX));
	struct sums result =
		sums_of(quotient, _mm512_sub_epi64(sums.exponent, all64(30)), sums.negative);

	result.significand =
		_mm512_mask_or_epi64(result.significand, more, result.significand, all64(1));
	return result;
}

/* The magnitudes' encodings; 0 for 0. */
INLINE __m512i
round_binary_fast(int fraction_bits, int bias, uint64_t inf, struct sums sums)
{
	__m512i one = all64(1);
	__m512i biased = _mm512_add_epi64(sums.exponent, all64((uint64_t)bias));
	__m512i least = _mm512_max_epi64(biased, one);
	__m512i places = _mm512_add_epi64(
		_mm512_sub_epi64(least, biased), all64((uint64_t)(62 - fraction_bits)));
	__m512i half = _mm512_sllv_epi64(one, _mm512_sub_epi64(places, one));
	__m512i odd = _mm512_and_si512(_mm512_srlv_epi64(sums.significand, places), one);
	__m512i raised = _mm512_add_epi64(
		_mm512_add_epi64(sums.significand, odd), _mm512_sub_epi64(half, one));
	__m512i bits = _mm512_add_epi64(_mm512_srlv_epi64(raised, places),
		_mm512_slli_epi64(_mm512_sub_epi64(least, one), (unsigned int)fraction_bits));

	return _mm512_maskz_min_epu64(
		_mm512_test_epi64_mask(sums.significand, sums.significand), bits, all64(inf));
}

INLINE __m512i
round_fast(struct ieee ieee, struct sums sums)
{
	return round_binary_fast(ieee.fraction_bits, ieee.bias, ieee.inf, sums);
}

/* What of the accumulators a group's result depends on besides the sums. */
struct extras {
	__m512i specials;      /* enum special */
	__mmask8 all_negative; /* a zero is -0 */
};

INLINE struct extras
load_extras(const struct aggregate_lanes *lanes, uint32_t i, bool specials)
{
	return (struct extras){specials
			? _mm512_cvtepu8_epi64(_mm_loadl_epi64(
				  (const __m128i *)(const void *)(lanes->specials + i)))
			: _mm512_setzero_si512(),
		lanes->common[i / GROUP]};
}

/* Infinity of one sign only: that infinity, else NaN. */
INLINE __m512i
special_results(struct ieee ieee, __m512i specials)
{
	__mmask8 plus = _mm512_cmpeq_epi64_mask(specials, all64(SPECIAL_PLUS_INF));
	__mmask8 minus = _mm512_cmpeq_epi64_mask(specials, all64(SPECIAL_MINUS_INF));
	__m512i result = _mm512_mask_mov_epi64(all64(ieee.nan), plus, all64(ieee.inf));

	return _mm512_mask_mov_epi64(result, minus, all64(ieee.sign | ieee.inf));
}

/* Exceptions of eight lanes each, or-ed. */
struct exceptions {
	__mmask8 invalid, overflow, underflow;
};

INLINE uint8_t
flags_of(const struct exceptions *exceptions)
{
	return (uint8_t)((exceptions->invalid != 0 ? NETFC_INVALID : 0) |
		(exceptions->overflow != 0 ? NETFC_OVERFLOW : 0) |
		(exceptions->underflow != 0 ? NETFC_UNDERFLOW : 0));
}

/* The results' encodings; special values are looked at afterwards. */
INLINE __m512i
encode_group(enum aggregate_format format, struct sums sums, struct extras extras,
	struct exceptions *exceptions)
{
	const struct ieee ieee = ieee_of(format);
	__mmask8 special = _mm512_test_epi64_mask(extras.specials, extras.specials);
	__m512i bits = round_fast(ieee, sums);
	__mmask8 zero = _mm512_testn_epi64_mask(sums.significand, sums.significand);
	__mmask8 negative = sums.negative | (zero & extras.all_negative);

	exceptions->overflow |=
		(__mmask8)(~special & _mm512_cmpeq_epi64_mask(bits, all64(ieee.inf)));
	exceptions->underflow |= (__mmask8)(~special & ~zero & _mm512_testn_epi64_mask(bits, bits));
	return _mm512_mask_or_epi64(bits, negative, bits, all64(ieee.sign));
}

INLINE __m512i
put_specials(enum aggregate_format format, __m512i bits, struct extras extras,
	struct exceptions *exceptions)
{
	__mmask8 special = _mm512_test_epi64_mask(extras.specials, extras.specials);

	exceptions->invalid |= _mm512_cmpeq_epi64_mask(
		extras.specials, all64(SPECIAL_PLUS_INF | SPECIAL_MINUS_INF));
	return _mm512_mask_mov_epi64(
		bits, special, special_results(ieee_of(format), extras.specials));
}

#endif /* VECTORS_AVX512_H */
