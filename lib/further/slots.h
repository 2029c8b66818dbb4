/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FURTHER_SLOTS_H
#define FURTHER_SLOTS_H

/** @file Slots of a packet, one by one. */

#include <stdint.h>

/** 16 bits of a packet, big-endian, wherever they are. */
typedef uint16_t slot __attribute__((aligned(1), may_alias));

/* Lanes do not depend on each other: leave the processor more of them than loop. */
#define SLOTS_UNROLL _Pragma("GCC unroll 8")

/** Between the byte order of packets and ours. Unlike rte_bswap16(), compilers can vectorise it. */
static inline uint16_t
slot_swap(uint16_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint16_t)(word << 8 | word >> 8);
#else
	return word;
#endif
}

#endif /* FURTHER_SLOTS_H */
