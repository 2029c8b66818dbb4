/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "dpdk/eal.h"

#define NAME "netfc_dense"

static size_t
bytes_each(const struct rte_mempool *pool)
{
	return (size_t)pool->header_size + pool->elt_size + pool->trailer_size;
}

static ssize_t
memory_size(const struct rte_mempool *pool, uint32_t buffers, uint32_t page_shift,
	size_t *least_chunk, size_t *align)
{
	(void)page_shift;
	*least_chunk = bytes_each(pool);
	*align = RTE_CACHE_LINE_SIZE;
	return (ssize_t)(buffers * bytes_each(pool));
}

static int
populate(struct rte_mempool *pool, unsigned int most, void *memory, rte_iova_t iova, size_t length,
	rte_mempool_populate_obj_cb_t *add, void *opaque)
{
	const size_t count = RTE_MIN(length / bytes_each(pool), (size_t)most);

	for (size_t b = 0; b < count; b++) {
		const size_t at = b * bytes_each(pool) + pool->header_size;
		void *buffer = RTE_PTR_ADD(memory, at);

		add(pool, opaque, buffer, iova == RTE_BAD_IOVA ? RTE_BAD_IOVA : iova + at);
		rte_mempool_ops_enqueue_bulk(pool, &buffer, 1);
	}
	return (int)count;
}

const struct rte_mempool_ops *
ethdev_pool_ops(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return &rte_mempool_ops_table.ops[i];
	}
	return NULL;
}

/* The kernel hands a frame of AF_XDP to a NIC only if it does not cross pages. */
static bool
has_af_xdp(void)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port) {
		if (rte_eth_dev_info_get(port, &info) == 0 &&
			strcmp(info.driver_name, "net_af_xdp") == 0)
			return true;
	}
	return false;
}

static bool
may_cross_pages(void)
{
	return !rte_eal_has_hugepages() && rte_eal_iova_mode() == RTE_IOVA_VA && !has_af_xdp();
}

/*
 * Pools whose packet buffers stand side by side without hugepages, too. DPDK lets no buffer cross a
 * page. Of pages of 4 KB each holds one, at its start: the headers of all buffers share a few sets
 * of the caches, and push each other out before a burst is done.
 *
 * Returns a name for rte_pktmbuf_pool_create_by_ops(); NULL: as DPDK does, where pages are huge, or
 * a port cannot send what crosses one.
 */
static const char *
dense_pool_ops(void)
{
	const struct rte_mempool_ops *usual = ethdev_pool_ops(rte_mbuf_best_mempool_ops());
	struct rte_mempool_ops ops;

	if (usual == NULL || !may_cross_pages())
		return NULL;
	if (ethdev_pool_ops(NAME) != NULL)
		return NAME;
	ops = *usual;
	snprintf(ops.name, sizeof(ops.name), NAME);
	ops.calc_mem_size = memory_size;
	ops.populate = populate;
	return rte_mempool_register_ops(&ops) >= 0 ? NAME : NULL;
}

#define DESCRIPTORS 1024

int
ethdev_fail(uint16_t id, const char *what, int error)
{
	fprintf(stderr, "%s: port %u: cannot %s: %s\n", program_invocation_short_name, id, what,
		rte_strerror(-error));
	return -1;
}

int
ethdev_examine(uint16_t id, struct rte_eth_dev_info *info, uint16_t *rx_descriptors,
	uint16_t *tx_descriptors)
{
	int error = rte_eth_dev_info_get(id, info);

	if (error != 0)
		return ethdev_fail(id, "get its properties", error);
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
	conf.rxmode.mtu = setup->mtu;
	conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info->tx_offload_capa & setup->tx_offloads;
	error = rte_eth_dev_configure(id, setup->rx_queues, setup->tx_queues, &conf);
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

int
ethdev_start(uint16_t id, const struct rte_eth_dev_info *info, const struct ethdev_setup *setup)
{
	int error;

	if (configure(id, info, setup) != 0 || set_up_queues(id, setup) != 0)
		return -1;
	/* Packets for any address are wanted; devices that cannot choose deliver them anyway. */
	rte_eth_promiscuous_enable(id);
	if (setup->all_multicast)
		rte_eth_allmulticast_enable(id);
	error = rte_eth_dev_start(id);
	return error == 0 ? 0 : ethdev_fail(id, "start it", error);
}

void
ethdev_stop(uint16_t id, bool started)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(id, &info) == 0 && strcmp(info.driver_name, "net_memif") == 0)
		eal_park_interrupts();
	if (started)
		rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
}

struct rte_mempool *
ethdev_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create_by_ops(
		name, mbufs, MBUF_CACHE, 0, (uint16_t)data_bytes, (int)socket, dense_pool_ops());

	if (pool == NULL)
		fprintf(stderr,
			"%s: cannot make %u packet buffers on socket %u: %s; give the EAL more "
			"memory (-m MB; --socket-mem MB[,MB...] for each socket)\n",
			program_invocation_short_name, mbufs, socket, rte_strerror(rte_errno));
	return pool;
}
