/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_SLOTS_H
#define VECTOR_SLOTS_H

/** @file Slots of a packet one by one: big-endian, 8, 16 or 32 bits, at any address. */

#include <stddef.h>
#include <stdint.h>

/** What is for loops over lanes: all of it becomes part of the loop. */
#define INLINE static inline __attribute__((always_inline))

typedef uint16_t slot16 __attribute__((aligned(1), may_alias));
typedef uint32_t slot32 __attribute__((aligned(1), may_alias));

/** Between the byte order of packets and ours. Unlike rte_bswap16(), compilers can vectorise it. */
static inline uint16_t
slot16_swap(uint16_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint16_t)(word << 8 | word >> 8);
#else
	return word;
#endif
}

/** Likewise. */
static inline uint32_t
slot32_swap(uint32_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(word);
#else
	return word;
#endif
}

/*
 * Slots of 8, 16 or 32 bits, which are best a constant.
 */

/** Bytes of an operand's slots: it is filled up to an even number of them. */
static inline uint32_t
slots_bytes(uint32_t lanes, const unsigned int bits)
{
	return bits == 8 ? lanes + lanes % 2 : lanes * bits / 8;
}

/** A slot as it stands. */
static inline uint32_t
slot_load(const void *slots, uint32_t lane, const unsigned int bits)
{
	return bits == 8     ? ((const uint8_t *)slots)[lane]
		: bits == 16 ? ((const slot16 *)slots)[lane]
			     : ((const slot32 *)slots)[lane];
}

static inline void
slot_store(void *slots, uint32_t lane, const unsigned int bits, uint32_t slot)
{
	if (bits == 8)
		((uint8_t *)slots)[lane] = (uint8_t)slot;
	else if (bits == 16)
		((slot16 *)slots)[lane] = (uint16_t)slot;
	else
		((slot32 *)slots)[lane] = slot;
}

/** Between a slot as it stands and its number. */
static inline uint32_t
slot_swap(uint32_t slot, const unsigned int bits)
{
	return bits == 8 ? slot : bits == 16 ? slot16_swap((uint16_t)slot) : slot32_swap(slot);
}

/** A slot's words of 16 bits, added: less than 2^32 for as many slots as a datagram has. */
static inline uint32_t
slot_words(uint32_t slot, const unsigned int bits)
{
	return bits == 32 ? (slot & UINT16_MAX) + (slot >> 16) : (uint16_t)slot;
}

/** The sum of the words of slots; `bytes` is even, and less than 2^17. */
static inline uint64_t
slots_sum(const uint8_t *slots, uint32_t bytes)
{
	const slot16 *words = (const slot16 *)slots;
	uint32_t sum = 0;

	for (uint32_t w = 0; w < bytes / 2; w++)
		sum += words[w];
	return sum;
}

/**
 * What results change in a checksum: a word that changes adds its complement, too.
 *
 * @param words of 16 bits, that results have
 * @param before, after sums of all these words
 */
static inline uint64_t
slots_changes(uint32_t words, uint64_t before, uint64_t after)
{
	return (uint64_t)words * UINT16_MAX + after - before;
}

#endif /* VECTOR_SLOTS_H */
