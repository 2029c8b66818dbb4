/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORTS_H
#define PORTS_H

/** @file Ports: found, configured, started, stopped. Errors are reported on stderr. */

#include "bench.h"

/** Find the ports to send from and receive at, and what depends on them. 0 or -1. */
int bench_ports_find(struct bench *bench);

/** Make the packet buffers. 0 or -1. */
int bench_ports_create_pool(struct bench *bench);

/** Start all ports, and wait for their links. 0 or -1. */
int bench_ports_start(struct bench *bench);

/** Stop and close all ports. */
void bench_ports_stop(struct bench *bench);

#endif /* PORTS_H */
