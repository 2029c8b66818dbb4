/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KEYS_LANES_H
#define KEYS_LANES_H

/**
 * @file
 * Least and greatest: by keys that order as the values do, -0 below +0; the posits' encodings do so
 * themselves. NaN has the key that prevails.
 */

#include "sums/lanes.h"
#include "sums/values_lanes.h"
#include "sums/wide_lanes.h"

INLINE int32_t
key_of(enum aggregate_format format, bool greatest, uint32_t bits)
{
	const struct ieee ieee = ieee_of(format);
	int32_t value = bytes_of(format) == 4 ? (int32_t)bits
		: bytes_of(format) == 2       ? (int16_t)bits
					      : (int8_t)bits;
	bool nan;

	if (format == AGGREGATE_INT32)
		return value;
	nan = is_ieee(format) ? is_nan(ieee, bits & (ieee.sign - 1)) : bits == POSIT_NAR;
	if (is_ieee(format))
		value ^= -(int32_t)(value < 0) & (int32_t)(ieee.sign - 1);
	return nan ? (greatest ? INT32_MAX : INT32_MIN) : value;
}

INLINE uint32_t
bits_of_key(enum aggregate_format format, bool greatest, int32_t key)
{
	const struct ieee ieee = ieee_of(format);
	uint32_t value = (uint32_t)key;

	if (format == AGGREGATE_INT32)
		return value;
	if (is_ieee(format))
		value ^= -(uint32_t)(key < 0) & (ieee.sign - 1);
	return key != (greatest ? INT32_MAX : INT32_MIN) ? value
		: is_ieee(format)                        ? ieee.nan
							 : POSIT_NAR;
}

INLINE void
put_keys(enum aggregate_format format, bool greatest, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, bool first)
{
	int32_t *keys = lanes->keys;

	if (is_wide(format)) {
		put_wide_keys(format, greatest, lanes, values, count, first);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		int32_t key = key_of(format, greatest, load(format, values, i));
		bool prevails = first || (greatest ? key > keys[i] : key < keys[i]);

		keys[i] = prevails ? key : keys[i];
	}
}

INLINE uint8_t
finish_keys(enum aggregate_format format, bool greatest, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, uint8_t *result)
{
	if (is_wide(format))
		return finish_wide_keys(format, greatest, lanes, values, count, result);
	if (values != NULL)
		put_keys(format, greatest, lanes, values, count, false);
	for (uint32_t i = 0; i < count; i++)
		store(format, result, i, bits_of_key(format, greatest, lanes->keys[i]));
	return 0;
}

#endif /* KEYS_LANES_H */
