/* SPDX-License-Identifier: BSD-3-Clause */
/* min, max, compare and fma of formats of 8 bits; compiled for each instruction set. */
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "extended_kernels.h"
#include "isa.h"
#include "slots.h"

#define DOUBLE_BIAS 1023
/* A double's upper half, the last bit of which stands for the lower one. */
#define UPPER_FRACTION 20
#define UPPER_INF 0x7ff00000

#define LANE static __rte_always_inline

LANE uint8_t
magnitude_of(uint8_t bits)
{
	return bits & INT8_MAX;
}

/* Encodings in the order of their values, -0 before +0. */
LANE int8_t
rank_of(uint8_t bits)
{
	return (int8_t)(bits ^ (uint8_t)((int8_t)bits >> 7 & INT8_MAX));
}

/* Without a branch between the two, so that vectors have both. */
LANE bool
is_any_nan(uint8_t x, uint8_t y, uint8_t last)
{
	return ((int)(magnitude_of(x) > last) | (int)(magnitude_of(y) > last)) != 0;
}

/* What is loaded once, as packets may alias what is loaded for each lane. */
struct constants {
	struct fp8_limits limits;
	uint8_t one, minus_one;
};

/* The lesser or the greater. */
LANE uint8_t
extremum(const struct constants *kernel, uint8_t x, uint8_t y, const bool greatest)
{
	const bool is_x = greatest ? rank_of(x) > rank_of(y) : rank_of(x) < rank_of(y);
	const uint8_t z = is_x ? x : y;

	return is_any_nan(x, y, kernel->limits.last) ? kernel->limits.nan : z;
}

/* Zeros are equal, whatever their signs. */
LANE uint8_t
compare(const struct constants *kernel, uint8_t x, uint8_t y)
{
	const int8_t a = rank_of(x), b = rank_of(y);
	const uint8_t order = a < b ? kernel->minus_one : a > b ? kernel->one : 0;
	const uint8_t z = magnitude_of(x | y) == 0 ? 0 : order;

	return is_any_nan(x, y, kernel->limits.last) ? kernel->limits.nan : z;
}

/* ---- x * y + z ---- */

/* A sum's magnitude to nearest, ties to even: the encoding's, which may be too large. */
LANE uint32_t
round_sum(const struct extended_fp8 *kernel, double sum)
{
	const int drop = UPPER_FRACTION - kernel->fraction_bits;
	const int least = -kernel->least_exponent;
	const double size = fabs(sum), anchor = kernel->anchor;
	const double anchored = size + anchor;
	uint64_t bits, low, from;
	uint32_t upper;

	memcpy(&bits, &size, sizeof(bits));
	memcpy(&low, &anchored, sizeof(low));
	memcpy(&from, &anchor, sizeof(from));
	if (size < kernel->least_normal)
		return (uint32_t)(low - from);
	upper = (uint32_t)(bits >> 32) | ((uint32_t)bits != 0);
	upper -= (uint32_t)(DOUBLE_BIAS + least - 1) << UPPER_FRACTION;
	return (upper + (1u << (drop - 1)) - 1 + (upper >> drop & 1)) >> drop;
}

struct fused {
	uint8_t z, flags;
};

LANE struct fused
fuse(const struct extended_fp8 *kernel, uint8_t x, uint8_t y, uint8_t z)
{
	const double sum = kernel->value[x] * kernel->value[y] + kernel->value[z];
	const uint8_t sign = signbit(sum) ? 0x80 : 0;
	uint32_t magnitude;

	if (isnan(sum)) {
		const bool nan = is_any_nan(x, y, kernel->limits.last) ||
			magnitude_of(z) > kernel->limits.last;

		return (struct fused){kernel->limits.nan, nan ? 0 : NETFC_INVALID};
	}
	magnitude = round_sum(kernel, sum);
	if (magnitude < kernel->limits.top)
		return (struct fused){sign | (uint8_t)magnitude,
			magnitude == 0 && sum != 0 ? NETFC_UNDERFLOW : 0};
	return (struct fused){kernel->limits.over | (sign & kernel->limits.over_sign),
		isinf(sum) ? 0 : NETFC_OVERFLOW};
}

/* ---- packets ---- */

/* `op` is a constant wherever this is used. */
LANE void
run_packet(const struct extended_kernel *base, struct vector_packet *packet,
	const enum netfc_extra_op op)
{
	const struct extended_fp8 *kernel = (const struct extended_fp8 *)base;
	const uint32_t count = packet->count, bytes = fp8_operand_bytes(count);
	const uint8_t *restrict x = packet->slots, *restrict y = x + bytes;
	uint8_t *restrict z = packet->slots + 2 * (size_t)bytes;
	const uint64_t before = slots_sum(z, bytes);
	const struct constants constants = {
		.limits = kernel->limits,
		.one = (uint8_t)base->one,
		.minus_one = (uint8_t)base->minus_one,
	};
	uint8_t flags = 0;

	for (uint32_t l = 0; l < count; l++) {
		if (op == NETFC_FMA) {
			const struct fused fused = fuse(kernel, x[l], y[l], z[l]);

			z[l] = fused.z;
			flags |= fused.flags;
		} else {
			z[l] = op == NETFC_COMPARE
				? compare(&constants, x[l], y[l])
				: extremum(&constants, x[l], y[l], op == NETFC_MAX);
		}
	}
	packet->flags = flags;
	packet->changes = slots_changes(bytes / 2, before, slots_sum(z, bytes));
}

EXTENDED_PACKETS(run_min, run_packet, NETFC_MIN)
EXTENDED_PACKETS(run_max, run_packet, NETFC_MAX)
EXTENDED_PACKETS(run_compare, run_packet, NETFC_COMPARE)
EXTENDED_PACKETS(run_fma, run_packet, NETFC_FMA)

void
VECTOR_NAME(fp8_use)(struct extended_kernel *kernel)
{
	kernel->run[NETFC_MIN - NETFC_MIN] = run_min;
	kernel->run[NETFC_MAX - NETFC_MIN] = run_max;
	kernel->run[NETFC_COMPARE - NETFC_MIN] = run_compare;
	kernel->run[NETFC_FMA - NETFC_MIN] = run_fma;
}
