/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATION_H
#define AGGREGATION_H

/** @file Aggregation in the switch: its shards, the packets to them, and the results they send. */

#include <stddef.h>
#include <stdint.h>

#include <rte_prefetch.h>
#include <rte_ring.h>

#include "aggregate/parent_link.h"
#include "aggregate_table.h"
#include "app.h"

/*
 * Aggregation in the switch: the table of jobs (lib/aggregate), and which lcore works on which of
 * its shards. All memory is reserved at start.
 *
 * Shard s has UDP port `port` + s and one lcore, which alone touches it. A packet that came to
 * another lcore is handed over through the shard's inbox, a ring.
 */

/** An lcore's part. Only that lcore writes the counters. */
struct shard {
	struct aggregate_shard *state;
	struct rte_ring *inbox;              /**< packets that came to other lcores */
	struct sleeper *sleeper;             /**< of its lcore */
	uint64_t handed_over;                /**< packets taken out of the inbox */
	uint64_t refused[NETFC_STATUS_END];  /**< requests with a wrong header, by code */
	struct parent_link_side parent_link; /**< with a parent */
} __rte_cache_aligned;

/** The table and its shards. */
struct aggregation {
	struct aggregate_limits limits;
	struct aggregate_secret *secret; /**< NULL: packets have no tags */
	struct parent_link *parent_link; /**< NULL: there is no parent */
	struct aggregate_table *table;
	size_t bytes; /**< of the table */
	uint16_t port;
	uint32_t shard_count;
	struct shard shard[AGGREGATE_MAX_SHARDS];
};

/**
 * Read the cluster's key, if packets have tags.
 *
 * @param secret NULL where they have none
 * @return 0, or -1 (reported on stderr)
 */
int aggregation_read_key(const struct aggregate_options *options, struct aggregate_secret **secret);

/**
 * Make the table, and give each lcore its shard by the queue assignment, if aggregation is on.
 *
 * @return 0, or -1 (reported on stderr)
 */
int aggregation_create(struct app *app);

/** Free packets left in the inboxes, counted as dropped; after all lcores have stopped. */
void aggregation_drain(struct app *app);

/** Free it. */
void aggregation_free(struct app *app);

/** What all shards have counted. Any thread may call this. */
void
aggregation_counters(const struct aggregation *aggregation, struct aggregate_counters *counters);

/* Packets of aggregations: handed to their shard and processed there. */

/**
 * Process a UDP datagram to an aggregation port of one of the switch's addresses: it is answered,
 * handed over or dropped. Without --aggregate, requests are refused.
 *
 * @param in index of the port where it came in
 */
void aggregate_receive(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame);

/**
 * Prefetch the packet that is probably next: all of it will be read, and waiting for each cache
 * line takes longer than adding its values.
 */
static inline void
aggregate_prefetch(const struct rte_mbuf *mbuf)
{
	const char *bytes = rte_pktmbuf_mtod(mbuf, const char *);

	for (uint32_t at = 0; at < rte_pktmbuf_data_len(mbuf); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(bytes + at);
}

/** Process the packets that other lcores have handed over, between two bursts. Returns how many. */
unsigned int aggregate_poll(struct app *app, struct lcore *lcore);

/* Results to the workers of a job: packets with headers of their own and the same values. */

/**
 * Find out who sent a packet.
 *
 * @param in index of the port where it came in
 * @param mbuf headers in the first segment
 * @param sender its path is a struct path
 * @return whether a router has marked the packet
 */
bool result_learn_sender(unsigned int in, const struct rte_mbuf *mbuf, const struct frame *frame,
	struct aggregate_sender *sender);

/**
 * Whether a worker's result is as long as its request, and can replace it. If the chunk has an
 * owner, only one of the two may have values; and results may have another format.
 */
bool result_fits_request(
	const struct aggregate_message *request, const struct aggregate_outcome *outcome);

/**
 * Send a chunk's result to all workers.
 *
 * @param request the last worker's, whose own packet becomes its reply if that fits
 * @param outcome AGGREGATE_SEND_RESULTS
 * @param seal of the request
 * @param payload the request's: the result is written there
 */
void result_send(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, const struct aggregate_seal *seal,
	uint8_t *payload);

/**
 * Send the parent's result of a chunk to all workers, each in a packet of its own.
 *
 * @param request what AGGREGATE_HANDED_DOWN made of the reply
 * @param outcome AGGREGATE_SEND_RESULTS
 */
void result_hand_down(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome);

/**
 * Send a chunk's result to one worker, in a packet of its own.
 *
 * @param request that worker's
 * @param outcome AGGREGATE_SEND_RESULT
 * @param seal of the request
 * @param sender of the request
 */
void result_send_separately(struct app *app, struct lcore *lcore,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal, const struct aggregate_sender *sender);

#endif /* AGGREGATION_H */
