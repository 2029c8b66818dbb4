/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpdk/ethdev.h"
#include "run/port.h"

int
port_examine(struct port *port, uint16_t id)
{
	port->id = id;
	return ethdev_examine(id, &port->info, &port->rx_descriptors, &port->tx_descriptors);
}

int
port_start(struct port *port, const struct options *options, struct rte_mempool *pool)
{
	const struct ethdev_setup setup = {
		.rx_queues = port->queues,
		.tx_queues = port->queues,
		.rx_descriptors = port->rx_descriptors,
		.tx_descriptors = port->tx_descriptors,
		.mtu = options->mtu > RTE_ETHER_MTU ? (uint16_t)options->mtu : 0,
		.pool = pool,
	};

	port->started = ethdev_start(port->id, &port->info, &setup) == 0;
	return port->started ? 0 : -1;
}

void
port_stop(struct port *port)
{
	ethdev_stop(port->id, port->started);
	port->started = false;
}
