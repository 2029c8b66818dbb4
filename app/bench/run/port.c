/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "run/port.h"

#define DESCRIPTORS 1024

int
port_fail(const struct port *port, const char *what, int error)
{
	fprintf(stderr, PROGRAM ": port %u: cannot %s: %s\n", port->id, what, rte_strerror(-error));
	return -1;
}

int
port_examine(struct port *port, uint16_t id)
{
	int error;

	port->id = id;
	error = rte_eth_dev_info_get(id, &port->info);
	if (error != 0)
		return port_fail(port, "get its properties", error);
	port->rx_descriptors = DESCRIPTORS;
	port->tx_descriptors = DESCRIPTORS;
	rte_eth_dev_adjust_nb_rx_tx_desc(id, &port->rx_descriptors, &port->tx_descriptors);
	return 0;
}

int
port_start(struct port *port, const struct options *options, struct rte_mempool *pool)
{
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port->id);
	struct rte_eth_conf conf;
	int error;

	memset(&conf, 0, sizeof(conf));
	if (options->mtu > RTE_ETHER_MTU)
		conf.rxmode.mtu = options->mtu;
	conf.rxmode.offloads = port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	error = rte_eth_dev_configure(port->id, 1, 1, &conf);
	if (error != 0)
		return port_fail(port, "configure it", error);
	if (options->mtu > RTE_ETHER_MTU) {
		error = rte_eth_dev_set_mtu(port->id, (uint16_t)options->mtu);
		if (error != 0 && error != -ENOTSUP)
			return port_fail(port, "set its MTU", error);
	}
	error = rte_eth_rx_queue_setup(port->id, 0, port->rx_descriptors, socket, NULL, pool);
	if (error != 0)
		return port_fail(port, "set up its receive queue", error);
	error = rte_eth_tx_queue_setup(port->id, 0, port->tx_descriptors, socket, NULL);
	if (error != 0)
		return port_fail(port, "set up its transmit queue", error);
	/* Replies may go to any address; devices that cannot choose deliver them anyway. */
	rte_eth_promiscuous_enable(port->id);
	error = rte_eth_dev_start(port->id);
	if (error != 0)
		return port_fail(port, "start it", error);
	port->started = true;
	return 0;
}

void
port_stop(struct port *port)
{
	if (port->started)
		rte_eth_dev_stop(port->id);
	port->started = false;
	rte_eth_dev_close(port->id);
}
