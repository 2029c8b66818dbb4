/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ethdev.h>

#include "aggregate/aggregation.h"
#include "dpdk/eal.h"
#include "sleep/limits.h"
#include "sleep/ramp.h"

/* Of a link whose speed nobody knows (virtio-net), and what one core feeds a virtual device. */
#define USUAL_MBPS RTE_ETH_SPEED_NUM_10G

/* The greatest speed that a device can have. */
static uint32_t
fastest_mbps(uint32_t capabilities)
{
	static const uint32_t speeds[] = {
		RTE_ETH_SPEED_NUM_200G,
		RTE_ETH_SPEED_NUM_100G,
		RTE_ETH_SPEED_NUM_56G,
		RTE_ETH_SPEED_NUM_50G,
		RTE_ETH_SPEED_NUM_40G,
		RTE_ETH_SPEED_NUM_25G,
		RTE_ETH_SPEED_NUM_20G,
		RTE_ETH_SPEED_NUM_10G,
		RTE_ETH_SPEED_NUM_5G,
		RTE_ETH_SPEED_NUM_2_5G,
		RTE_ETH_SPEED_NUM_1G,
	};

	for (unsigned int s = 0; s < RTE_DIM(speeds); s++) {
		if (capabilities & rte_eth_speed_bitflag(speeds[s], RTE_ETH_LINK_FULL_DUPLEX))
			return speeds[s];
	}
	return USUAL_MBPS;
}

/* A link that is down may come up at any speed. */
static uint32_t
link_mbps(const struct port *port)
{
	struct rte_eth_link link = {0};

	if (port_is_gone(port) || ethdev_is_virtual(&port->info))
		return USUAL_MBPS;
	if (rte_eth_link_get_nowait(port->id, &link) != 0 ||
		link.link_speed == RTE_ETH_SPEED_NUM_NONE ||
		link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return fastest_mbps(port->info.speed_capa);
	return link.link_speed;
}

/* What other lcores hand over comes at the speed of all links at most. */
static uint32_t
inbox_limit_us(const struct app *app, const struct shard *shard, const uint32_t *mbps)
{
	uint32_t sum = 0;

	for (unsigned int p = 0; p < app->port_count; p++)
		sum += mbps[p];
	return ramp_limit_us(rte_ring_get_capacity(shard->inbox), sum);
}

static uint32_t
lcore_limit_us(const struct app *app, const struct lcore *lcore, const uint32_t *mbps)
{
	uint32_t limit_us = RAMP_LONGEST_US;

	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		unsigned int port = lcore->rx_queue[i].port;
		uint32_t fills = ramp_limit_us(app->port[port].rx_descriptors, mbps[port]);

		limit_us = RTE_MIN(limit_us, fills);
	}
	if (lcore->shard != NULL && app->shard_count > 1)
		limit_us = RTE_MIN(limit_us, inbox_limit_us(app, lcore->shard, mbps));
	return limit_us;
}

void
limits_set(struct app *app)
{
	uint32_t mbps[RTE_MAX_ETHPORTS];
	unsigned int lcore_id;

	for (unsigned int p = 0; p < app->port_count; p++)
		mbps[p] = link_mbps(&app->port[p]);
	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		__atomic_store_n(&lcore->sleeper.limit_us, lcore_limit_us(app, lcore, mbps),
			__ATOMIC_RELAXED);
	}
}
