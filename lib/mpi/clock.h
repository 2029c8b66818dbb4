/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_CLOCK_H
#define NETFC_MPI_CLOCK_H

/** @file Monotonic time. */

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

static inline uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif /* NETFC_MPI_CLOCK_H */
