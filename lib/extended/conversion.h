/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_CONVERSION_H
#define EXTENDED_CONVERSION_H

/**
 * @file
 * Conversions between binary32 and formats of 8 and 16 bits, in slots of 32 bits.
 *
 * An array has what narrow formats are in binary32, and what binary32 is in formats of 8 bits: for
 * the latter, the upper 16 bits of a number, bfloat16, are rounded to odd (extended_kernels.h).
 * They have at least two more bits of fraction than the format, so that the array's result is that
 * of the number itself.
 */

#include <rte_common.h>

#include "vector.h"

/* What is done with a lane. */
enum conversion {
	CONVERSION_WIDEN_8,
	CONVERSION_WIDEN_16,
	CONVERSION_FP8,
	CONVERSION_LOOKED_UP = CONVERSION_FP8, /* these by the array */
	CONVERSION_FP32,
	CONVERSION_FP16,
	CONVERSION_BF16,
	CONVERSION_POSIT16,
	CONVERSION_POSIT16_ES2,
};

/* Above z of 8 bits in an entry. */
#define CONVERSION_FLAGS_SHIFT 8

struct conversion_kernel {
	struct vector_kernel kernel;
	enum conversion conversion;
	uint32_t entries[NETFC_FUNCTION_ENTRIES] __rte_cache_aligned;
};

/* conversion_lanes.c, one for each instruction set: see struct vector_functions. */
typedef void conversion_fn(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
conversion_fn conversion_run_plain, conversion_run_avx2, conversion_run_avx512;

#endif /* EXTENDED_CONVERSION_H */
