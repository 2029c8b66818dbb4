/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_VEC_H
#define VECTOR_VEC_H

/**
 * @file
 * Registers of 16-bit words, of the instruction set that a file is compiled for. They are the
 * compiler's vectors, with its operators; comparisons make masks, and what compilers have no
 * operators for is an intrinsic function of each set.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <netfc.h>

#include "slots.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512BW__)
typedef __m512i native;
typedef __m512 native_floats;
typedef __mmask32 mask16; /* a bit of each lane */
#define MAX_UNSIGNED(a, b) (vec16) _mm512_max_epu16((native)(a), (native)(b))
#define ABSOLUTE(a) (vec16) _mm512_abs_epi16((native)(a))
#define GREATER(a, b) _mm512_cmpgt_epi16_mask((native)(a), (native)(b))
#define EQUAL(a, b) _mm512_cmpeq_epi16_mask((native)(a), (native)(b))
#define MASK_ALL UINT32_MAX
#else
#if defined(__AVX2__)
typedef __m256i native;
typedef __m256 native_floats;
#define MAX_UNSIGNED(a, b) (vec16) _mm256_max_epu16((native)(a), (native)(b))
#define ABSOLUTE(a) (vec16) _mm256_abs_epi16((native)(a))
#define ANY(mask) (_mm256_movemask_epi8((native)(mask)) != 0)
#elif defined(__aarch64__)
typedef uint16x8_t native;
typedef float32x4_t native_floats;
#define MAX_UNSIGNED(a, b) (vec16) vmaxq_u16((native)(a), (native)(b))
#define ABSOLUTE(a) (vec16) vabsq_s16((int16x8_t)(a))
#define ANY(mask) (vmaxvq_u16((native)(mask)) != 0)
#else
typedef int16_t native __attribute__((vector_size(16)));
#define ABSOLUTE(a) choose(negative(a), minus(a), a)
#endif
typedef int16_t mask16 __attribute__((vector_size(sizeof(native)))); /* all bits, or none */
#define GREATER(a, b) ((a) > (b))
#define EQUAL(a, b) ((a) == (b))
#define MASK_ALL ((mask16){0} - 1)
#endif

typedef int16_t vec16 __attribute__((vector_size(sizeof(native))));
typedef uint16_t vec16_unsigned __attribute__((vector_size(sizeof(native))));

#define VEC_LANES (sizeof(vec16) / sizeof(uint16_t))

/* By constants, too, nothing is left of a choice. */
INLINE vec16
choose(mask16 mask, vec16 yes, vec16 no)
{
#ifdef __AVX512BW__
	if (__builtin_constant_p(mask) && (mask == 0 || mask == MASK_ALL))
		return mask == 0 ? no : yes;
	return (vec16)_mm512_mask_mov_epi16((native)no, mask, (native)yes);
#else
	return (yes & mask) | (no & ~mask);
#endif
}

/* Exception flags of lanes. */
struct flags {
	mask16 invalid, divbyzero, overflow, underflow;
};

INLINE vec16
vec_load(const uint16_t *words)
{
	vec16 loaded;

	memcpy(&loaded, words, sizeof(loaded));
	return loaded;
}

INLINE void
vec_store(uint16_t *words, vec16 stored)
{
	memcpy(words, &stored, sizeof(stored));
}

INLINE vec16
all_words(int word)
{
	return (vec16){0} + (int16_t)word;
}

INLINE vec16
magnitudes(vec16 words)
{
	return words & 0x7fff;
}

INLINE mask16
negative(vec16 words)
{
	return GREATER(all_words(0), words);
}

/* Two's complements: that of the least number is itself. */
INLINE vec16
minus(vec16 words)
{
	return (vec16)((vec16_unsigned){0} - (vec16_unsigned)words);
}

/* Of every lane, if it is so. */
INLINE mask16
mask_if(bool all)
{
	return all ? MASK_ALL : MASK_ALL ^ MASK_ALL;
}

/* The same as words of enum netfc_flag. */
INLINE vec16
flag_words(const struct flags *flags)
{
	const vec16 none = all_words(0);

	return choose(flags->invalid, all_words(NETFC_INVALID), none) |
		choose(flags->divbyzero, all_words(NETFC_DIVBYZERO), none) |
		choose(flags->overflow, all_words(NETFC_OVERFLOW), none) |
		choose(flags->underflow, all_words(NETFC_UNDERFLOW), none);
}

#endif /* VECTOR_VEC_H */
