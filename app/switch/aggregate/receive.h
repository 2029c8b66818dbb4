/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_RECEIVE_H
#define AGGREGATE_RECEIVE_H

/** @file Packets of aggregations: handed to their shard and processed there. */

#include <rte_prefetch.h>

#include "app.h"

/**
 * Take a UDP datagram to one of the ports of aggregations and to one of the switch's addresses.
 * It is sent, handed over or dropped. Without --aggregate a request is refused.
 *
 * @param in index of the port where it came in
 */
void aggregate_receive(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame);

/**
 * Fetch a packet that most likely comes next: all of it will be read, and to wait for each of its
 * lines takes longer than to add it up.
 */
static inline void
aggregate_fetch(const struct rte_mbuf *mbuf)
{
	const char *bytes = rte_pktmbuf_mtod(mbuf, const char *);

	for (uint32_t at = 0; at < rte_pktmbuf_data_len(mbuf); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(bytes + at);
}

/** Work on what other lcores have handed over to this one, between two bursts. Returns how many. */
unsigned int aggregate_poll(struct app *app, struct lcore *lcore);

#endif /* AGGREGATE_RECEIVE_H */
