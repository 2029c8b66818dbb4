/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "dpdk/eal.h"
#include "dpdk/quirks.h"

/* Of a packet buffer besides its data, and of the pool for it. */
#define MBUF_MORE_BYTES (sizeof(struct rte_mbuf) + 2 * RTE_CACHE_LINE_SIZE)

#define DESCRIPTORS 1024

int
ethdev_fail(uint16_t id, const char *what, int error)
{
	fprintf(stderr, "%s: port %u: cannot %s: %s\n", program_invocation_short_name, id, what,
		rte_strerror(-error));
	return -1;
}

bool
ethdev_is_virtual(const struct rte_eth_dev_info *info)
{
	return info->device == NULL || strcmp(rte_bus_name(rte_dev_bus(info->device)), "vdev") == 0;
}

/* Those of which a bond is made remain ports, and would be used twice. */
static int
refuse_bond(uint16_t id)
{
	fprintf(stderr,
		"%s: port %u is a bond of ports, which is not supported; bond NICs in the kernel, "
		"and take the bond's interface by net_af_packet\n",
		program_invocation_short_name, id);
	return -1;
}

int
ethdev_examine(uint16_t id, struct rte_eth_dev_info *info, uint16_t *rx_descriptors,
	uint16_t *tx_descriptors)
{
	int error = rte_eth_dev_info_get(id, info);

	if (error != 0)
		return ethdev_fail(id, "get its properties", error);
	if (strcmp(info->driver_name, "net_bonding") == 0)
		return refuse_bond(id);
	*rx_descriptors = DESCRIPTORS;
	*tx_descriptors = DESCRIPTORS;
	rte_eth_dev_adjust_nb_rx_tx_desc(id, rx_descriptors, tx_descriptors);
	return 0;
}

static int
configure(uint16_t id, const struct rte_eth_dev_info *info, const struct ethdev_setup *setup)
{
	struct rte_eth_conf conf;
	int error;

	memset(&conf, 0, sizeof(conf));
	if (setup->rx_queues > 1 && info->flow_type_rss_offloads != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & info->flow_type_rss_offloads;
	}
	conf.intr_conf.rxq = setup->rx_interrupts ? 1 : 0;
	conf.intr_conf.rmv = (*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	conf.rxmode.mtu = setup->mtu;
	conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info->tx_offload_capa & setup->tx_offloads;
	error = rte_eth_dev_configure(id, setup->rx_queues, setup->tx_queues, &conf);
	if (error != 0 && setup->rx_interrupts) {
		conf.intr_conf.rxq = 0;
		error = rte_eth_dev_configure(id, setup->rx_queues, setup->tx_queues, &conf);
	}
	if (error != 0)
		return ethdev_fail(id, "configure it", error);
	error = setup->mtu != 0 ? rte_eth_dev_set_mtu(id, setup->mtu) : 0;
	return error == 0 || error == -ENOTSUP ? 0 : ethdev_fail(id, "set its MTU", error);
}

/* Rings of descriptors lie where the device is; virtual ones may be nowhere. */
static unsigned int
ring_socket(uint16_t id)
{
	int socket = rte_eth_dev_socket_id(id);

	return socket >= 0 ? (unsigned int)socket : rte_socket_id();
}

static int
set_up_queues(uint16_t id, const struct ethdev_setup *setup)
{
	int error;

	for (uint16_t q = 0; q < setup->rx_queues; q++) {
		error = rte_eth_rx_queue_setup(id, q, setup->rx_descriptors, ring_socket(id), NULL,
			setup->pools != NULL ? setup->pools[q] : setup->pool);
		if (error != 0)
			return ethdev_fail(id, "set up a receive queue", error);
	}
	for (uint16_t q = 0; q < setup->tx_queues; q++) {
		error = rte_eth_tx_queue_setup(id, q, setup->tx_descriptors, ring_socket(id), NULL);
		if (error != 0)
			return ethdev_fail(id, "set up a transmit queue", error);
	}
	return 0;
}

/*
 * Devices of software that cannot choose deliver what comes for any address; a virtual function
 * says also that it has no such mode where its NIC does not allow it one.
 */
static void
widen(uint16_t id, const struct rte_eth_dev_info *info, const struct ethdev_setup *setup)
{
	int promiscuous = rte_eth_promiscuous_enable(id);
	int multicast = setup->all_multicast ? rte_eth_allmulticast_enable(id) : 0;
	int expected = ethdev_is_virtual(info) ? -ENOTSUP : 0;

	if (promiscuous != 0 && promiscuous != expected)
		ethdev_fail(
			id, "receive what is for other addresses (promiscuous mode)", promiscuous);
	if (multicast != 0 && multicast != expected)
		ethdev_fail(id, "receive all multicast", multicast);
}

int
ethdev_start(uint16_t id, const struct rte_eth_dev_info *info, const struct ethdev_setup *setup)
{
	int error;

	if (configure(id, info, setup) != 0 || set_up_queues(id, setup) != 0)
		return -1;
	error = quirk_send_whole(id, setup->tx_queues);
	if (error == 0)
		error = rte_eth_dev_start(id);
	if (error == 0)
		widen(id, info, setup);
	if (error != 0 && setup->rx_interrupts) {
		struct ethdev_setup without = *setup;

		without.rx_interrupts = false;
		return ethdev_start(id, info, &without);
	}
	return error == 0 ? 0 : ethdev_fail(id, "start it", error);
}

void
ethdev_stop(uint16_t id, bool started)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(id, &info) == 0 && strcmp(info.driver_name, "net_memif") == 0)
		quirk_park_interrupts();
	if (started)
		rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
}

size_t
eal_memory_option(unsigned int socket, size_t more)
{
	const size_t step = (size_t)64 << 20;
	struct rte_malloc_socket_stats stats = {0};

	rte_malloc_get_socket_stats((int)socket, &stats);
	return ((stats.heap_allocsz_bytes + more) / step + 2) * (step >> 20);
}

struct rte_mempool *
ethdev_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket)
{
	struct rte_mempool *pool = quirk_pool_create(name, mbufs, data_bytes, socket);

	if (pool == NULL)
		fprintf(stderr,
			"%s: cannot make %u packet buffers on socket %u: %s; give the EAL more "
			"memory (-m %zu; --socket-mem MB[,MB...] for each socket)\n",
			program_invocation_short_name, mbufs, socket, rte_strerror(rte_errno),
			eal_memory_option(socket, mbufs * (data_bytes + MBUF_MORE_BYTES)));
	return pool;
}
