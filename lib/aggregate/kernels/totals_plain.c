/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/round_totals_doubles.h"

/* Compiled again for AVX2, under another name. */
#ifndef TOTALS
#define TOTALS aggregate_totals_plain
#endif

#if WORDS > 2
const struct totals_kernel TOTALS = TOTALS_KERNEL(round_totals_in_doubles);
#else
const struct totals_kernel TOTALS = TOTALS_KERNEL(round_any_totals);
#endif
