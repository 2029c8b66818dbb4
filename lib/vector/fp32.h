/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FP32_H
#define VECTOR_FP32_H

/**
 * @file
 * binary32 by the processor, whose sums, products and quotients are those of IEEE 754, as the table
 * set's are: equal to netfc_exact(). fp32_lanes.c has one body for all instruction sets.
 */

#include "vector.h"

/* See struct vector_functions. */
void fp32_run_plain(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
void fp32_run_avx2(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);
void fp32_run_avx512(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count);

#endif /* VECTOR_FP32_H */
