/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEER_H
#define STEER_H

/**
 * @file
 * Steering: rules of a device (rte_flow) that bring packets for the switch to the queue of the
 * lcore that is to have them. A shard's UDP port leads to a queue of its lcore, requests to an
 * address with a queue (--address IP@PORT:QUEUE) to that one. Where a device refuses, it spreads
 * packets as it does all others (RSS), and lcores hand over what is not theirs (aggregation.h).
 */

#include "app.h"

/** Check that addresses name queues that there are. 0, or -1 (reported on stderr). */
int steer_check(const struct app *app);

/** Give the started ports their rules, and print for each port what became of them. */
void steer_start(struct app *app);

/** Take the rules of a port back, before it is stopped. */
void steer_stop(struct port *port);

#endif /* STEER_H */
