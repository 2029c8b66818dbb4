/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_TESTS_MPI_EXACT_H
#define NETFC_TESTS_MPI_EXACT_H

#include <stddef.h>

/** The exact sum of `count` values, `stride` apart, rounded once. */
float exact_sum(const float *values, size_t count, size_t stride);

/** IEEE 754-2019 minimum or maximum. */
float exact_extreme(const float *values, size_t count, size_t stride, int greatest);

#endif /* NETFC_TESTS_MPI_EXACT_H */
