/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALUES_LANES_H
#define VALUES_LANES_H

/**
 * @file
 * Values in and out, and what formats are.
 */

#include <string.h>

#include "sums/lanes.h"
#include "sums/number.h"

INLINE uint32_t
load16(const uint8_t *at, uint32_t i)
{
	uint16_t value;

	memcpy(&value, at + 2 * (size_t)i, sizeof(value));
	return __builtin_bswap16(value);
}

INLINE uint32_t
load32(const uint8_t *at, uint32_t i)
{
	uint32_t value;

	memcpy(&value, at + 4 * (size_t)i, sizeof(value));
	return __builtin_bswap32(value);
}

/* Of the formats that are not wide. */
INLINE uint32_t
bytes_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP8_E4M3 || format == AGGREGATE_FP8_E5M2 ? 1
		: format == AGGREGATE_FP32 || format == AGGREGATE_INT32     ? 4
									    : 2;
}

INLINE uint32_t
load(enum aggregate_format format, const uint8_t *at, uint32_t i)
{
	return bytes_of(format) == 1    ? at[i]
		: bytes_of(format) == 4 ? load32(at, i)
					: load16(at, i);
}

INLINE void
store(enum aggregate_format format, uint8_t *at, uint32_t i, uint32_t bits)
{
	uint32_t wide = __builtin_bswap32(bits);
	uint16_t narrow = __builtin_bswap16((uint16_t)bits);

	if (bytes_of(format) == 1)
		at[i] = (uint8_t)bits;
	else if (bytes_of(format) == 4)
		memcpy(at + 4 * (size_t)i, &wide, sizeof(wide));
	else
		memcpy(at + 2 * (size_t)i, &narrow, sizeof(narrow));
}

/* Of IEEE 754, or like it: see struct ieee. */
INLINE bool
is_ieee(enum aggregate_format format)
{
	return format == AGGREGATE_FP16 || format == AGGREGATE_BF16 || format == AGGREGATE_FP32 ||
		bytes_of(format) == 1;
}

INLINE bool
has_bins(enum aggregate_format format)
{
	return format == AGGREGATE_BF16 || format == AGGREGATE_FP32;
}

/* Whether sums are integers, in units of the least subnormal. */
INLINE bool
has_units(enum aggregate_format format)
{
	return is_ieee(format) && !has_bins(format);
}

/* These units. */
INLINE int
unit_of_sums(enum aggregate_format format)
{
	return format == AGGREGATE_FP8_E4M3    ? FP8_E4M3_UNIT
		: format == AGGREGATE_FP8_E5M2 ? FP8_E5M2_UNIT
					       : FP16_UNIT;
}

INLINE struct ieee
ieee_of(enum aggregate_format format)
{
	switch (format) {
	case AGGREGATE_FP16:
		return fp16;
	case AGGREGATE_BF16:
		return bf16;
	case AGGREGATE_FP8_E4M3:
		return fp8_e4m3;
	case AGGREGATE_FP8_E5M2:
		return fp8_e5m2;
	default:
		return fp32;
	}
}

/* NaN, NaR, infinities. */
INLINE uint8_t
special_of(enum aggregate_format format, uint32_t bits)
{
	const struct ieee ieee = ieee_of(format);
	uint32_t magnitude = bits & (ieee.sign - 1);
	uint32_t infinity = (bits & ieee.sign) != 0 ? SPECIAL_MINUS_INF : SPECIAL_PLUS_INF;

	if (!is_ieee(format))
		return bits == POSIT_NAR ? SPECIAL_NAN : 0;
	return (uint8_t)((is_nan(ieee, magnitude) ? (uint32_t)SPECIAL_NAN : 0) |
		(has_infinity(ieee) && magnitude == ieee.inf ? infinity : 0));
}

#endif /* VALUES_LANES_H */
