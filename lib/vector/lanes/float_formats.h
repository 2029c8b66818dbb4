/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOAT_FORMATS_H
#define VECTOR_FLOAT_FORMATS_H

/**
 * @file
 * The encoding of a `float`, which is IEEE 754's binary32, and binary32 to formats of 16 bits: for
 * loops that compilers turn into vector code.
 */

#include <stdint.h>
#include <string.h>

#include "lanes/drive.h"

#define FLOAT_BIAS 127
#define FLOAT_FRACTION 23
#define FLOAT_INF 0x7f800000
/* The greatest regime, of a posit that is all ones, and less one's negation: the least. */
#define MAX_REGIME 14

INLINE uint32_t
float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

INLINE float
float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* All bits, or none. */
INLINE uint32_t
mask_of(uint32_t condition)
{
	return -condition;
}

/* To nearest, ties to even. */

INLINE uint16_t
to_fp16(uint32_t sum)
{
	const uint32_t magnitude = sum & INT32_MAX;
	const uint32_t rebias = (uint32_t)(FLOAT_BIAS - 15) << FLOAT_FRACTION;
	const uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - rebias) >> 13;
	/* Half has the least subnormal as its last place. */
	const uint32_t subnormal = float_bits(float_of(magnitude) + 0.5f) - float_bits(0.5f);
	const uint32_t finite = magnitude < float_bits(0x1p-14f) ? subnormal
		: normal > 0x7c00                                ? 0x7c00
								 : normal;

	return (uint16_t)(magnitude > FLOAT_INF ? 0x7e00 : (sum >> 16 & 0x8000) | finite);
}

INLINE uint16_t
to_bf16(uint32_t sum)
{
	const uint32_t rounded = (sum + 0x7fff + (sum >> 16 & 1)) >> 16;

	return (uint16_t)((sum & INT32_MAX) > FLOAT_INF ? 0x7fc0 : rounded);
}

INLINE uint16_t
to_posit(uint32_t sum, const unsigned int es)
{
	/* A boundary between posits has 14 bits of them at most; below, any bit is as good. */
	const unsigned int tail = FLOAT_FRACTION + es, lost = tail - 15;
	const int32_t magnitude = (int32_t)(sum & INT32_MAX);
	const int32_t above_one = magnitude - (FLOAT_BIAS << FLOAT_FRACTION);
	const int32_t most = MAX_REGIME * (1 << tail);
	const int32_t low_end = above_one < -most ? -most : above_one;
	const int32_t value = low_end > most ? most : low_end;
	const int32_t regime = value >> tail, negative = (int32_t)mask_of(value < 0);
	const int32_t low = (1 << lost) - 1;
	const int32_t bits = value & ((1 << tail) - 1);
	const uint32_t kept = (uint32_t)(bits | ((bits & low) + low)) >> lost;
	/* 10 before them repeats its 1 if shifted, 01 its 0. */
	const uint32_t start = 0x80000000 ^ ((uint32_t)negative & 0xc0000000);
	const uint32_t word = (uint32_t)((int32_t)(start | kept << 15) >> (regime ^ negative));
	const uint16_t rounded = (uint16_t)((word + 0xffff + (word >> 17 & 1)) >> 17);
	const uint16_t posit = sum >> 31 ? (uint16_t)-rounded : rounded;

	return magnitude == 0 ? 0 : magnitude > FLOAT_INF ? 0x8000 : posit;
}

#endif /* VECTOR_FLOAT_FORMATS_H */
