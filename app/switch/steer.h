/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEER_H
#define STEER_H

/**
 * @file
 * Steering: rules of a device (rte_flow) that direct packets for the switch to a queue of the right
 * lcore. A shard's UDP port leads to a queue of its lcore, requests to an address with a queue
 * (--address IP@PORT:QUEUE) to that one. Where a device refuses, it spreads packets as it does all
 * others (RSS), and lcores hand over what is not theirs (aggregation.h).
 */

#include "app.h"

/** Check that addresses name queues that there are. 0, or -1 (reported on stderr). */
int steer_check(const struct app *app);

/** Install the rules of the started ports, and print the outcome for each port. */
void steer_start(struct app *app);

/** Remove the rules of a port, before it is stopped. */
void steer_stop(struct port *port);

#endif /* STEER_H */
