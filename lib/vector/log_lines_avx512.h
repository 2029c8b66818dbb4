/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_LINES_AVX512_H
#define VECTOR_LOG_LINES_AVX512_H

/** @file Logarithms and powers of binary16 by lines: see log_registers.h. */

#include "halves_avx512.h"
#include "log_registers.h"

#define SCALE_BITS 10

struct lines {
	__m512i base[2], slope[2];
	__m512 coarse[2], fine[2];
};

INLINE struct lines
load_lines(const struct log_registers *kernel)
{
	return (struct lines){
		{_mm512_load_si512(kernel->base), _mm512_load_si512(kernel->base + 32)},
		{_mm512_load_si512(kernel->slope), _mm512_load_si512(kernel->slope + 32)},
		{_mm512_load_ps(kernel->coarse), _mm512_load_ps(kernel->coarse + 16)},
		{_mm512_load_ps(kernel->fine), _mm512_load_ps(kernel->fine + 16)},
	};
}

INLINE __m512i
log_by_lines(const struct lines *lines, __m512i magnitude)
{
	__m512i number = normalise(magnitude);
	__m512i segment = _mm512_srli_epi16(number, SEGMENT_BITS);
	__m512i base = _mm512_permutex2var_epi16(lines->base[0], segment, lines->base[1]);
	__m512i slope = _mm512_permutex2var_epi16(lines->slope[0], segment, lines->slope[1]);
	__m512i along = _mm512_and_si512(number, all(SEGMENT - 1));
	__m512i line = _mm512_add_epi16(base, _mm512_mullo_epi16(slope, along));

	return _mm512_add_epi16(number, _mm512_srli_epi16(line, LINE_BITS));
}

INLINE __m256i
power_of_two(const struct lines *lines, __m512i n)
{
	__m512 coarse =
		_mm512_permutex2var_ps(lines->coarse[0], _mm512_srli_epi32(n, 5), lines->coarse[1]);
	__m512 fine = _mm512_permutex2var_ps(lines->fine[0], n, lines->fine[1]);
	__m512i exponent = _mm512_and_si512(
		_mm512_slli_epi32(n, 23 - SCALE_BITS), _mm512_set1_epi32((int)0xff800000));
	__m512i power =
		_mm512_add_epi32(_mm512_castps_si512(_mm512_mul_ps(coarse, fine)), exponent);

	return _mm512_cvtps_ph(
		_mm512_castsi512_ps(power), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE __m512i
exp_by_lines(const struct lines *lines, __m512i n)
{
	struct halves halves = signed_halves(n);

	return join(power_of_two(lines, halves.low), power_of_two(lines, halves.high));
}

#endif /* VECTOR_LOG_LINES_AVX512_H */
