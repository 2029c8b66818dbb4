/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_WORDS_AVX512_H
#define VECTOR_LOG_WORDS_AVX512_H

/**
 * @file
 * Logarithms and powers of 32 lanes, from tables in registers: see log_registers.h.
 */

#include "lanes_avx512.h"
#include "log_registers.h"

/* binary16: a fraction of 10 bits; a float's exponent is 112 more. */
#define FRACTION_BITS 10
#define SCALE_BITS 10

struct tables {
	__m512i base[2], slope[2];
	__m512 coarse[2], fine[2];
};

INLINE struct tables
load_tables(const struct log_registers *kernel)
{
	return (struct tables){
		{_mm512_load_si512(kernel->base), _mm512_load_si512(kernel->base + 32)},
		{_mm512_load_si512(kernel->slope), _mm512_load_si512(kernel->slope + 32)},
		{_mm512_load_ps(kernel->coarse), _mm512_load_ps(kernel->coarse + 16)},
		{_mm512_load_ps(kernel->fine), _mm512_load_ps(kernel->fine + 16)},
	};
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

/* The log word of a finite magnitude other than zero. */
INLINE __m512i
log_words(const struct tables *tables, __m512i magnitude)
{
	__m512i number = normalise(magnitude);
	__m512i segment = _mm512_srli_epi16(number, SEGMENT_BITS);
	__m512i base = _mm512_permutex2var_epi16(tables->base[0], segment, tables->base[1]);
	__m512i slope = _mm512_permutex2var_epi16(tables->slope[0], segment, tables->slope[1]);
	__m512i along = _mm512_and_si512(number, all(SEGMENT - 1));
	__m512i line = _mm512_add_epi16(base, _mm512_mullo_epi16(slope, along));

	return _mm512_add_epi16(number, _mm512_srli_epi16(line, LINE_BITS));
}

INLINE __m256i
power_of_two(const struct tables *tables, __m512i n)
{
	__m512 coarse = _mm512_permutex2var_ps(
		tables->coarse[0], _mm512_srli_epi32(n, 5), tables->coarse[1]);
	__m512 fine = _mm512_permutex2var_ps(tables->fine[0], n, tables->fine[1]);
	__m512i exponent = _mm512_and_si512(
		_mm512_slli_epi32(n, 23 - SCALE_BITS), _mm512_set1_epi32((int)0xff800000));
	__m512i power =
		_mm512_add_epi32(_mm512_castps_si512(_mm512_mul_ps(coarse, fine)), exponent);

	return _mm512_cvtps_ph(
		_mm512_castsi512_ps(power), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The magnitude of 2^(n/k). */
INLINE __m512i
exp_words(const struct tables *tables, __m512i n)
{
	__m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(n));
	__m512i high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(n, 1));

	return join(power_of_two(tables, low), power_of_two(tables, high));
}

/* Magnitude and, of another word, the sign. */
INLINE __m512i
with_sign(__m512i magnitude, __m512i signs)
{
	/* sign ? signs : magnitude, bit by bit */
	return _mm512_ternarylogic_epi32(all(0x8000), signs, magnitude, 0xca);
}

INLINE __m512i
difference_of_signs(__m512i x, __m512i y)
{
	return _mm512_and_si512(_mm512_xor_si512(x, y), all(0x8000));
}

#endif /* VECTOR_LOG_WORDS_AVX512_H */
