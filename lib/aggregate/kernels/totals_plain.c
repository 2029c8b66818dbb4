/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/round_totals.h"

/* Compiled again for AVX2, under another name. */
#ifndef TOTALS
#define TOTALS aggregate_totals_plain
#endif

const struct totals_kernel TOTALS = TOTALS_KERNEL(round_any_totals);
