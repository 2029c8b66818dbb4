/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOATS_H
#define VECTOR_FLOATS_H

/**
 * @file
 * A register of words to two registers of binary32 and back, of formats that are part of it, for
 * the instruction set that a file is compiled for, to nearest, ties to even.
 */

#include "lanes/vec.h"

struct floats {
	native_floats low, high;
};

#if defined(__AVX512BW__)
#include "lanes/lanes_avx512.h"

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

#elif defined(__AVX2__)
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

#elif defined(__aarch64__)
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

#endif

typedef uint32_t vec32 __attribute__((vector_size(sizeof(native))));

/* A bfloat16 is the upper half of a float: `low` has lanes 0, 2, 4 ..., `high` the others. */
INLINE struct floats
from_bf16(native words)
{
	const vec32 pairs = (vec32)words;

	return (struct floats){(native_floats)(pairs << 16), (native_floats)(pairs & 0xffff0000)};
}

/* In the upper halves. A carry into the exponent is meant. */
INLINE vec32
round_to_bf16(vec32 bits)
{
	return bits + 0x7fff + (bits >> 16 & 1);
}

INLINE native
to_bf16(struct floats floats)
{
	return (native)(round_to_bf16((vec32)floats.low) >> 16 |
		(round_to_bf16((vec32)floats.high) & 0xffff0000));
}

#endif /* VECTOR_FLOATS_H */
