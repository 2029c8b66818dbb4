/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FURTHER_EXTRA_H
#define FURTHER_EXTRA_H

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

#include "further_kernel.h"

struct extra_kernel {
	struct further_kernel kernel;
	uint16_t inf, nan, one, minus_one;
};

/** A kernel's function. */
typedef void extra_run(const struct further_kernel *kernel, struct vector_packet *packet);

/** fma.c, fma_avx512.c: by the format's number. */
extern extra_run *const fma_run_plain[NETFC_FORMAT_END];
extern extra_run *const fma_run_avx512[NETFC_FORMAT_END];

#endif /* FURTHER_EXTRA_H */
