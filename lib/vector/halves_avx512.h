/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_HALVES_AVX512_H
#define VECTOR_HALVES_AVX512_H

/** @file A group's words as two registers of 32 bits a lane, and back. */

#include "lanes_avx512.h"

/* binary16: a fraction of 10 bits; a float's exponent is 112 more. */
#define FRACTION_BITS 10

/* The first lanes and the last ones. */
struct halves {
	__m512i low, high;
};

INLINE struct halves
signed_halves(__m512i words)
{
	return (struct halves){_mm512_cvtepi16_epi32(_mm512_castsi512_si256(words)),
		_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1))};
}

INLINE struct halves
unsigned_halves(__m512i words)
{
	return (struct halves){_mm512_cvtepu16_epi32(_mm512_castsi512_si256(words)),
		_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1))};
}

/* The high words of 32 numbers of 32 bits, and the low ones. */
INLINE __m512i
high_words(__m512i low, __m512i high)
{
	const __m512i odd = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37,
		35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);

	return _mm512_permutex2var_epi16(low, odd, high);
}

INLINE __m512i
low_words(__m512i low, __m512i high)
{
	const __m512i even = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38,
		36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);

	return _mm512_permutex2var_epi16(low, even, high);
}

/*
 * Exponent and fraction, subnormals normalised: (e << 10 | f) of magnitude 2^e * 1.f. The float of
 * a binary16 has them at bit 13; six bits of its exponent tell all those that can occur.
 */
INLINE __m512i
normalise(__m512i magnitude)
{
	__m512i low = _mm512_castps_si512(_mm512_cvtph_ps(_mm512_castsi512_si256(magnitude)));
	__m512i high =
		_mm512_castps_si512(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(magnitude, 1)));
	__m512i bits = high_words(_mm512_slli_epi32(low, 3), _mm512_slli_epi32(high, 3));

	return _mm512_sub_epi16(bits, all(0x7f << FRACTION_BITS));
}

#endif /* VECTOR_HALVES_AVX512_H */
