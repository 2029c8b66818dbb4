/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels_lanes.h"
#include "round_totals.h"

/* Compiled again for AVX2, under other names. */
#ifndef KERNELS
#define KERNELS aggregate_kernels_plain
#define TOTALS aggregate_totals_plain
#endif

SUM_FUNCTIONS(AGGREGATE_FP16, fp16)
SUM_FUNCTIONS(AGGREGATE_POSIT16, posit16)
SUM_FUNCTIONS(AGGREGATE_BF16, bf16)
SUM_FUNCTIONS(AGGREGATE_POSIT16_ES2, posit16_es2)
SUM_FUNCTIONS(AGGREGATE_FP32, fp32)
SUM_FUNCTIONS(AGGREGATE_INT32, int32)
SUM_FUNCTIONS_BY(put_fp64, finish_fp64, PLAIN_LAY_OUT, AGGREGATE_FP64, fp64)
SUM_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3)
SUM_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2)
SUM_FUNCTIONS_BY(put_int64, finish_int64, PLAIN_LAY_OUT, AGGREGATE_INT64, int64)
PAIR_FUNCTIONS(AGGREGATE_FP16, fp16, AGGREGATE_FP32, fp32)
PAIR_FUNCTIONS(AGGREGATE_BF16, bf16, AGGREGATE_FP32, fp32)

const kernel_table KERNELS = KERNEL_TABLE;

const struct totals_kernel TOTALS = TOTALS_KERNEL(round_any_totals);
