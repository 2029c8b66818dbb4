/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORTS_H
#define PORTS_H

/** @file Ports: found, configured, started, stopped. What goes wrong is said on stderr. */

#include "app.h"

/** Find all ports and decide where their packets leave. 0, or -1 if the options do not suit them.
 */
int ports_find(struct app *app);

/** Make the mbuf pool that all queues may be full of at once. 0 or -1. */
int ports_create_pool(struct app *app, unsigned int lcores);

/** Configure and start all ports. 0 or -1. */
int ports_start(struct app *app);

/** Stop and close the ports, and count the mbufs that did not come back. */
void ports_stop(struct app *app);

#endif /* PORTS_H */
