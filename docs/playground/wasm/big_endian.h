/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BIG_ENDIAN_H
#define BIG_ENDIAN_H

/**
 * @file
 * Values as they stand in packets.
 */

#include <stdint.h>

static inline void
put_big_endian(uint8_t *at, uint32_t word, unsigned int bytes)
{
	for (unsigned int byte = 0; byte < bytes; byte++)
		at[byte] = (uint8_t)(word >> 8 * (bytes - 1 - byte));
}

static inline uint32_t
get_big_endian(const uint8_t *at, unsigned int bytes)
{
	uint32_t word = 0;

	for (unsigned int byte = 0; byte < bytes; byte++)
		word = word << 8 | at[byte];
	return word;
}

#endif /* BIG_ENDIAN_H */
