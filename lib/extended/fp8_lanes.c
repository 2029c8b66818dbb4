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

/* The lesser or the greater. */
LANE uint8_t
extremum(const struct extended_fp8 *kernel, uint8_t x, uint8_t y, const bool greatest)
{
	const bool is_x = greatest ? rank_of(x) > rank_of(y) : rank_of(x) < rank_of(y);
	const uint8_t z = is_x ? x : y;

	return is_any_nan(x, y, kernel->limits.last) ? kernel->limits.nan : z;
}

/* Zeros are equal, whatever their signs. */
LANE uint8_t
compare(const struct extended_fp8 *kernel, uint8_t x, uint8_t y)
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
run_packet(const struct extended_fp8 *kernel, struct vector_packet *packet,
	const enum netfc_extra_op op)
{
	const uint32_t count = packet->count, bytes = count + count % 2;
	const uint8_t *restrict x = packet->slots, *restrict y = x + bytes;
	uint8_t *restrict z = packet->slots + 2 * (size_t)bytes;
	const uint64_t before = slots_sum(z, bytes);
	/* Packets may alias what is loaded for each lane. */
	const struct extended_fp8 constants = {
		.limits = kernel->limits,
		.one = kernel->one,
		.minus_one = kernel->minus_one,
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

LANE void
run_packets(const struct vector_kernel *kernel, struct vector_packet *packets, unsigned int count,
	const enum netfc_extra_op op)
{
	for (unsigned int p = 0; p < count; p++)
		run_packet((const struct extended_fp8 *)kernel, &packets[p], op);
}

void
VECTOR_NAME(extended_fp8)(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	switch (op) {
	case NETFC_MIN:
		run_packets(kernel, packets, count, NETFC_MIN);
		break;
	case NETFC_MAX:
		run_packets(kernel, packets, count, NETFC_MAX);
		break;
	case NETFC_COMPARE:
		run_packets(kernel, packets, count, NETFC_COMPARE);
		break;
	default:
		run_packets(kernel, packets, count, NETFC_FMA);
		break;
	}
}
