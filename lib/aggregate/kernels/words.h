/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORDS_H
#define WORDS_H

/**
 * @file
 * As many 64-bit words as the instruction set has in a vector, and what C has no operator for: an
 * algorithm that is written with these is the same one everywhere. In plain C a vector is a word.
 */

#include <string.h>

#include "sums/number.h"

#if defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>

#define WORDS 8
typedef uint64_t words __attribute__((vector_size(64)));
typedef uint32_t halves __attribute__((vector_size(64)));
typedef uint32_t lower_halves __attribute__((vector_size(32)));

INLINE words
words_swap(words values)
{
	return (words)_mm512_shuffle_epi8((__m512i)values,
		_mm512_broadcast_i32x4(
			_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)));
}

INLINE words
words_least(words a, words b)
{
	return (words)_mm512_min_epu64((__m512i)a, (__m512i)b);
}

/* Signed; all places from 0 to 64. */
INLINE words
words_shift_right(words values, words places)
{
	return (words)_mm512_srav_epi64((__m512i)values, (__m512i)places);
}

INLINE __mmask8
words_mask(uint32_t left)
{
	return (__mmask8)(left >= WORDS ? 0xff : (1u << left) - 1);
}

/* As many as are left, at least one, and 0 from there on. */
INLINE words
words_load_some(const void *at, uint32_t left)
{
	return (words)_mm512_maskz_loadu_epi64(words_mask(left), at);
}

INLINE void
words_store_some(void *at, words values, uint32_t left)
{
	_mm512_mask_storeu_epi64(at, words_mask(left), (__m512i)values);
}

#elif defined(__AVX2__)
#include <immintrin.h>

#define WORDS 4
typedef uint64_t words __attribute__((vector_size(32)));
typedef uint32_t halves __attribute__((vector_size(32)));
typedef uint32_t lower_halves __attribute__((vector_size(16)));

INLINE words
words_swap(words values)
{
	return (words)_mm256_shuffle_epi8((__m256i)values,
		_mm256_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
			0x0001020304050607));
}

INLINE words
words_shift_right(words values, words places)
{
	const words sign = (words)_mm256_cmpgt_epi64(_mm256_setzero_si256(), (__m256i)values);

	return (words)_mm256_srlv_epi64((__m256i)(values ^ sign), (__m256i)places) ^ sign;
}

INLINE __m256i
words_mask(uint32_t left)
{
	return _mm256_cmpgt_epi64(_mm256_set1_epi64x(left), _mm256_set_epi64x(3, 2, 1, 0));
}

INLINE words
words_load_some(const void *at, uint32_t left)
{
	return (words)_mm256_maskload_epi64(at, words_mask(left));
}

INLINE void
words_store_some(void *at, words values, uint32_t left)
{
	_mm256_maskstore_epi64(at, words_mask(left), (__m256i)values);
}

#elif defined(__aarch64__)
#include <arm_neon.h>

#define WORDS 2
typedef uint64_t words __attribute__((vector_size(16)));
typedef uint32_t halves __attribute__((vector_size(16)));
typedef uint32_t lower_halves __attribute__((vector_size(8)));

INLINE words
words_swap(words values)
{
	return (words)vrev64q_u8((uint8x16_t)values);
}

INLINE words
words_shift_right(words values, words places)
{
	return (words)vshlq_s64((int64x2_t)values, -(int64x2_t)places);
}

INLINE words
words_load_some(const void *at, uint32_t left)
{
	uint64x1_t first;

	if (left >= WORDS)
		return (words)vreinterpretq_u64_u8(vld1q_u8(at));
	first = vreinterpret_u64_u8(vld1_u8(at));
	return (words)vcombine_u64(first, vdup_n_u64(0));
}

INLINE void
words_store_some(void *at, words values, uint32_t left)
{
	if (left >= WORDS)
		vst1q_u8(at, (uint8x16_t)values);
	else
		vst1_u8(at, vget_low_u8((uint8x16_t)values));
}

#else

#define WORDS 1
typedef uint64_t words;

INLINE words
words_swap(words value)
{
	return __builtin_bswap64(value);
}

INLINE words
words_least(words a, words b)
{
	return a < b ? a : b;
}

INLINE words
words_shift_right(words value, words places)
{
	const words sign = -(value >> 63);

	return places > 62 ? sign : (words)((int64_t)value >> places);
}

INLINE words
words_load_some(const void *at, uint32_t left)
{
	words value;

	(void)left;
	memcpy(&value, at, sizeof(value));
	return value;
}

INLINE void
words_store_some(void *at, words value, uint32_t left)
{
	(void)left;
	memcpy(at, &value, sizeof(value));
}

#endif

#if WORDS > 1
typedef double doubles __attribute__((vector_size(8 * WORDS)));

/* a + b, and what its rounding lost (Knuth, Seminumerical Algorithms, 4.2.2, theorem B). */
INLINE doubles
two_sum(doubles a, doubles b, doubles *lost)
{
	const doubles sum = a + b, of_b = sum - a;

	*lost = (a - (sum - of_b)) + (b - of_b);
	return sum;
}
#endif

/* All bits where a < b, or none. */
INLINE words
words_less(words a, words b)
{
#if WORDS == 1
	return -(words)(a < b);
#else
	return (words)(a < b);
#endif
}

#if WORDS == 2 || WORDS == 4
INLINE words
words_least(words a, words b)
{
	const words less = (words)(a < b);

	return (a & less) | (b & ~less);
}

#endif

INLINE words
words_all(uint64_t value)
{
	return value - (words){0};
}

INLINE words
words_load(const uint64_t *at)
{
	words values;

	memcpy(&values, at, sizeof(values));
	return values;
}

INLINE void
words_store(uint64_t *at, words values)
{
	memcpy(at, &values, sizeof(values));
}

/* Values of packets, 0 from `left` on. */
INLINE words
words_load_values(const uint8_t *values, uint32_t left)
{
	return words_swap(words_load_some(values, left));
}

INLINE void
words_store_values(uint8_t *values, words numbers, uint32_t left)
{
	words_store_some(values, words_swap(numbers), left);
}

/* The bits of any. */
INLINE uint64_t
words_or(words values)
{
	uint64_t all[WORDS], any = 0;

	memcpy(all, &values, sizeof(values));
	for (uint32_t w = 0; w < WORDS; w++)
		any |= all[w];
	return any;
}

INLINE bool
words_any(words values)
{
#if WORDS == 8
	return _mm512_test_epi64_mask((__m512i)values, (__m512i)values) != 0;
#elif WORDS == 4
	return !_mm256_testz_si256((__m256i)values, (__m256i)values);
#else
	return words_or(values) != 0;
#endif
}

#endif /* WORDS_H */
