/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LATENCY_H
#define LATENCY_H

/**
 * @file
 * How long packets take, with --latency: from the return of the receive burst that brought a packet
 * to the return of the last transmit burst of those it came with, in TSC cycles. Each lcore has a
 * histogram of its own, which it alone writes.
 */

#include <jansson.h>

#include "app.h"

/** Make the histograms of all lcores that have paths. 0, or -1 where memory is short. */
int latency_create(struct app *app);

/** Free them. */
void latency_free(struct app *app);

/** Sum them. Any thread may do that while lcores count on. */
void latency_sum(const struct app *app, struct histogram *histogram);

/**
 * What they say, as an object: tsc_hz; count; and in TSC cycles least, mean, p50, p90, p99, p99_9,
 * greatest; buckets: how many packets took no longer than so many cycles (and longer than those of
 * the bucket before), four for each power of two.
 *
 * @return the object, which the caller owns, or NULL without --latency
 */
json_t *latency_json(const struct app *app);

#endif /* LATENCY_H */
