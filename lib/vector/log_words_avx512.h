/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_WORDS_AVX512_H
#define VECTOR_LOG_WORDS_AVX512_H

/**
 * @file
 * Logarithms and powers of 32 lanes, from tables in registers: see log_registers.h. Forms are
 * constants wherever they are used.
 */

#include "log_cubics_avx512.h"

/* ---- binary16 by lines ---- */

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

/* ---- bfloat16 from tables of its fraction ---- */

#define BFLOAT16_FRACTION_BITS 7
#define BFLOAT16_BIAS 127

/* Entries, 32 to a register. */
struct fraction_table {
	__m512i entries[FRACTION_ENTRIES / GROUP];
};

struct fractions {
	struct fraction_table table[FRACTION_TABLES];
	__m128i scale_bits;
};

INLINE struct fractions
load_fractions(const struct log_registers *kernel)
{
	struct fractions fractions = {.scale_bits = _mm_cvtsi32_si128((int)kernel->scale_bits)};

	for (unsigned int t = 0; t < FRACTION_TABLES; t++) {
		for (unsigned int e = 0; e < FRACTION_ENTRIES / GROUP; e++)
			fractions.table[t].entries[e] =
				_mm512_load_si512(kernel->fraction[t] + e * GROUP);
	}
	return fractions;
}

/* By the index' low 7 bits. */
INLINE __m512i
look_up_fraction(const struct fraction_table *table, __m512i index)
{
	const __m512i *entries = table->entries;

	return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(index, all(FRACTION_ENTRIES / 2)),
		_mm512_permutex2var_epi16(entries[0], index, entries[1]),
		_mm512_permutex2var_epi16(entries[2], index, entries[3]));
}

INLINE __m512i
log_by_fractions(const struct fractions *fractions, __m512i magnitude)
{
	__m512i exponent = _mm512_srli_epi16(magnitude, BFLOAT16_FRACTION_BITS);
	__m512i scaled = _mm512_sll_epi16(
		_mm512_sub_epi16(exponent, all(BFLOAT16_BIAS)), fractions->scale_bits);
	__m512i normal = _mm512_add_epi16(
		look_up_fraction(&fractions->table[LOG_OF_FRACTION], magnitude), scaled);

	return _mm512_mask_mov_epi16(normal, _mm512_testn_epi16_mask(exponent, exponent),
		look_up_fraction(&fractions->table[LOG_OF_SUBNORMAL], magnitude));
}

/* Subnormal results are multiples of the least number. */
INLINE __m512i
exp_by_fractions(const struct fractions *fractions, __m512i n)
{
	const __m512i inf = all(0xff << BFLOAT16_FRACTION_BITS), least = all(1 - BFLOAT16_BIAS);
	__m512i scale = _mm512_sra_epi16(n, fractions->scale_bits);
	__m512i normal = _mm512_add_epi16(look_up_fraction(&fractions->table[EXP_MAGNITUDE], n),
		_mm512_slli_epi16(
			_mm512_min_epi16(scale, all(BFLOAT16_BIAS + 1)), BFLOAT16_FRACTION_BITS));
	__m512i places = _mm512_sub_epi16(all(1 - BFLOAT16_BIAS + BFLOAT16_FRACTION_BITS), scale);
	__m512i halves =
		_mm512_srlv_epi16(look_up_fraction(&fractions->table[EXP_SIGNIFICAND], n), places);

	return _mm512_mask_avg_epu16(_mm512_min_epu16(normal, inf),
		_mm512_cmplt_epi16_mask(scale, least), halves, _mm512_setzero_si512());
}

/* ---- any form ---- */

/* Of the kernel's form; the others' are not used. */
struct tables {
	struct lines lines;
	struct fractions fractions;
	struct cubics cubics;
};

INLINE struct tables
load_tables(const struct log_registers *kernel)
{
	return (struct tables){load_lines(kernel), load_fractions(kernel), load_cubics(kernel)};
}

/* The log word of a finite magnitude other than zero. */
INLINE __m512i
log_words(const struct tables *tables, const enum log_form form, __m512i magnitude)
{
	if (form == LOG_LINES)
		return log_by_lines(&tables->lines, magnitude);
	if (form == LOG_FRACTIONS)
		return log_by_fractions(&tables->fractions, magnitude);
	return log_by_cubics(&tables->cubics, form, magnitude);
}

/* The magnitude of 2^(n/k). */
INLINE __m512i
exp_words(const struct tables *tables, const enum log_form form, __m512i n)
{
	if (form == LOG_LINES)
		return exp_by_lines(&tables->lines, n);
	if (form == LOG_FRACTIONS)
		return exp_by_fractions(&tables->fractions, n);
	return exp_by_cubics(&tables->cubics, form, n);
}

INLINE bool
is_posit(const enum log_form form)
{
	return form == LOG_CUBICS_POSIT;
}

/* A posit that is negative is a two's complement. NaR's magnitude is the greatest. */
INLINE __m512i
size_of(const enum log_form form, __m512i words)
{
	return is_posit(form) ? _mm512_abs_epi16(words) : magnitude_of(words);
}

/* Magnitude and, of another word, the sign. */
INLINE __m512i
with_sign(const enum log_form form, __m512i magnitude, __m512i signs)
{
	if (is_posit(form))
		return _mm512_mask_sub_epi16(
			magnitude, _mm512_movepi16_mask(signs), _mm512_setzero_si512(), magnitude);
	/* sign ? signs : magnitude, bit by bit */
	return _mm512_ternarylogic_epi32(all(0x8000), signs, magnitude, 0xca);
}

/* To be added: y negated where it is to be subtracted. */
INLINE struct words
load_operands(const enum log_form form, const struct group *group, __mmask32 subtract)
{
	struct words in = load_words(group, false);

	if (is_posit(form))
		in.y = _mm512_mask_sub_epi16(in.y, subtract, _mm512_setzero_si512(), in.y);
	else
		in.y = _mm512_xor_si512(in.y, _mm512_maskz_set1_epi16(subtract, INT16_MIN));
	return in;
}

INLINE __m512i
difference_of_signs(__m512i x, __m512i y)
{
	return _mm512_and_si512(_mm512_xor_si512(x, y), all(0x8000));
}

#endif /* VECTOR_LOG_WORDS_AVX512_H */
