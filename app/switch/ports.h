/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORTS_H
#define PORTS_H

/** @file Ports: found, configured, started, stopped. Errors are reported on stderr. */

#include <rte_rcu_qsbr.h>

#include "app.h"

/** Find all ports and decide where their packets leave. 0, or -1 if the options do not suit them.
 */
int ports_find(struct app *app);

/** Configure and start all ports. 0 or -1. */
int ports_start(struct app *app);

/** Stop and close the ports, and count the mbufs that did not come back. */
void ports_stop(struct app *app);

/*
 * Memory stays mapped while lcores use it. When a memif peer leaves, DPDK's driver (22.11 and
 * later) marks the port as disconnected and unmaps the shared memory at once, in the EAL's
 * interrupt thread, though an lcore may be in a burst on that port. The program's munmap(), which
 * takes precedence over the C library's, makes that thread wait until every lcore has passed a
 * quiescent state: in its next burst an lcore sees that the port is disconnected, and does not
 * touch the memory.
 */

/** From now on, wait for these lcores; NULL: for none any more. */
void unmap_guard(struct rte_rcu_qsbr *qsbr);

#endif /* PORTS_H */
