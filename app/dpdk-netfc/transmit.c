/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_pause.h>

#include "transmit.h"

/* How often a full transmit queue is tried again before its packets are dropped. */
#define TX_TRIES 64

/* Take out what is too long for the port; returns how many are left. */
static uint16_t
drop_oversize(const struct port *port, struct lcore *lcore, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(mbufs[i]->pkt_len <= port->longest)) {
			mbufs[kept++] = mbufs[i];
			continue;
		}
		lcore->counters.drops[DROP_OVERSIZE]++;
		rte_pktmbuf_free(mbufs[i]);
	}
	return kept;
}

void
transmit(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf **mbufs,
	uint16_t count)
{
	uint16_t port = app->port[out].id, queue = lcore->tx_queue[out];
	uint16_t sent;

	if (app->port[out].longest != UINT32_MAX)
		count = drop_oversize(&app->port[out], lcore, mbufs, count);
	sent = rte_eth_tx_burst(port, queue, mbufs, count);

	for (unsigned int tries = 1; unlikely(sent < count) && tries < TX_TRIES; tries++) {
		rte_pause();
		sent = (uint16_t)(sent +
			rte_eth_tx_burst(port, queue, mbufs + sent, (uint16_t)(count - sent)));
	}
	lcore->counters.tx_packets += sent;
	if (unlikely(sent < count)) {
		lcore->counters.drops[DROP_TX_FULL] += (uint64_t)(count - sent);
		rte_pktmbuf_free_bulk(mbufs + sent, (unsigned int)(count - sent));
	}
}

void
transmit_later(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf *mbuf)
{
	struct outbox *outbox = &lcore->outbox[out];

	outbox->mbuf[outbox->count++] = mbuf;
	if (outbox->count < PIPELINE_BURST)
		return;
	transmit(app, lcore, out, outbox->mbuf, outbox->count);
	outbox->count = 0;
}

void
transmit_flush(struct app *app, struct lcore *lcore)
{
	for (unsigned int out = 0; out < app->port_count; out++) {
		struct outbox *outbox = &lcore->outbox[out];

		if (outbox->count > 0)
			transmit(app, lcore, out, outbox->mbuf, outbox->count);
		outbox->count = 0;
	}
}
