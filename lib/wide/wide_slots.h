/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIDE_SLOTS_H
#define WIDE_SLOTS_H

/** @file Slots of 32 bits of a packet. */

#include <stdint.h>

/** 32 bits of a packet, big-endian, wherever they are. */
typedef uint32_t wide_slot __attribute__((aligned(1), may_alias));

/** Between the byte order of packets and ours. Unlike rte_bswap32(), compilers can vectorise it. */
static inline uint32_t
wide_swap(uint32_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(word);
#else
	return word;
#endif
}

/** A slot's two words, added: less than 2^32 for as many slots as a datagram has. */
static inline uint32_t
wide_words(uint32_t slot)
{
	return (slot & UINT16_MAX) + (slot >> 16);
}

/**
 * What results change in a checksum: a word that changes adds its complement, too.
 *
 * @param before, after sums of wide_words() of all `count` results
 */
static inline uint64_t
wide_changes(uint32_t count, uint32_t before, uint32_t after)
{
	return (uint64_t)count * 2 * UINT16_MAX + after - before;
}

#endif /* WIDE_SLOTS_H */
