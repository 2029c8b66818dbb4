/* SPDX-License-Identifier: BSD-3-Clause */
#include "clones.h"
#include "ones.h"

/* The status in the word that it shares with the format, as this processor reads it. */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define STATUS_SHIFT 8
#else
#define STATUS_SHIFT 0
#endif

/* One's complement addition (RFC 1071). */
static inline uint16_t
add_words(uint16_t a, uint16_t b)
{
	uint16_t sum = (uint16_t)(a + b);

	return (uint16_t)(sum + (sum < a));
}

/* The checksums after z and status have changed (RFC 1624), without a branch. */
static VECTOR_CLONES void
update_checksums(struct ones *ones, unsigned int count)
{
	uint16_t *restrict checksum = ones->checksum;
	const uint16_t *restrict z = ones->z, *restrict before = ones->z_before;
	const uint8_t *restrict flags = ones->flags;

	for (unsigned int l = 0; l < count; l++) {
		/* The status was 0, see plain_describe(). */
		uint16_t status = (uint16_t)((NETFC_STATUS_REPLY | flags[l]) << STATUS_SHIFT);
		uint16_t change = add_words(add_words(z[l], (uint16_t)~before[l]), status);
		uint16_t after = (uint16_t)~add_words((uint16_t)~checksum[l], change);

		after = after != 0 ? after : 0xffff;
		checksum[l] = checksum[l] != 0 ? after : 0;
	}
}

uint64_t
ones_run(struct ones *ones, struct netfc_lanes *lanes)
{
	const unsigned int count = ones->count;
	uint64_t exceptions = 0;

	branch_run(ones->branch, lanes, ones->op, ones->x, ones->y, ones->z, ones->flags, count);
	update_checksums(ones, count);
	for (unsigned int l = 0; l < count; l++) {
		uint8_t *udp = ones->udp[l], flags = ones->flags[l];

		*(packet_word *)(udp + PLAIN_CHECKSUM) = ones->checksum[l];
		udp[PLAIN_STATUS] = NETFC_STATUS_REPLY | flags;
		*(packet_word *)(udp + PLAIN_LANES - PLAIN_UDP + 4) = ones->z[l];
		exceptions += flags_spread(flags);
	}
	ones->count = 0;
	return exceptions;
}
