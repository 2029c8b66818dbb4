/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_H
#define BRIDGE_H

/**
 * @file
 * A learning switch (IEEE 802.1Q, clause 8): a packet leaves where its destination was last seen,
 * or everywhere else as long as that is unknown. Each VLAN learns on its own.
 */

#include "app.h"

/**
 * Forward the packets that came in at a port.
 *
 * @param in index of the port
 * @param frames what pipeline_process() found
 */
void bridge_forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count);

#endif /* BRIDGE_H */
