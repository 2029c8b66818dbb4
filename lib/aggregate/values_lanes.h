/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALUES_LANES_H
#define VALUES_LANES_H

/**
 * @file
 * Values in and out, and what formats are.
 */

#include <string.h>

#include "number.h"

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

INLINE uint32_t
load(enum aggregate_format format, const uint8_t *at, uint32_t i)
{
	return format == AGGREGATE_FP32 || format == AGGREGATE_INT32 ? load32(at, i)
								     : load16(at, i);
}

INLINE void
store(enum aggregate_format format, uint8_t *at, uint32_t i, uint32_t bits)
{
	uint32_t wide = __builtin_bswap32(bits);
	uint16_t narrow = __builtin_bswap16((uint16_t)bits);

	if (format == AGGREGATE_FP32 || format == AGGREGATE_INT32)
		memcpy(at + 4 * (size_t)i, &wide, sizeof(wide));
	else
		memcpy(at + 2 * (size_t)i, &narrow, sizeof(narrow));
}

INLINE bool
is_ieee(enum aggregate_format format)
{
	return format == AGGREGATE_FP16 || format == AGGREGATE_BF16 || format == AGGREGATE_FP32;
}

INLINE bool
has_bins(enum aggregate_format format)
{
	return format == AGGREGATE_BF16 || format == AGGREGATE_FP32;
}

INLINE struct ieee
ieee_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP16 ? fp16 : format == AGGREGATE_BF16 ? bf16 : fp32;
}

#endif /* VALUES_LANES_H */
