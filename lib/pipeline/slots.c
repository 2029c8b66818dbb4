/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "checksum.h"
#include "clones.h"
#include "mbuf_bytes.h"
#include "slots.h"

/* rte_bswap16() is assembly, which compilers cannot vectorise. */
static inline uint16_t
swap_bytes(uint16_t word)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return (uint16_t)(word << 8 | word >> 8);
#else
	return word;
#endif
}

VECTOR_CLONES void
slots_read(const void *slots, uint32_t *field, unsigned int count)
{
	const packet_word *restrict from = slots;
	uint32_t *restrict to = field;

	for (unsigned int l = 0; l < count; l++)
		to[l] = swap_bytes(from[l]);
}

VECTOR_CLONES void
slots_write(const uint32_t *field, void *slots, unsigned int count)
{
	const uint32_t *restrict from = field;
	packet_word *restrict to = slots;

	for (unsigned int l = 0; l < count; l++)
		to[l] = swap_bytes((uint16_t)from[l]);
}

VECTOR_CLONES uint32_t
slots_replace(void *slots, const uint16_t *by, unsigned int count)
{
	packet_word *restrict to = slots;
	const uint16_t *restrict from = by;
	uint32_t changes = 0;

	for (unsigned int l = 0; l < count; l++) {
		changes += checksum_change(to[l], from[l]);
		to[l] = from[l];
	}
	return changes;
}
