/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORTS_H
#define PORTS_H

/** @file Ports: found, configured, started, stopped. What goes wrong is said on stderr. */

#include "bench.h"

/** Find the ports to send from and receive at, and what depends on them. 0 or -1. */
int ports_find(struct bench *bench);

/** Make the packet buffers. 0 or -1. */
int ports_create_pool(struct bench *bench);

/** Get a port's properties and the descriptors of its queues. 0 or -1. */
int port_examine(struct port *port, uint16_t id);

/** Configure and start a port. 0 or -1. */
int port_start(struct port *port, const struct options *options, struct rte_mempool *pool);

/** Stop and close a port. */
void port_stop(struct port *port);

/** Start all ports, and wait for their links. 0 or -1. */
int ports_start(struct bench *bench);

/** Stop and close all ports. */
void ports_stop(struct bench *bench);

#endif /* PORTS_H */
