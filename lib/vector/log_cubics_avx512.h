/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_CUBICS_AVX512_H
#define VECTOR_LOG_CUBICS_AVX512_H

/** @file Logarithms and powers of binary16 and posits by cubics: see log_registers.h. */

#include "lanes_avx512.h"
#include "log_registers.h"

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
	__m512i low = _mm512_castps_si512(_mm512_cvtph_ps(_mm512_castsi512_si256(magnitude)));
	__m512i high =
		_mm512_castps_si512(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(magnitude, 1)));
	__m512i bits = high_words(_mm512_slli_epi32(low, 3), _mm512_slli_epi32(high, 3));

	return _mm512_sub_epi16(bits, all(0x7f << FRACTION_BITS));
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
		.greatest = all(kernel->greatest),
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
	__m512i run = leading_zeros(_mm512_or_si512(_mm512_xor_si512(bits, ones), all(1)));
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

/* To nearest, ties to even. */
INLINE __m512i
round_posit(__m512i bits)
{
	__m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, POSIT_SHIFT), wide(1));
	__m512i half = wide((1 << (POSIT_SHIFT - 1)) - 1);

	return _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, half)), POSIT_SHIFT);
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

	return round_posit(_mm512_srav_epi32(bits, _mm512_xor_si512(regime, negative)));
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

#endif /* VECTOR_LOG_CUBICS_AVX512_H */
