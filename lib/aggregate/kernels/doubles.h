/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOUBLES_H
#define DOUBLES_H

/** @file bf16 and fp32 to binary64 and back, as many as the instruction set has in a vector. */

#include "kernels/words.h"
#include "sums/values_lanes.h"

#if WORDS > 2

typedef float floats __attribute__((vector_size(4 * WORDS)));
typedef uint16_t quarters __attribute__((vector_size(2 * WORDS)));

/* Between the byte order of packets and ours. */
INLINE lower_halves
fields_swap(lower_halves fields)
{
#if WORDS == 8
	return (lower_halves)_mm256_shuffle_epi8((__m256i)fields,
		_mm256_broadcastsi128_si256(
			_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)));
#else
	return (lower_halves)_mm_shuffle_epi8((__m128i)fields,
		_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
#endif
}

/* A value's bytes, or all that are left. */
INLINE size_t
bytes_of_vector(enum aggregate_format format, uint32_t left)
{
	return (left < WORDS ? left : WORDS) * (size_t)bytes_of(format);
}

/* Encodings as those of fp32, of which bf16 has the upper halves; 0 from `left` on. */
INLINE lower_halves
fields_load(enum aggregate_format format, const uint8_t *values, uint32_t left)
{
	lower_halves fields = {0};
	quarters narrow = {0};

	if (format == AGGREGATE_FP32) {
		if (left >= WORDS)
			memcpy(&fields, values, sizeof(fields));
		else
			memcpy(&fields, values, bytes_of_vector(format, left));
		return fields_swap(fields);
	}
	if (left >= WORDS)
		memcpy(&narrow, values, sizeof(narrow));
	else
		memcpy(&narrow, values, bytes_of_vector(format, left));
	return fields_swap(__builtin_convertvector(narrow, lower_halves));
}

INLINE void
fields_store(enum aggregate_format format, uint8_t *result, uint32_t left, lower_halves fields)
{
	const lower_halves swapped = fields_swap(fields);
	const quarters narrow = __builtin_convertvector(swapped, quarters);

	if (format == AGGREGATE_FP32) {
		if (left >= WORDS)
			memcpy(result, &swapped, sizeof(swapped));
		else
			memcpy(result, &swapped, bytes_of_vector(format, left));
		return;
	}
	if (left >= WORDS)
		memcpy(result, &narrow, sizeof(narrow));
	else
		memcpy(result, &narrow, bytes_of_vector(format, left));
}

INLINE bool
any_field(lower_halves fields)
{
	uint32_t all[WORDS], any = 0;

	memcpy(all, &fields, sizeof(fields));
	for (uint32_t w = 0; w < WORDS; w++)
		any |= all[w];
	return any != 0;
}

INLINE doubles
doubles_load(const int64_t *at)
{
	return (doubles)words_load((const uint64_t *)at);
}

INLINE void
doubles_store(int64_t *at, doubles numbers)
{
	words_store((uint64_t *)at, (words)numbers);
}

INLINE doubles
numbers_in(lower_halves fields)
{
	return __builtin_convertvector((floats)fields, doubles);
}

/* Values, special ones as 0; `special` gets all bits where there are any. */
INLINE doubles
doubles_of(lower_halves fields, lower_halves *special)
{
	const lower_halves inf = fp32.inf - (lower_halves){0};
	const lower_halves found = (lower_halves)((fields & inf) == inf);

	*special |= found;
	return numbers_in(fields & ~found);
}

#endif

#endif /* DOUBLES_H */
