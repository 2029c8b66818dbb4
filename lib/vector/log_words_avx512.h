/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_WORDS_AVX512_H
#define VECTOR_LOG_WORDS_AVX512_H

/**
 * @file
 * Logarithms and powers of 32 lanes, from tables in registers: see log_registers.h. Forms are
 * constants wherever they are used.
 */

#include "log_cubics_avx512.h"
#include "log_fractions_avx512.h"
#include "log_lines_avx512.h"

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

INLINE struct words
load_operands(const enum log_form form, const struct group *group, bool subtract)
{
	struct words in = load_words(group, subtract && !is_posit(form));

	if (subtract && is_posit(form))
		in.y = _mm512_sub_epi16(_mm512_setzero_si512(), in.y);
	return in;
}

INLINE __m512i
difference_of_signs(__m512i x, __m512i y)
{
	return _mm512_and_si512(_mm512_xor_si512(x, y), all(0x8000));
}

#endif /* VECTOR_LOG_WORDS_AVX512_H */
