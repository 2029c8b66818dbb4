/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOATS_H
#define VECTOR_FLOATS_H

/**
 * @file
 * A register of words to two registers of binary32 and back, of formats that are part of it, for
 * the instruction set that a file is compiled for.
 *
 * A bfloat16 is the upper half of a float. It is rounded to nearest, ties to even, and a carry into
 * the exponent is meant. Where AVX unpacks words out of order, it packs them back into order.
 */

#if defined(__AVX512BW__)
#include "lanes/lanes_avx512.h"

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

INLINE struct floats
from_bf16(__m512i words)
{
	const __m512i zero = _mm512_setzero_si512();

	return (struct floats){_mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, words)),
		_mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, words))};
}

INLINE __m512i
to_bf16(struct floats floats)
{
	return _mm512_packus_epi32(round_off(_mm512_castps_si512(floats.low), 16),
		round_off(_mm512_castps_si512(floats.high), 16));
}

#elif defined(__AVX2__)
#include "lanes/vec.h"

struct floats {
	__m256 low, high;
};

INLINE struct floats
from_fp16(__m256i words)
{
	return (struct floats){_mm256_cvtph_ps(_mm256_castsi256_si128(words)),
		_mm256_cvtph_ps(_mm256_extracti128_si256(words, 1))};
}

INLINE __m256i
to_fp16(struct floats floats)
{
	return _mm256_set_m128i(
		_mm256_cvtps_ph(floats.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
		_mm256_cvtps_ph(floats.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

INLINE struct floats
from_bf16(__m256i words)
{
	const __m256i zero = _mm256_setzero_si256();

	return (struct floats){_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, words)),
		_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, words))};
}

INLINE __m256i
upper_half(__m256 value)
{
	const __m256i bits = _mm256_castps_si256(value);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
	const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));

	return _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
}

INLINE __m256i
to_bf16(struct floats floats)
{
	return _mm256_packus_epi32(upper_half(floats.low), upper_half(floats.high));
}

#elif defined(__aarch64__)
#include "lanes/vec.h"

struct floats {
	float32x4_t low, high;
};

INLINE struct floats
from_fp16(uint16x8_t words)
{
	const float16x8_t number = vreinterpretq_f16_u16(words);

	return (struct floats){vcvt_f32_f16(vget_low_f16(number)), vcvt_high_f32_f16(number)};
}

INLINE uint16x8_t
to_fp16(struct floats floats)
{
	return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(floats.low), floats.high));
}

INLINE struct floats
from_bf16(uint16x8_t words)
{
	const uint16x8_t zero = vdupq_n_u16(0);

	return (struct floats){vreinterpretq_f32_u16(vzip1q_u16(zero, words)),
		vreinterpretq_f32_u16(vzip2q_u16(zero, words))};
}

INLINE uint16x8_t
rounded(float32x4_t value)
{
	const uint32x4_t bits = vreinterpretq_u32_f32(value);
	const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));

	return vreinterpretq_u16_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd));
}

INLINE uint16x8_t
to_bf16(struct floats floats)
{
	return vuzp2q_u16(rounded(floats.low), rounded(floats.high));
}
#endif

#endif /* VECTOR_FLOATS_H */
