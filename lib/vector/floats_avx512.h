/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOATS_AVX512_H
#define VECTOR_FLOATS_AVX512_H

/** @file A register of words to binary32 and back, of formats that are part of it. */

#include "lanes_avx512.h"

/* Two registers of floats for one of words. */
struct floats {
	__m512 low, high;
};

INLINE struct floats
from_fp16(__m512i words)
{
	return (struct floats){_mm512_cvtph_ps(_mm512_castsi512_si256(words)),
		_mm512_cvtph_ps(_mm512_extracti64x4_epi64(words, 1))};
}

INLINE __m512i
to_fp16(struct floats floats)
{
	return join(_mm512_cvtps_ph(floats.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
		_mm512_cvtps_ph(floats.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* The upper halves of floats. Unpacking and packing leave the same order. */
INLINE struct floats
from_bf16(__m512i words)
{
	const __m512i zero = _mm512_setzero_si512();

	return (struct floats){_mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, words)),
		_mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, words))};
}

/* To the nearest, ties to even; a carry into the exponent is meant. */
INLINE __m512i
upper_half(__m512 value)
{
	__m512i bits = _mm512_castps_si512(value);
	__m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
	__m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));

	return _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
}

INLINE __m512i
to_bf16(struct floats floats)
{
	return _mm512_packus_epi32(upper_half(floats.low), upper_half(floats.high));
}

#endif /* VECTOR_FLOATS_AVX512_H */
