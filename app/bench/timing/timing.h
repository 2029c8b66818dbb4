/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMING_H
#define TIMING_H

/** @file One thing alone, timed (--time). Errors are reported on stderr. */

#include <jansson.h>

#include "options/options.h"

/** Something to be timed; `turn` counts. */
typedef void (*time_work)(void *arg, unsigned int turn);

/** Seconds that it takes, of this thread: the best of twenty measurements. */
double time_best(time_work work, void *arg, double seconds);

/** Exact sums in memory, by format, operation, instruction set and data. 0 or -1. */
int time_sums(const struct options *options);

/** Tags checked and made, by engine and size; and keys. 0, or -1: a tag was wrong, too. */
int time_tags(const struct options *options);

struct capture;

/**
 * The parts of the pipeline, in TSC cycles, on the packets of a capture. The EAL has started.
 *
 * @return an object, or NULL
 */
json_t *time_capture(const struct options *options, const struct capture *capture);

#endif /* TIMING_H */
