/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FLOAT_BITS_H
#define VECTOR_FLOAT_BITS_H

/** @file The encoding of a `float`, which is IEEE 754's binary32, and back. */

#include <stdint.h>
#include <string.h>

#include <rte_common.h>

static __rte_always_inline uint32_t
float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static __rte_always_inline float
float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif /* VECTOR_FLOAT_BITS_H */
