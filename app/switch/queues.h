/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUEUES_H
#define QUEUES_H

/** @file Queue assignment: which lcore serves which queues. */

#include "app.h"

/**
 * Spread the receive queues of all ports over the lcores, and give each lcore a transmit queue of
 * its own on every port it sends to, so that nothing needs a lock. Where a device has too few
 * queues for that, fewer lcores are used. With --config, as it says.
 *
 * @return 0, or -1 (reported on stderr) if an lcore would get more queues than it can hold, or
 *   --config does not suit the ports
 */
int queues_assign(struct app *app);

/** Print the assignment, and which lcores have nothing to do. */
void queues_print(const struct app *app);

#endif /* QUEUES_H */
