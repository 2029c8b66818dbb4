/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/swap.h"

#include <endian.h>
#include <string.h>

/* The loops below are the compiler's to vectorize, for each instruction set. */
#ifdef HAVE_TARGET_CLONES
#define VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORIZED
#endif

VECTORIZED static void
swap_16(uint8_t *restrict to, const uint8_t *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t value;

		memcpy(&value, from + 2 * i, sizeof(value));
		value = htobe16(value);
		memcpy(to + 2 * i, &value, sizeof(value));
	}
}

VECTORIZED static void
swap_32(uint8_t *restrict to, const uint8_t *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		memcpy(&value, from + 4 * i, sizeof(value));
		value = htobe32(value);
		memcpy(to + 4 * i, &value, sizeof(value));
	}
}

VECTORIZED static void
swap_64(uint8_t *restrict to, const uint8_t *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, from + 8 * i, sizeof(value));
		value = htobe64(value);
		memcpy(to + 8 * i, &value, sizeof(value));
	}
}

void
swap_values(uint8_t *to, const uint8_t *from, size_t count, unsigned int value_bytes)
{
	if (value_bytes == 2)
		swap_16(to, from, count);
	else if (value_bytes == 8)
		swap_64(to, from, count);
	else
		swap_32(to, from, count);
}
