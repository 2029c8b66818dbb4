/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_KERNELS_H
#define EXTENDED_KERNELS_H

/**
 * @file
 * Kernels of min, max, compare and fma.
 *
 * fma computes in binary arithmetic that is wider than any format: x * y + z, rounded to odd, that
 * is, cut off, with the last bit set if that lost anything. Whatever is then rounded to a few bits
 * less comes out as if the exact sum had been (Boldo and Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008). Binary32 is wide enough: a
 * rounding boundary of fp16 has 12 bits, of bf16 9, of a posit 14, binary32 has 24. Products of
 * posits reach from 2^-112 to 2^112, and where numbers of bf16 are subnormal, binary32 has 16
 * places more.
 */

#include <stdbool.h>

#include "vector.h"

struct extended_kernel;

/* The lanes of packets. */
typedef void extended_fn(
	const struct extended_kernel *kernel, struct vector_packet *packets, unsigned int count);

struct extended_kernel {
	struct vector_kernel kernel;
	extended_fn *run[NETFC_EXTRA_END - NETFC_MIN]; /* by operation less NETFC_MIN */
	uint16_t inf, nan, one, minus_one;
};

/* order.c, fma.c and fma_avx512.c, one for each instruction set: set the functions of a kernel. */
void order_use_plain(struct extended_kernel *kernel, bool posit);
void order_use_avx2(struct extended_kernel *kernel, bool posit);
void order_use_avx512(struct extended_kernel *kernel, bool posit);
void fma_use_plain(struct extended_kernel *kernel, enum netfc_format_id format);
void fma_use_avx2(struct extended_kernel *kernel, enum netfc_format_id format);
void fma_use_avx512(struct extended_kernel *kernel, enum netfc_format_id format);

#endif /* EXTENDED_KERNELS_H */
