/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "poll.h"
#include "reflect.h"

/* How often a full transmit queue is tried again before its packets are dropped. */
#define TX_TRIES 64
/* How often the main lcore looks whether traffic has ended, or, without paths, whether to quit. */
#define WATCH_US 1000

static void
transmit(struct lcore *lcore, const struct path *path, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t sent = rte_eth_tx_burst(path->tx_port, path->tx_queue, mbufs, count);

	for (unsigned int tries = 1; unlikely(sent < count) && tries < TX_TRIES; tries++) {
		rte_pause();
		sent = (uint16_t)(sent +
			rte_eth_tx_burst(path->tx_port, path->tx_queue, mbufs + sent,
				(uint16_t)(count - sent)));
	}
	lcore->counters.tx_packets += sent;
	if (unlikely(sent < count)) {
		lcore->counters.drops[DROP_TX_FULL] += count - sent;
		rte_pktmbuf_free_bulk(mbufs + sent, (unsigned int)(count - sent));
	}
}

static void
poll_path(struct lcore *lcore, const struct path *path)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	uint16_t count = rte_eth_rx_burst(path->rx_port, path->rx_queue, mbufs, PIPELINE_BURST);

	if (count == 0)
		return;
	lcore->counters.rx_packets += count;
	pipeline_process(lcore->worker, mbufs, frames, count);
	for (uint16_t i = 0; lcore->reflect && i < count; i++)
		reflect(mbufs[i], &frames[i]);
	transmit(lcore, path, mbufs, count);
}

static void
poll_paths(struct lcore *lcore)
{
	for (unsigned int i = 0; i < lcore->path_count; i++)
		poll_path(lcore, &lcore->path[i]);
}

static int
worker_main(void *arg)
{
	struct app *app = arg;
	struct lcore *lcore = &app->lcore[rte_lcore_id()];

	while (!app_should_quit(app))
		poll_paths(lcore);
	return 0;
}

/* The end of traffic, seen from the receive counters of all lcores. */
struct watch {
	uint64_t limit; /* TSC cycles without a packet; 0: none */
	uint64_t next;  /* when to look again */
	uint64_t since; /* when the last packet was noticed */
	uint64_t received;
};

static uint64_t
received_by_all(const struct app *app)
{
	uint64_t received = 0;
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		received += app->lcore[lcore_id].counters.rx_packets;
	return received;
}

static void
watch_traffic(struct app *app, struct watch *watch)
{
	uint64_t now = rte_rdtsc(), received;

	if (watch->limit == 0 || now < watch->next)
		return;
	watch->next = now + rte_get_tsc_hz() / US_PER_S * WATCH_US;
	received = received_by_all(app);
	if (received != watch->received) {
		watch->received = received;
		watch->since = now;
	} else if (now - watch->since >= watch->limit) {
		app_quit(app);
	}
}

static void
main_lcore(struct app *app)
{
	struct lcore *lcore = &app->lcore[rte_lcore_id()];
	struct watch watch = {
		.limit = rte_get_tsc_hz() / MS_PER_S * app->options.idle_exit_ms,
		.since = rte_rdtsc(),
	};

	while (!app_should_quit(app)) {
		poll_paths(lcore);
		watch_traffic(app, &watch);
		if (lcore->path_count == 0)
			rte_delay_us_sleep(WATCH_US);
	}
}

void
poll_run(struct app *app)
{
	uint64_t start = rte_rdtsc();
	unsigned int lcore_id;

	RTE_LCORE_FOREACH_WORKER (lcore_id) {
		if (app->lcore[lcore_id].path_count > 0)
			rte_eal_remote_launch(worker_main, app, lcore_id);
	}
	main_lcore(app);
	rte_eal_mp_wait_lcore();
	app->seconds = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
}
