/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FPU_H
#define VECTOR_FPU_H

/**
 * @file
 * Kernels without tables: operands to binary32, one operation of the processor's FPU, the result
 * to the format. Correctly rounded, as netfc_exact(). Where the processor computes in binary16, its
 * operation is the whole of it.
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
	const char *how; /* instruction set and format, for people */
	uint16_t inf;    /* of formats of 16 bits, as nan */
	uint16_t nan;
};

/* fpu_lanes.c: set the functions for the kernel's format; false if there are none. */
bool fpu_use_avx2(struct fpu_kernel *kernel);
bool fpu_use_avx512(struct fpu_kernel *kernel);
bool fpu_use_neon(struct fpu_kernel *kernel);
bool fpu_use_neon_fp16(struct fpu_kernel *kernel);

/* fp32_lanes.c: see struct vector_functions. */
typedef void fp32_fn(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
fp32_fn fp32_run_plain, fp32_run_avx2, fp32_run_avx512;

#endif /* VECTOR_FPU_H */
