/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOATS_AVX2_H
#define VECTOR_FLOATS_AVX2_H

/** @file A register of words to binary32 and back, as floats_avx512.h. */

#include <immintrin.h>

#include "blocks.h"

#define INLINE BLOCK_INLINE

/* Two registers of floats for one of words. */
struct floats {
	__m256 low, high;
};

INLINE struct floats
from_fp16(__m256i words)
{
	return (struct floats){_mm256_cvtph_ps(_mm256_castsi256_si128(words)),
		_mm256_cvtph_ps(_mm256_extracti128_si256(words, 1))};
}

INLINE __m256i
to_fp16(struct floats floats)
{
	return _mm256_set_m128i(
		_mm256_cvtps_ph(floats.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
		_mm256_cvtps_ph(floats.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

INLINE struct floats
from_bf16(__m256i words)
{
	const __m256i zero = _mm256_setzero_si256();

	return (struct floats){_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, words)),
		_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, words))};
}

INLINE __m256i
upper_half(__m256 value)
{
	const __m256i bits = _mm256_castps_si256(value);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
	const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));

	return _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
}

INLINE __m256i
to_bf16(struct floats floats)
{
	return _mm256_packus_epi32(upper_half(floats.low), upper_half(floats.high));
}

#endif /* VECTOR_FLOATS_AVX2_H */
