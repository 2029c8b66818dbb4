/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "internal.h"

#define WIDTH 32
/* The logarithm of the greatest integer, up to 2^bits * 32, must fit, too. */
#define MAX_BITS (WIDTH - 6)

uint64_t
netfc_log2(uint64_t value, unsigned bits)
{
	unsigned shift = (unsigned)__builtin_clzll(value);
	uint64_t fraction = netfc_log2_significand(value << shift);
	uint64_t half = UINT64_C(1) << (LOG_BITS - bits - 1);

	return ((uint64_t)(63 - shift) << bits) + ((fraction + half) >> (LOG_BITS - bits));
}

/* The prefixes of all integers whose leading one has the weight 2^exponent. */
static struct netfc_prefix *
fill_octave(struct netfc_prefix *at, unsigned exponent, unsigned below, unsigned bits)
{
	unsigned shift = exponent > below ? exponent - below : 0;
	uint64_t middle = (UINT64_C(1) << shift) / 2;

	for (uint64_t head = UINT64_C(1) << (exponent - shift); head >> (exponent - shift + 1) == 0;
		head++) {
		*at++ = (struct netfc_prefix){
			.key = (uint32_t)(head << shift),
			.value = (uint32_t)netfc_log2((head << shift) + middle, bits),
			.length = (uint8_t)(WIDTH - shift),
		};
	}
	return at;
}

int
netfc_log2_prefixes(unsigned below, unsigned bits, struct netfc_prefix **prefixes, size_t *count)
{
	struct netfc_prefix *at;

	if (below >= WIDTH || bits > MAX_BITS)
		return NETFC_ERR_ARGUMENT;
	*count = ((size_t)2 << below) - 1 + ((size_t)(WIDTH - 1 - below) << below);
	*prefixes = malloc(*count * sizeof(**prefixes));
	if (*prefixes == NULL)
		return NETFC_ERR_NOMEM;
	at = *prefixes;
	for (unsigned exponent = 0; exponent < WIDTH; exponent++)
		at = fill_octave(at, exponent, below, bits);
	return NETFC_OK;
}
