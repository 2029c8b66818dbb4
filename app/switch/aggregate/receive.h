/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_RECEIVE_H
#define AGGREGATE_RECEIVE_H

/** @file Packets of aggregations: to their shard, and what becomes of them there. */

#include "app.h"

/**
 * Take a UDP datagram to one of the ports of aggregations and to one of the switch's addresses.
 * It is sent, handed over or dropped. Without --aggregate a request is answered so.
 *
 * @param in index of the port where it came in
 */
void aggregate_receive(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame);

/** Work on what other lcores have handed over to this one; between two bursts. */
void aggregate_poll(struct app *app, struct lcore *lcore);

#endif /* AGGREGATE_RECEIVE_H */
