/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_RECEIVE_H
#define AGGREGATE_RECEIVE_H

/** @file Packets of aggregations: handed to their shard and processed there. */

#include <rte_prefetch.h>

#include "app.h"

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
aggregate_fetch(const struct rte_mbuf *mbuf)
{
	const char *bytes = rte_pktmbuf_mtod(mbuf, const char *);

	for (uint32_t at = 0; at < rte_pktmbuf_data_len(mbuf); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(bytes + at);
}

/** Process the packets that other lcores have handed over, between two bursts. Returns how many. */
unsigned int aggregate_poll(struct app *app, struct lcore *lcore);

#endif /* AGGREGATE_RECEIVE_H */
