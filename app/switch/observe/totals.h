/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOTALS_H
#define TOTALS_H

/**
 * @file
 * Counters and latencies, summed. Any thread may sum them while lcores and devices go on counting.
 */

#include <jansson.h>
#include <rte_ethdev.h>

#include "app.h"

/** Sums over lcores and ports. */
struct totals {
	struct packet_counters packets;
	struct pipeline_counters pipeline;
	struct rte_eth_stats devices; /**< the fields of DEVICE_COUNTERS */
};

/** Add what a worker has counted. */
void totals_add_pipeline(const struct pipeline_counters *counters, struct pipeline_counters *sum);

/** What one lcore has counted; all zero for one without rx queues. */
void totals_of_lcore(const struct lcore *lcore, struct totals *totals);

/**
 * What a port's device has counted. Some drivers count a packet that they do not take as an error,
 * at each attempt. These are subtracted: the switch tries again, or drops the packet itself.
 *
 * @return false: it does not count
 */
bool totals_of_device(const struct app *app, unsigned int port, struct rte_eth_stats *stats);

/** What all lcores and ports have counted. Closing a port clears its counters. */
void totals_of_all(const struct app *app, struct totals *totals);

/** Whether everything that was received or copied was sent or dropped; true once lcores have
 * stopped. */
bool totals_add_up(const struct totals *totals);

/*
 * How long packets take, with --latency: from the return of the receive burst that brought a packet
 * to the return of the last transmit burst of those it came with, in TSC cycles. Each lcore has a
 * histogram of its own, which it alone writes.
 */

/** Make the histograms of all lcores with rx queues. 0, or -1 where memory is short. */
int latency_create(struct app *app);

/** Free them. */
void latency_free(struct app *app);

/** Sum them. Any thread may, while lcores go on counting. */
void latency_sum(const struct app *app, struct histogram *histogram);

/**
 * What they say, as an object: tsc_hz; count; and in TSC cycles least, mean, p50, p90, p99, p99_9,
 * greatest; buckets: how many packets took no longer than so many cycles (and longer than those of
 * the bucket before), four for each power of two.
 *
 * @return the object, which the caller owns, or NULL without --latency
 */
json_t *latency_json(const struct app *app);

#endif /* TOTALS_H */
