/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LANES_AVX512_H
#define VECTOR_LANES_AVX512_H

/**
 * @file
 * Slots of packets to registers and back: what AVX-512 kernels share. A group is 32 lanes, a
 * register of 16-bit words.
 */

#include <immintrin.h>

#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

#define GROUP 32

struct words {
	__m512i x, y;
};

/* Exception flags so far, a bit per lane and flag. */
struct flags {
	__mmask32 invalid, divbyzero, overflow, underflow;
};

INLINE __m512i
all(int word)
{
	return _mm512_set1_epi16((short)word);
}

/* Between the byte order of packets and ours. */
INLINE __m512i
swap(__m512i words)
{
	const __m512i order = _mm512_set_epi64(0x0e0f0c0d0a0b0809, 0x0607040502030001,
		0x0e0f0c0d0a0b0809, 0x0607040502030001, 0x0e0f0c0d0a0b0809, 0x0607040502030001,
		0x0e0f0c0d0a0b0809, 0x0607040502030001);

	return _mm512_shuffle_epi8(words, order);
}

INLINE __m512i
join(__m256i low, __m256i high)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

INLINE __m512i
magnitude_of(__m512i words)
{
	return _mm512_and_si512(words, all(0x7fff));
}

/* The lanes of a block that a group has. */
INLINE __mmask32
lanes_of(unsigned int group, unsigned int count)
{
	unsigned int lanes = count - group * GROUP;

	return lanes >= GROUP ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
}

INLINE __m512i
load(const uint8_t *slots, __mmask32 lanes)
{
	if (lanes == UINT32_MAX)
		return _mm512_loadu_si512(slots);
	return _mm512_maskz_loadu_epi16(lanes, slots);
}

INLINE struct words
load_words(const uint8_t *x, const uint8_t *y, unsigned int group, __mmask32 lanes, bool subtract)
{
	struct words in = {
		swap(load(x + group * 2 * GROUP, lanes)), swap(load(y + group * 2 * GROUP, lanes))};

	if (subtract)
		in.y = _mm512_xor_si512(in.y, all(0x8000));
	return in;
}

/* What becomes of z and the flags: where packets lie, or where gathered lanes do. */
struct out {
	uint8_t *z;
	uint8_t *flags; /* NULL: a packet */
	__m512i change; /* of the packet's words */
	struct flags any;
};

/* Sums of pairs of words less 2^15 each. */
INLINE __m512i
sum_words(__m512i words)
{
	return _mm512_madd_epi16(_mm512_xor_si512(words, all(0x8000)), all(1));
}

INLINE void
store_flags(uint8_t *to, __mmask32 lanes, const struct flags *flags)
{
	__m256i bytes = _mm256_maskz_set1_epi8(flags->invalid, NETFC_INVALID);

	bytes = _mm256_mask_mov_epi8(bytes, flags->divbyzero, _mm256_set1_epi8(NETFC_DIVBYZERO));
	bytes = _mm256_mask_mov_epi8(bytes, flags->overflow, _mm256_set1_epi8(NETFC_OVERFLOW));
	bytes = _mm256_mask_mov_epi8(bytes, flags->underflow, _mm256_set1_epi8(NETFC_UNDERFLOW));
	_mm256_mask_storeu_epi8(to, lanes, bytes);
}

INLINE void
store_group(struct out *out, unsigned int group, __mmask32 lanes, __m512i z,
	const struct flags *flags, bool packet)
{
	uint8_t *to = out->z + group * 2 * GROUP;

	z = swap(z);
	if (packet) {
		__m512i before = load(to, lanes), after = _mm512_maskz_mov_epi16(lanes, z);

		out->change = _mm512_add_epi32(
			out->change, _mm512_sub_epi32(sum_words(after), sum_words(before)));
		out->any.invalid |= lanes & flags->invalid;
		out->any.divbyzero |= lanes & flags->divbyzero;
		out->any.overflow |= lanes & flags->overflow;
		out->any.underflow |= lanes & flags->underflow;
	} else {
		store_flags(out->flags + group * GROUP, lanes, flags);
	}
	if (lanes == UINT32_MAX)
		_mm512_storeu_si512(to, z);
	else
		_mm512_mask_storeu_epi16(to, lanes, z);
}

/* A packet's flags, or-ed. */
INLINE uint8_t
collect_flags(const struct flags *any)
{
	return (uint8_t)((any->invalid != 0) * NETFC_INVALID |
		(any->divbyzero != 0) * NETFC_DIVBYZERO | (any->overflow != 0) * NETFC_OVERFLOW |
		(any->underflow != 0) * NETFC_UNDERFLOW);
}

/* A packet's changes: a word that changes adds its complement, too, 2^16 - 1. */
INLINE uint64_t
collect_changes(__m512i change, uint32_t count)
{
	return (uint64_t)((int64_t)_mm512_reduce_add_epi32(change) + (int64_t)count * UINT16_MAX);
}

#endif /* VECTOR_LANES_AVX512_H */
