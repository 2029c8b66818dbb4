/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_CLOCK_H
#define ALLREDUCE_CLOCK_H

/**
 * @file
 * Time: nanoseconds of the monotonic clock, never 0.
 */

#include <stdint.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Never: later than any time. */
#define NEVER UINT64_MAX

static inline uint64_t
clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + 1;
}

static inline struct timespec
clock_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

/* Time from now until then; 0 if it has passed. */
static inline uint64_t
clock_until(uint64_t now, uint64_t then)
{
	return then > now ? then - now : 0;
}

#endif /* ALLREDUCE_CLOCK_H */
