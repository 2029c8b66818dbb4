/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAL_H
#define EAL_H

/** @file The EAL, and its devices. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "option.h"

/* The start of the EAL, with plain words where it fails; signals that end a program. */

/**
 * Look for what the EAL needs, then initialise it.
 *
 * @param eal_argc, eal_argv the EAL's arguments
 * @return EXIT_DONE, or the status to exit with, with the reason on stderr
 */
enum exit_status eal_start(int eal_argc, char **eal_argv);

/** Free what the EAL has, once all ports are closed. */
void eal_end(void);

/**
 * Whether there is a port for each network device that --vdev and -a ask for. The EAL goes on
 * without one that it cannot make (a missing file, say), and the program would not do what was
 * asked for.
 *
 * @return EXIT_DONE, or the status to exit with; the first that is missing is on stderr
 */
enum exit_status eal_check_devices(void);

/**
 * Have SIGINT and SIGTERM handled, and SIGPIPE ignored: a peer that goes away is a transmit error,
 * not the program's end.
 *
 * @param flags of sigaction()
 */
void signals_catch(void (*handler)(int signal), int flags);

/* Ports of DPDK: configured, started, stopped. Errors are reported on stderr. */

/** Packet buffers that an lcore may keep in the pool's cache. */
#define MBUF_CACHE 256

/** How a port is to be set up. */
struct ethdev_setup {
	uint16_t rx_queues, tx_queues;
	uint16_t rx_descriptors, tx_descriptors; /**< of each queue */
	uint16_t mtu;                            /**< 0: what the port has */
	uint64_t tx_offloads;                    /**< those wanted, if the port has them */
	bool all_multicast;
	bool rx_interrupts;               /**< if the port has them */
	struct rte_mempool *pool;         /**< what is received goes there */
	struct rte_mempool *const *pools; /**< or into another by receive queue; NULL: not so */
};

/** Report what failed at a port. Returns -1. */
int ethdev_fail(uint16_t id, const char *what, int error);

/** Whether a port's device is on no bus of the machine: made by software alone (--vdev). */
bool ethdev_is_virtual(const struct rte_eth_dev_info *info);

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

/** The `-m` in MiB that would have been enough: for what is in use, and `more` bytes. */
size_t eal_memory_option(unsigned int socket, size_t more);

/**
 * Make a pool of packet buffers.
 *
 * @param data_bytes of each buffer, headroom included
 * @param socket NUMA node of the memory
 * @return the pool, or NULL
 */
struct rte_mempool *
ethdev_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket);

#endif /* EAL_H */
