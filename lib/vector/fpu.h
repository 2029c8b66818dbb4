/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FPU_H
#define VECTOR_FPU_H

/**
 * @file
 * Kernels without tables: operands to binary32, one operation of the processor's FPU, the result
 * to the format. Correctly rounded, as netfc_exact().
 *
 * Rounding twice does no harm: binary32 has 24 bits of significand, two more than twice those of
 * binary16 (11) and bfloat16 (8) (Figueroa, "When is double rounding innocuous?", 1995). Results of
 * bfloat16 that are subnormal are so in binary32, too, with 16 places more: sums are exact then,
 * products from half of the least bfloat16 on as well, and quotients of 8-bit significands stay
 * 2^-143 away from halves of 2^-133, far more than binary32's 2^-150. Tests compare all pairs.
 */

#include <stdbool.h>

#include "vector.h"

struct fpu_kernel {
	struct vector_kernel kernel;
	const struct netfc_format *format;
	uint16_t inf;
	uint16_t nan;
};

/* Set the functions for a format; false if there are none. */
bool fpu_use_plain(struct fpu_kernel *kernel);
bool fpu_use_avx2(struct fpu_kernel *kernel);
bool fpu_use_avx512(struct fpu_kernel *kernel);

#endif /* VECTOR_FPU_H */
