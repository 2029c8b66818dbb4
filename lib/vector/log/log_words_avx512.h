/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_WORDS_AVX512_H
#define VECTOR_LOG_WORDS_AVX512_H

/**
 * @file
 * Logarithms and powers of 32 lanes, from tables in registers: see log_registers.h. Forms are
 * constants wherever they are used.
 */

#include "lanes/floats.h"
#include "lanes/lanes_avx512.h"
#include "log/log_registers.h"

/* ---- a group's words as two registers of 32 bits a lane, and back ---- */

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
	struct floats floats = from_fp16(magnitude);
	__m512i bits = high_words(_mm512_slli_epi32(_mm512_castps_si512(floats.low), 3),
		_mm512_slli_epi32(_mm512_castps_si512(floats.high), 3));

	return _mm512_sub_epi16(bits, splat(0x7f << FRACTION_BITS));
}

/* ---- cubics ---- */

/* A float's fraction and the exponent of 1.0. */
#define FLOAT_FRACTION_BITS 23
#define FLOAT_BIAS 127
#define FLOAT_FRACTION ((1 << FLOAT_FRACTION_BITS) - 1)

/* A part is told by the first bits of a fraction of 16; these are the others. */
#define ALONG_BITS 12

/* A posit's magnitude in the upper bits of 32: its regime is the first thing there. */
#define POSIT_SHIFT 17
#define POSIT_BEHIND_ENDS 0x3fffffff

struct cubics {
	__m512 term[CUBIC_TERMS];
	__m512 coarse[2], fine;
	__m128i scale_bits;
	/* Of a posit. */
	__m128i exponent_bits, rest_bits, fraction_shift;
	__m512i greatest; /* n of the greatest number */
};

/* 2^scale times 1 and a fraction of 16 bits. */
struct number {
	__m512i scale, fraction;
};

INLINE __m512i
wide(int word)
{
	return _mm512_set1_epi32(word);
}

INLINE struct cubics
load_cubics(const struct log_registers *kernel)
{
	const int es = (int)kernel->exponent_bits;
	struct cubics cubics = {
		.coarse = {_mm512_load_ps(kernel->coarse), _mm512_load_ps(kernel->coarse + 16)},
		.fine = _mm512_load_ps(kernel->fine),
		.scale_bits = _mm_cvtsi32_si128((int)kernel->scale_bits),
		.exponent_bits = _mm_cvtsi32_si128(es),
		.rest_bits = _mm_cvtsi32_si128(16 - es),
		/* Behind a regime of two bits and the exponent. */
		.fraction_shift = _mm_cvtsi32_si128(30 - es - FLOAT_FRACTION_BITS),
		.greatest = splat(kernel->greatest),
	};

	for (unsigned int t = 0; t < CUBIC_TERMS; t++)
		cubics.term[t] = _mm512_load_ps(kernel->cubic[t]);
	return cubics;
}

INLINE struct number
number_of_binary16(__m512i magnitude)
{
	__m512i number = normalise(magnitude);

	return (struct number){_mm512_srai_epi16(number, FRACTION_BITS),
		_mm512_slli_epi16(number, 16 - FRACTION_BITS)};
}

/* A run of n ones and a zero is the regime n - 1, a run of n zeros and a one -n: the complement. */
INLINE struct number
number_of_posit(const struct cubics *cubics, __m512i magnitude)
{
	__m512i bits = _mm512_slli_epi16(magnitude, 1), ones = _mm512_srai_epi16(bits, 15);
	__m512i run = leading_zeros(_mm512_or_si512(_mm512_xor_si512(bits, ones), splat(1)));
	__m512i regime = _mm512_xor_si512(_mm512_sub_epi16(_mm512_setzero_si512(), run), ones);
	__m512i rest = _mm512_sllv_epi16(_mm512_add_epi16(bits, bits), run);

	return (struct number){
		_mm512_add_epi16(_mm512_sll_epi16(regime, cubics->exponent_bits),
			_mm512_srl_epi16(rest, cubics->rest_bits)),
		_mm512_sll_epi16(rest, cubics->exponent_bits),
	};
}

/* k times the logarithm of 1 and a fraction, rounded. */
INLINE __m512i
log_of_half(const struct cubics *cubics, __m512i fraction)
{
	__m512i part = _mm512_srli_epi32(fraction, ALONG_BITS);
	__m512 along = _mm512_cvtepi32_ps(_mm512_and_si512(fraction, wide((1 << ALONG_BITS) - 1)));
	__m512 word = _mm512_permutexvar_ps(part, cubics->term[CUBIC_TERMS - 1]);

	for (int t = CUBIC_TERMS - 2; t >= 0; t--)
		word = _mm512_fmadd_ps(word, along, _mm512_permutexvar_ps(part, cubics->term[t]));
	return _mm512_cvtps_epi32(word);
}

/* `form` is a constant wherever this is used. */
INLINE __m512i
log_by_cubics(const struct cubics *cubics, const enum log_form form, __m512i magnitude)
{
	struct number number = form == LOG_CUBICS_POSIT ? number_of_posit(cubics, magnitude)
							: number_of_binary16(magnitude);
	struct halves fraction = unsigned_halves(number.fraction);
	__m512i word =
		low_words(log_of_half(cubics, fraction.low), log_of_half(cubics, fraction.high));

	return _mm512_add_epi16(word, _mm512_sll_epi16(number.scale, cubics->scale_bits));
}

/* 2^scale times a float of 1.0 to 2.0. Beyond these scales all is infinity, or zero. */
INLINE __m512i
binary16_of(__m512i scale, __m512i significand)
{
	__m512i bounded = _mm512_max_epi32(_mm512_min_epi32(scale, wide(40)), wide(-40));
	__m512i bits =
		_mm512_add_epi32(significand, _mm512_slli_epi32(bounded, FLOAT_FRACTION_BITS));

	return _mm512_cvtepu16_epi32(_mm512_cvtps_ph(
		_mm512_castsi512_ps(bits), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* mask ? yes : no, bit by bit */
INLINE __m512i
choose_bits(__m512i mask, __m512i yes, __m512i no)
{
	return _mm512_ternarylogic_epi32(mask, yes, no, 0xca);
}

/*
 * The regime's two last bits, exponent and fraction; an arithmetic shift makes the regime's run.
 * The scale is one that posits have.
 */
INLINE __m512i
posit_of(const struct cubics *cubics, __m512i scale, __m512i significand)
{
	__m512i regime = _mm512_sra_epi32(scale, cubics->exponent_bits);
	__m512i negative = _mm512_srai_epi32(regime, 31);
	__m512i ends = choose_bits(negative, wide(1 << 30), wide(INT32_MIN));
	__m512i behind = choose_bits(
		wide(FLOAT_FRACTION), significand, _mm512_slli_epi32(scale, FLOAT_FRACTION_BITS));
	__m512i bits = choose_bits(
		wide(POSIT_BEHIND_ENDS), _mm512_sll_epi32(behind, cubics->fraction_shift), ends);

	return round_off(_mm512_srav_epi32(bits, _mm512_xor_si512(regime, negative)), POSIT_SHIFT);
}

INLINE __m512i
exp_of_half(const struct cubics *cubics, const enum log_form form, __m512i n)
{
	__m512 coarse = _mm512_permutex2var_ps(
		cubics->coarse[0], _mm512_srli_epi32(n, 4), cubics->coarse[1]);
	__m512i significand =
		_mm512_castps_si512(_mm512_mul_ps(coarse, _mm512_permutexvar_ps(n, cubics->fine)));
	__m512i scale = _mm512_sra_epi32(n, cubics->scale_bits);

	return form == LOG_CUBICS_POSIT ? posit_of(cubics, scale, significand)
					: binary16_of(scale, significand);
}

INLINE __m512i
exp_by_cubics(const struct cubics *cubics, const enum log_form form, __m512i n)
{
	const __m512i least = _mm512_sub_epi16(_mm512_setzero_si512(), cubics->greatest);
	struct halves halves;

	if (form == LOG_CUBICS_POSIT)
		n = _mm512_max_epi16(_mm512_min_epi16(n, cubics->greatest), least);
	halves = signed_halves(n);
	return low_words(
		exp_of_half(cubics, form, halves.low), exp_of_half(cubics, form, halves.high));
}

/* ---- binary16 by lines ---- */

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
	__m512i along = _mm512_and_si512(number, splat(SEGMENT - 1));
	__m512i line = _mm512_add_epi16(base, _mm512_mullo_epi16(slope, along));

	return _mm512_add_epi16(number, _mm512_srli_epi16(line, LINE_BITS));
}

INLINE __m512
power_of_two(const struct lines *lines, __m512i n)
{
	__m512 coarse =
		_mm512_permutex2var_ps(lines->coarse[0], _mm512_srli_epi32(n, 5), lines->coarse[1]);
	__m512 fine = _mm512_permutex2var_ps(lines->fine[0], n, lines->fine[1]);
	__m512i exponent = _mm512_and_si512(
		_mm512_slli_epi32(n, 23 - FRACTION_BITS), _mm512_set1_epi32((int)0xff800000));
	__m512i power =
		_mm512_add_epi32(_mm512_castps_si512(_mm512_mul_ps(coarse, fine)), exponent);

	return _mm512_castsi512_ps(power);
}

INLINE __m512i
exp_by_lines(const struct lines *lines, __m512i n)
{
	struct halves halves = signed_halves(n);

	return to_fp16(
		(struct floats){power_of_two(lines, halves.low), power_of_two(lines, halves.high)});
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

	return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(index, splat(FRACTION_ENTRIES / 2)),
		_mm512_permutex2var_epi16(entries[0], index, entries[1]),
		_mm512_permutex2var_epi16(entries[2], index, entries[3]));
}

INLINE __m512i
log_by_fractions(const struct fractions *fractions, __m512i magnitude)
{
	__m512i exponent = _mm512_srli_epi16(magnitude, BFLOAT16_FRACTION_BITS);
	__m512i scaled = _mm512_sll_epi16(
		_mm512_sub_epi16(exponent, splat(BFLOAT16_BIAS)), fractions->scale_bits);
	__m512i normal = _mm512_add_epi16(
		look_up_fraction(&fractions->table[LOG_OF_FRACTION], magnitude), scaled);

	return _mm512_mask_mov_epi16(normal, _mm512_testn_epi16_mask(exponent, exponent),
		look_up_fraction(&fractions->table[LOG_OF_SUBNORMAL], magnitude));
}

/* Subnormal results are multiples of the least number. */
INLINE __m512i
exp_by_fractions(const struct fractions *fractions, __m512i n)
{
	const __m512i inf = splat(0xff << BFLOAT16_FRACTION_BITS), least = splat(1 - BFLOAT16_BIAS);
	__m512i scale = _mm512_sra_epi16(n, fractions->scale_bits);
	__m512i normal = _mm512_add_epi16(look_up_fraction(&fractions->table[EXP_MAGNITUDE], n),
		_mm512_slli_epi16(
			_mm512_min_epi16(scale, splat(BFLOAT16_BIAS + 1)), BFLOAT16_FRACTION_BITS));
	__m512i places = _mm512_sub_epi16(splat(1 - BFLOAT16_BIAS + BFLOAT16_FRACTION_BITS), scale);
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
magnitude_by_form(const enum log_form form, __m512i words)
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
	return choose_bits(splat(0x8000), signs, magnitude);
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
	return _mm512_and_si512(_mm512_xor_si512(x, y), splat(0x8000));
}

#endif /* VECTOR_LOG_WORDS_AVX512_H */
