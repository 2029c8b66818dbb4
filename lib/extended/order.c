/* SPDX-License-Identifier: BSD-3-Clause */
/* min, max and compare; compiled for each instruction set. */
#include <stdbool.h>

#include <rte_common.h>

#include "extended_kernels.h"
#include "isa.h"
#include "slots.h"

/* Encodings in the order of their values, -0 before +0; NaR before all posits. */
static __rte_always_inline int16_t
rank_of(uint16_t bits, const bool posit)
{
	return (int16_t)(posit ? bits : bits ^ (uint16_t)((int16_t)bits >> 15 & INT16_MAX));
}

static __rte_always_inline bool
is_nan(const struct extended_kernel *kernel, uint16_t bits, const bool posit)
{
	return posit ? bits == kernel->nan : (bits & INT16_MAX) > kernel->inf;
}

/* Without a branch between the two, so that vectors have both. */
static __rte_always_inline bool
is_any_nan(const struct extended_kernel *kernel, uint16_t x, uint16_t y, const bool posit)
{
	return ((int)is_nan(kernel, x, posit) | (int)is_nan(kernel, y, posit)) != 0;
}

/* The lesser for a `sign` of 1, the greater for -1. */
static __rte_always_inline uint16_t
extremum(const struct extended_kernel *kernel, uint16_t x, uint16_t y, const int sign,
	const bool posit)
{
	const bool is_x = sign * rank_of(x, posit) < sign * rank_of(y, posit);

	if (is_any_nan(kernel, x, y, posit))
		return kernel->nan;
	return is_x ? x : y;
}

static __rte_always_inline uint16_t
compare(const struct extended_kernel *kernel, uint16_t x, uint16_t y, const bool posit)
{
	const int16_t a = rank_of(x, posit), b = rank_of(y, posit);
	uint16_t z = a < b ? kernel->minus_one : a > b ? kernel->one : 0;

	if (posit)
		return z;
	/* Zeros are equal, whatever their signs. */
	z = ((x | y) & INT16_MAX) == 0 ? 0 : z;
	return is_any_nan(kernel, x, y, false) ? kernel->nan : z;
}

/* `op` and `posit` are constants wherever this is used. */
static __rte_always_inline void
run_packet(const struct extended_kernel *kernel, struct vector_packet *packet,
	const enum netfc_extra_op op, const bool posit)
{
	const uint32_t count = packet->count;
	/* Packets may alias what is loaded for each lane. */
	const struct extended_kernel constants = *kernel;
	const slot16 *restrict x = (const slot16 *)packet->slots, *restrict y = x + count;
	slot16 *restrict z = (slot16 *)packet->slots + 2 * (size_t)count;
	/* 2^16 lanes at most. */
	uint32_t before = 0, after = 0;

	for (uint32_t l = 0; l < count; l++) {
		const uint16_t a = slot16_swap(x[l]), b = slot16_swap(y[l]);
		const uint16_t c = op == NETFC_COMPARE
			? compare(&constants, a, b, posit)
			: extremum(&constants, a, b, op == NETFC_MIN ? 1 : -1, posit);
		const uint16_t word = slot16_swap(c);

		before += z[l];
		after += word;
		z[l] = word;
	}
	packet->flags = 0;
	packet->changes = slots_changes(count, before, after);
}

EXTENDED_PACKETS(min_ieee, run_packet, NETFC_MIN, false)
EXTENDED_PACKETS(max_ieee, run_packet, NETFC_MAX, false)
EXTENDED_PACKETS(compare_ieee, run_packet, NETFC_COMPARE, false)
EXTENDED_PACKETS(min_posit, run_packet, NETFC_MIN, true)
EXTENDED_PACKETS(max_posit, run_packet, NETFC_MAX, true)
EXTENDED_PACKETS(compare_posit, run_packet, NETFC_COMPARE, true)

void
VECTOR_NAME(order_use)(struct extended_kernel *kernel)
{
	const bool posit = netfc_format_is_posit(kernel->format);

	kernel->run[NETFC_MIN - NETFC_MIN] = posit ? min_posit : min_ieee;
	kernel->run[NETFC_MAX - NETFC_MIN] = posit ? max_posit : max_ieee;
	kernel->run[NETFC_COMPARE - NETFC_MIN] = posit ? compare_posit : compare_ieee;
}
