/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ETHDEV_H
#define ETHDEV_H

/** @file Ports of DPDK: configured, started, stopped. Errors are reported on stderr. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

/** Packet buffers that an lcore may keep in the pool's cache. */
#define MBUF_CACHE 256

/** How a port is to be set up. */
struct ethdev_setup {
	uint16_t rx_queues, tx_queues;
	uint16_t rx_descriptors, tx_descriptors; /**< of each queue */
	uint16_t mtu;                            /**< 0: what the port has */
	uint64_t tx_offloads;                    /**< those wanted, if the port has them */
	bool all_multicast;
	struct rte_mempool *pool;         /**< what is received goes there */
	struct rte_mempool *const *pools; /**< or into another by receive queue; NULL: not so */
};

/** Report what failed at a port. Returns -1. */
int ethdev_fail(uint16_t id, const char *what, int error);

/** Get a port's properties, and how many descriptors its queues should have. 0 or -1. */
int ethdev_examine(uint16_t id, struct rte_eth_dev_info *info, uint16_t *rx_descriptors,
	uint16_t *tx_descriptors);

/**
 * Configure a port, set up its queues, and start it, in promiscuous mode where it can. With several
 * receive queues packets are spread by RSS over addresses and UDP ports, where the port can.
 *
 * @return 0 or -1
 */
int
ethdev_start(uint16_t id, const struct rte_eth_dev_info *info, const struct ethdev_setup *setup);

/** Stop a port if it was started, and close it. */
void ethdev_stop(uint16_t id, bool started);

/**
 * Make a pool of packet buffers.
 *
 * @param data_bytes of each buffer, headroom included
 * @param socket NUMA node of the memory
 * @return the pool, or NULL
 */
struct rte_mempool *
ethdev_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket);

#endif /* ETHDEV_H */
