/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATE_H
#define STATE_H

/** @file The state of the switch: summed, as objects, over telemetry, and reported. */

#include <jansson.h>

#include <rte_ethdev.h>

#include "app.h"

/*
 * Counters and latencies, summed. Any thread may sum them while lcores and devices go on counting.
 */

/** Sums over lcores and ports. */
struct totals {
	struct packet_counters packets;
	struct pipeline_counters pipeline;
	struct rte_eth_stats devices; /**< the fields of DEVICE_COUNTERS */
};

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

/** Packets that aggregations have taken up. */
uint64_t totals_taken_up(const struct totals *totals);

/** Packets dropped, for whatever reason. */
uint64_t totals_dropped(const struct totals *totals);

/** Whether everything that was received or copied was sent, taken up or dropped; true once lcores
 * have stopped. */
bool totals_add_up(const struct totals *totals);

/** Set them in an object. */
void totals_set(json_t *object, const struct functions *functions, const struct totals *totals);

/** Those of one device, or their sum over all, as an object. */
json_t *totals_device_json(const struct rte_eth_stats *stats);

/*
 * How long packets take, with --latency: from the return of the receive burst that brought a packet
 * to the return of the last transmit burst of those it came with, in TSC cycles. Each lcore has a
 * histogram of its own, which it alone writes.
 */

/** Make the histograms of all lcores with rx queues. 0, or -1 where memory is short. */
int latency_create(struct app *app);

/** Free them. */
void latency_free(struct app *app);

/**
 * What they say, as an object: tsc_hz; count; and in TSC cycles sum, least, mean, p50, p90, p99,
 * p99_9, greatest; buckets_ns: how many packets took no longer than so many nanoseconds (and longer
 * than those of the bucket before), always all of them, six for each power of ten; and how many
 * took more than a second.
 *
 * @return the object, which the caller owns, or NULL without --latency
 */
json_t *latency_json(const struct app *app);

/*
 * Configuration, state and counters of the switch, as JSON objects: the one source of the final
 * report and of telemetry. Names are letters, digits and underscores. The caller owns what is
 * returned; NULL means that there is nothing of the kind.
 */

/** All counters: those of --stats-json. */
json_t *state_stats(const struct app *app, const struct totals *totals);

/** Aggregations, without the jobs one by one; "on" alone without --aggregate. */
json_t *state_aggregate(const struct app *app);

/** A job by its index in the table; NULL: there is none. */
json_t *state_job(const struct app *app, unsigned int index);

/** The configuration in force. */
json_t *state_config(const struct app *app);

/** The loaded table sets, by format. */
json_t *state_tables(const struct app *app);

/** The loaded functions, by name. */
json_t *state_functions(const struct app *app);

/** One of them by its number; NULL if there is none. */
json_t *state_function(const struct app *app, unsigned int number);

/** The bridge; NULL without one. */
json_t *state_bridge(const struct app *app);

/** The Slowloris detector; all but `on` with --slowloris only. */
json_t *state_slowloris(const struct app *app);

/** Its rules, which is what its options have set; with a detector only. */
json_t *state_rules(const struct app *app);

/** A destination's registers, zero where it is not known; NULL: no IPv4 address, no detector. */
json_t *state_destination(const struct app *app, const char *address);

/** The ports' ids. */
json_t *state_ports(const struct app *app);

/** A port by its id; NULL if there is none. */
json_t *state_port(const struct app *app, unsigned int id);

/** The lcores' ids. */
json_t *state_lcores(const struct app *app);

/** An lcore by its id; NULL if there is none. */
json_t *state_lcore(const struct app *app, unsigned int id);

/*
 * The state of the switch over DPDK's telemetry socket, under /netfc/. It can only be read.
 * Clients are served by threads of their own, which no lcore ever waits for.
 */

/** Make the commands known. 0, or -1 (reported on stderr). */
int telemetry_register(struct app *app);

/** Whether the state is complete and can be shown from now on; if not, commands answer null. */
void telemetry_set_open(struct app *app, bool open);

/*
 * What the switch prints: its configuration at start, a line of statistics every so many seconds,
 * its counters at the end.
 */

/** Print the effective configuration. */
void report_configuration(const struct app *app);

/** Print that packets are processed from now on, and how to stop. */
void report_ready(const struct app *app);

/** Print the final counters, of state_stats(). */
void report_totals(const struct app *app, json_t *stats);

/** What they have of aggregations; NULL: nothing. */
void report_aggregate(const json_t *aggregate);

/** The thread that prints statistics. */
struct periodic;

/**
 * Start printing statistics.
 *
 * @param interval_s seconds between two lines, at least 1
 * @return 0, or -1 (reported on stderr)
 */
int periodic_start(struct app *app, uint32_t interval_s, struct periodic **periodic);

/** Stop; NULL is allowed. */
void periodic_stop(struct periodic *periodic);

#endif /* STATE_H */
