/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_lcore.h>

#include "plan.h"

static int
add_path(struct app *app, unsigned int lcore_id, struct path path)
{
	struct lcore *lcore = &app->lcore[lcore_id];

	if (lcore->path_count == MAX_PATHS) {
		fprintf(stderr, PROGRAM ": lcore %u: more than %u queues; use more lcores\n",
			lcore_id, MAX_PATHS);
		return -1;
	}
	lcore->path[lcore->path_count++] = path;
	return 0;
}

/* The next lcore in turn. */
static unsigned int
next_lcore(unsigned int lcore_id)
{
	return rte_get_next_lcore(lcore_id, 0, 1);
}

/* Receive queues that share a transmit queue go to the same lcore. */
static int
plan_transmit_queue(struct app *app, unsigned int p, uint16_t tx_queue, unsigned int lcore_id)
{
	const struct port *port = &app->port[p], *out = &app->port[port->out];

	for (uint16_t q = tx_queue; q < port->rx_queues; q = (uint16_t)(q + out->tx_queues)) {
		struct path path = {port->id, q, out->id, tx_queue};

		if (add_path(app, lcore_id, path) != 0)
			return -1;
	}
	return 0;
}

int
plan_make(struct app *app)
{
	unsigned int lcore_id = rte_get_main_lcore();

	for (unsigned int p = 0; p < app->port_count; p++) {
		uint16_t queues = app->port[app->port[p].out].tx_queues;

		for (uint16_t q = 0; q < queues; q++) {
			if (plan_transmit_queue(app, p, q, lcore_id) != 0)
				return -1;
			lcore_id = next_lcore(lcore_id);
		}
	}
	return 0;
}

void
plan_print(const struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		for (unsigned int i = 0; i < lcore->path_count; i++) {
			const struct path *path = &lcore->path[i];

			printf("  lcore %-3u port %u queue %u -> port %u queue %u\n", lcore_id,
				path->rx_port, path->rx_queue, path->tx_port, path->tx_queue);
		}
		if (lcore->path_count == 0)
			printf("  lcore %-3u idle: there are more lcores than queues\n", lcore_id);
	}
}
