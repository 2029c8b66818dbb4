/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

/**
 * @file
 * Counts what this program and all of its libraries allocate and free.
 */

#include <stdint.h>

/** Begin to count. */
void allocations_start(void);

/** Calls since then. */
uint64_t allocations_count(void);

#endif /* ALLOCATIONS_H */
