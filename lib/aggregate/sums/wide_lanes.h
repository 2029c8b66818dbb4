/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIDE_LANES_H
#define WIDE_LANES_H

/**
 * @file
 * Values of 8 bytes, fp64 and int64: in and out, special values, least and greatest.
 */

#include <string.h>

#include "sums/lanes.h"
#include "sums/number.h"

#define FP64_SIGN (UINT64_C(1) << 63)
#define FP64_INF UINT64_C(0x7ff0000000000000)
#define FP64_NAN UINT64_C(0x7ff8000000000000)
#define FP64_FRACTION_BITS 52
#define FP64_BIAS 1023
#define FP64_UNIT (-1074)

INLINE bool
is_wide(enum aggregate_format format)
{
	return format == AGGREGATE_FP64 || format == AGGREGATE_INT64;
}

INLINE uint64_t
load64(const uint8_t *at, uint32_t i)
{
	uint64_t value;

	memcpy(&value, at + sizeof(value) * (size_t)i, sizeof(value));
	return __builtin_bswap64(value);
}

INLINE void
store64(uint8_t *at, uint32_t i, uint64_t bits)
{
	uint64_t value = __builtin_bswap64(bits);

	memcpy(at + sizeof(value) * (size_t)i, &value, sizeof(value));
}

INLINE uint8_t
special_of_wide(uint64_t bits)
{
	uint64_t magnitude = bits & (FP64_SIGN - 1);

	if (magnitude < FP64_INF)
		return 0;
	return magnitude > FP64_INF ? SPECIAL_NAN
		: bits == FP64_INF  ? SPECIAL_PLUS_INF
				    : SPECIAL_MINUS_INF;
}

INLINE uint64_t
wide_of_special(uint8_t special)
{
	return special == SPECIAL_PLUS_INF     ? FP64_INF
		: special == SPECIAL_MINUS_INF ? FP64_SIGN | FP64_INF
					       : FP64_NAN;
}

/* Where sums of fp64 are, see fp64_lanes.h. */

INLINE uint64_t *
window_lower(const struct aggregate_lanes *lanes)
{
	return (uint64_t *)lanes->sums;
}

INLINE uint64_t *
window_upper(const struct aggregate_lanes *lanes)
{
	return (uint64_t *)lanes->sums + lanes->widest;
}

INLINE uint64_t *
bins_in_use(const struct aggregate_lanes *lanes)
{
	return (uint64_t *)lanes->sums + 2 * (size_t)lanes->widest;
}

INLINE int64_t *
bins_of_lane(const struct aggregate_lanes *lanes, uint32_t lane)
{
	return lanes->sums + 3 * (size_t)lanes->widest + FP64_BINS * (size_t)lane;
}

INLINE uint64_t *
fp64_lost(const struct aggregate_lanes *lanes)
{
	return (uint64_t *)bins_of_lane(lanes, lanes->widest);
}

INLINE __int128
window_of_lane(const struct aggregate_lanes *lanes, uint32_t lane)
{
	return (__int128)((unsigned __int128)window_upper(lanes)[lane] << 64 |
		window_lower(lanes)[lane]);
}

INLINE void
clear_fp64_lane(struct aggregate_lanes *lanes, uint32_t lane)
{
	window_lower(lanes)[lane] = 0;
	window_upper(lanes)[lane] = 0;
	bins_in_use(lanes)[lane] = 0;
}

/* As keys_lanes.h. */

INLINE int64_t
key_of_wide(enum aggregate_format format, bool greatest, uint64_t bits)
{
	int64_t value = (int64_t)bits;

	if (format == AGGREGATE_INT64)
		return value;
	value ^= -(int64_t)(value < 0) & INT64_MAX;
	return (bits & INT64_MAX) > FP64_INF ? (greatest ? INT64_MAX : INT64_MIN) : value;
}

INLINE uint64_t
bits_of_wide_key(enum aggregate_format format, bool greatest, int64_t key)
{
	if (format == AGGREGATE_INT64)
		return (uint64_t)key;
	return key == (greatest ? INT64_MAX : INT64_MIN)
		? FP64_NAN
		: (uint64_t)(key ^ (-(int64_t)(key < 0) & INT64_MAX));
}

INLINE void
put_wide_keys(enum aggregate_format format, bool greatest, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, bool first)
{
	int64_t *keys = lanes->sums;

	for (uint32_t i = 0; i < count; i++) {
		int64_t key = key_of_wide(format, greatest, load64(values, i));
		bool prevails = first || (greatest ? key > keys[i] : key < keys[i]);

		keys[i] = prevails ? key : keys[i];
	}
}

INLINE uint8_t
finish_wide_keys(enum aggregate_format format, bool greatest, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, uint8_t *result)
{
	if (values != NULL)
		put_wide_keys(format, greatest, lanes, values, count, false);
	for (uint32_t i = 0; i < count; i++)
		store64(result, i, bits_of_wide_key(format, greatest, lanes->sums[i]));
	return 0;
}

#endif /* WIDE_LANES_H */
