/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_H
#define PORT_H

/** @file One port: configured, started, stopped. What goes wrong is said on stderr. */

#include "bench.h"

/** Get a port's properties and the descriptors of its queues. 0 or -1. */
int port_examine(struct port *port, uint16_t id);

/** Configure and start a port. 0 or -1. */
int port_start(struct port *port, const struct options *options, struct rte_mempool *pool);

/** Stop and close a port. */
void port_stop(struct port *port);

#endif /* PORT_H */
