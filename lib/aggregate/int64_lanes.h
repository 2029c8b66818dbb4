/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INT64_LANES_H
#define INT64_LANES_H

/**
 * @file
 * Sums of int64: 128 bits a lane, lower words first, saturated at the end.
 */

#include <netfc_arith.h>

#include "wide_lanes.h"

INLINE void
put_int64(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	uint64_t *lower = (uint64_t *)lanes->sums, *upper = lower + lanes->widest;

	(void)format;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = load64(values, i), above = -(value >> 63);
		uint64_t sum = (first ? 0 : lower[i]) + value;

		upper[i] = (first ? 0 : upper[i]) + above + (sum < value);
		lower[i] = sum;
	}
}

INLINE __int128
int64_sum(const struct aggregate_lanes *lanes, uint32_t i)
{
	uint64_t upper = (uint64_t)lanes->sums[lanes->widest + i];

	return (__int128)((unsigned __int128)upper << 64 | (uint64_t)lanes->sums[i]);
}

/* Whether a sum fits is told by its upper word: nothing but sign. */
INLINE uint8_t
saturate_int64(const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const int64_t *lower = lanes->sums, *upper = lower + lanes->widest;
	int64_t changed = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t differs = upper[i] ^ -(int64_t)(lower[i] < 0);
		int64_t most = INT64_MAX ^ -(int64_t)(upper[i] < 0);

		changed |= differs;
		store64(result, i, (uint64_t)(differs != 0 ? most : lower[i]));
	}
	return changed != 0 ? NETFC_OVERFLOW : 0;
}

/* To nearest, ties to even; a mean of int64 is one. */
INLINE int64_t
mean_of_int64(__int128 sum, unsigned int workers)
{
	__int128 sign = -(__int128)(sum < 0), magnitude = (sum ^ sign) - sign;
	__int128 quotient, twice;

	if (sum == (int64_t)sum && sum > INT64_MIN)
		return mean_of((int64_t)sum, workers);
	quotient = magnitude / workers;
	twice = 2 * (magnitude % workers);
	quotient += twice > workers || (twice == workers && (quotient & 1) != 0);
	return (int64_t)((quotient ^ sign) - sign);
}

INLINE uint8_t
finish_int64(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	(void)to;
	if (values != NULL)
		put_int64(format, lanes, values, count, false);
	if (!mean)
		return saturate_int64(lanes, count, result);
	for (uint32_t i = 0; i < count; i++)
		store64(result, i, (uint64_t)mean_of_int64(int64_sum(lanes, i), workers));
	return 0;
}

#endif /* INT64_LANES_H */
