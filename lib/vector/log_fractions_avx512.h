/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_FRACTIONS_AVX512_H
#define VECTOR_LOG_FRACTIONS_AVX512_H

/** @file Logarithms and powers of bfloat16 from tables of its fraction: see log_registers.h. */

#include "lanes_avx512.h"
#include "log_registers.h"

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

#endif /* VECTOR_LOG_FRACTIONS_AVX512_H */
