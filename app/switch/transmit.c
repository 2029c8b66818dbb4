/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_pause.h>

#include "transmit.h"

/* Attempts to send to a port that takes nothing before packets are dropped. */
#define TX_TRIES 64

/* Drop packets that are too long for the port, or all if it has gone. Returns how many are left. */
static uint16_t
drop_oversize(const struct port *port, struct lcore *lcore, struct rte_mbuf **mbufs, uint16_t count)
{
	enum drop_reason reason = port_is_gone(port) ? DROP_PORT_GONE : DROP_OVERSIZE;
	uint32_t max_frame = __atomic_load_n(&port->max_frame, __ATOMIC_RELAXED);
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(mbufs[i]->pkt_len <= max_frame && reason == DROP_OVERSIZE)) {
			mbufs[kept++] = mbufs[i];
			continue;
		}
		lcore->counters.drops[reason]++;
		rte_pktmbuf_free(mbufs[i]);
	}
	return kept;
}

/*
 * Give packets to a port until it has taken or refused each. A packet that it does not take after
 * some tries is dropped; those after it get one more try, since the port may refuse only that one.
 * Returns a bit for each refused packet.
 */
static uint64_t
tx_burst_retry(struct tx_buffer *tx_buffer, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count)
{
	unsigned int tries = 0;
	uint64_t refused = 0;

	for (uint16_t done = 0; done < count;) {
		uint16_t sent =
			rte_eth_tx_burst(port, queue, mbufs + done, (uint16_t)(count - done));

		done = (uint16_t)(done + sent);
		if (likely(done == count))
			break;
		tx_buffer->untaken += (uint16_t)(count - done);
		if (sent > 0)
			continue;
		if (++tries < TX_TRIES) {
			rte_pause();
			continue;
		}
		refused |= UINT64_C(1) << done;
		rte_pktmbuf_free(mbufs[done++]);
	}
	return refused;
}

static __rte_noinline uint64_t
offer_and_capture(struct capture_tap *tap, struct tx_buffer *tx_buffer, uint16_t port,
	uint16_t queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct rte_mbuf *copies[PIPELINE_BURST];
	uint64_t refused;

	capture_copy(tap, port, queue, mbufs, count, copies);
	refused = tx_burst_retry(tx_buffer, port, queue, mbufs, count);
	capture_sent(tap, port, copies, count, refused);
	return refused;
}

void
transmit(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf **mbufs,
	uint16_t count)
{
	struct capture_tap *tap = __atomic_load_n(&lcore->capture, __ATOMIC_ACQUIRE);
	uint16_t port = app->port[out].id, queue = lcore->tx_queue[out];
	struct tx_buffer *tx_buffer = &lcore->tx_buffer[out];
	uint64_t refused;

	if (__atomic_load_n(&app->port[out].max_frame, __ATOMIC_RELAXED) != UINT32_MAX)
		count = drop_oversize(&app->port[out], lcore, mbufs, count);
	if (likely(tap == NULL))
		refused = tx_burst_retry(tx_buffer, port, queue, mbufs, count);
	else
		refused = offer_and_capture(tap, tx_buffer, port, queue, mbufs, count);
	if (unlikely(refused != 0)) {
		const unsigned int dropped = (unsigned int)__builtin_popcountll(refused);

		lcore->counters.drops[DROP_TX_FULL] += dropped;
		count = (uint16_t)(count - dropped);
	}
	/* Others read it at any time, and take one that goes back for a restart. */
	lcore->counters.tx_packets += count;
}

void
transmit_buffered(struct app *app, struct lcore *lcore, unsigned int out)
{
	struct tx_buffer *tx_buffer = &lcore->tx_buffer[out];

	if (tx_buffer->count > 0)
		transmit(app, lcore, out, tx_buffer->mbuf, tx_buffer->count);
	tx_buffer->count = 0;
}

void
transmit_flush(struct app *app, struct lcore *lcore)
{
	for (unsigned int out = 0; out < app->port_count; out++)
		transmit_buffered(app, lcore, out);
}
