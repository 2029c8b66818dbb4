/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRANSMIT_H
#define TRANSMIT_H

/** @file Packets out of ports, each sent or counted as dropped. */

#include <string.h>

#include "app.h"

/** Send a burst out of a port, given by its index, now. */
void transmit(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf **mbufs,
	uint16_t count);

/** Send what transmit_later() has kept for a port, given by its index. */
void transmit_buffered(struct app *app, struct lcore *lcore, unsigned int out);

/** Send packets, at most PIPELINE_BURST, with the next transmit_flush(). */
static inline void
transmit_burst_later(struct app *app, struct lcore *lcore, unsigned int out,
	struct rte_mbuf *const *mbufs, uint16_t count)
{
	struct tx_buffer *tx_buffer = &lcore->tx_buffer[out];

	if (unlikely(tx_buffer->count + count > PIPELINE_BURST))
		transmit_buffered(app, lcore, out);
	memcpy(&tx_buffer->mbuf[tx_buffer->count], mbufs, count * sizeof(mbufs[0]));
	tx_buffer->count = (uint16_t)(tx_buffer->count + count);
}

/** Send a packet with the next transmit_flush(). */
static inline void
transmit_later(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf *mbuf)
{
	transmit_burst_later(app, lcore, out, &mbuf, 1);
}

/** Send what transmit_later() has kept: at the end of every burst. */
void transmit_flush(struct app *app, struct lcore *lcore);

#endif /* TRANSMIT_H */
