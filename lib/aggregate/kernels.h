/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KERNELS_H
#define KERNELS_H

/**
 * @file
 * The kernels of each instruction set, by operation from AGGREGATE_SUM on and by format, or two.
 */

#include "aggregate_lanes.h"

#define REDUCTIONS (AGGREGATE_MAX - AGGREGATE_SUM + 1)

typedef struct aggregate_kernel kernel_table[REDUCTIONS][AGGREGATE_PAIR_END];

extern const kernel_table aggregate_kernels_plain;
extern const kernel_table aggregate_kernels_avx2;
extern const kernel_table aggregate_kernels_avx512;
extern const kernel_table aggregate_kernels_neon;

#endif /* KERNELS_H */
