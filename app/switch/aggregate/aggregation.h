/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATION_H
#define AGGREGATION_H

/**
 * @file
 * Aggregation in the switch: the table of jobs (lib/aggregate), and which lcore works on which of
 * its shards. All memory is reserved at start.
 *
 * Shard s has UDP port `port` + s and one lcore, which alone touches it. A packet that came to
 * another lcore is handed over through the shard's inbox, a ring.
 */

#include <stddef.h>
#include <stdint.h>

#include <rte_ring.h>

#include "aggregate/uplink.h"
#include "aggregate_table.h"

/** An lcore's part. Only that lcore writes the counters. */
struct shard {
	struct aggregate_shard *machine;
	struct rte_ring *inbox;             /**< packets that came to other lcores */
	uint64_t handed_over;               /**< packets taken out of the inbox */
	uint64_t refused[NETFC_STATUS_END]; /**< requests with a wrong header, by code */
	struct uplink_side uplink;          /**< with a parent */
} __rte_cache_aligned;

/** The table and its shards. */
struct aggregation {
	struct aggregate_limits limits;
	struct aggregate_secret *secret; /**< NULL: packets have no tags */
	struct uplink *uplink;           /**< NULL: there is no parent */
	struct aggregate_table *table;
	size_t bytes; /**< of the table */
	uint16_t port;
	uint32_t shard_count;
	struct shard shard[AGGREGATE_MAX_SHARDS];
};

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

#endif /* AGGREGATION_H */
