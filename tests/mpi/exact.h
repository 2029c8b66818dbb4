/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_TESTS_MPI_EXACT_H
#define NETFC_TESTS_MPI_EXACT_H

#include <stdbool.h>
#include <stddef.h>

/** The exact sum of `count` values, `stride` apart, rounded once: to a double, or to a float. */
double exact_sum(const double *values, size_t count, size_t stride, bool wide);

/** IEEE 754-2019 minimum or maximum. */
double exact_extreme(const double *values, size_t count, size_t stride, bool greatest);

#endif /* NETFC_TESTS_MPI_EXACT_H */
