/* SPDX-License-Identifier: BSD-3-Clause */
/* fma of formats of 8 bits; compiled for each instruction set. */
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "extended_kernels.h"
#include "isa.h"
#include "lanes/drive.h"

#define DOUBLE_BIAS 1023
/* A double's upper half, the last bit of which stands for the lower one. */
#define UPPER_FRACTION 20

INLINE uint8_t
magnitude_of(uint8_t bits)
{
	return bits & INT8_MAX;
}

/* Without a branch between the two, so that vectors have both. */
INLINE bool
is_any_nan(uint8_t x, uint8_t y, uint8_t last)
{
	return ((int)(magnitude_of(x) > last) | (int)(magnitude_of(y) > last)) != 0;
}

/* ---- x * y + z ---- */

/* A sum's magnitude to nearest, ties to even: the encoding's, which may be too large. */
INLINE uint32_t
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

INLINE struct lane
fuse(const void *context, uint32_t x, uint32_t y, uint32_t z)
{
	const struct extended_fp8 *kernel = context;
	const double sum = kernel->value[x] * kernel->value[y] + kernel->value[z];
	const uint8_t sign = signbit(sum) ? 0x80 : 0;
	uint32_t magnitude;

	if (isnan(sum)) {
		const bool nan = is_any_nan(x, y, kernel->limits.last) ||
			magnitude_of(z) > kernel->limits.last;

		return (struct lane){kernel->limits.nan, nan ? 0 : NETFC_INVALID};
	}
	magnitude = round_sum(kernel, sum);
	if (magnitude < kernel->limits.top)
		return (struct lane){sign | (uint8_t)magnitude,
			magnitude == 0 && sum != 0 ? NETFC_UNDERFLOW : 0};
	return (struct lane){kernel->limits.over | (sign & kernel->limits.over_sign),
		isinf(sum) ? 0 : NETFC_OVERFLOW};
}

INLINE void
fma_packet(const struct extended_kernel *kernel, struct vector_packet *packet)
{
	drive_packet(packet, (struct drive){8, false, 0}, fuse, kernel);
}

EXTENDED_PACKETS(run_fma, fma_packet)

void
VECTOR_NAME(fma_fp8_use)(struct extended_kernel *kernel)
{
	kernel->run[NETFC_FMA - NETFC_MIN] = run_fma;
}
