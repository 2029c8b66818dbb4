/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_H
#define PLAN_H

/** @file Which lcore serves which queues. */

#include "app.h"

/**
 * Spread the receive queues of all ports over the lcores, and give each lcore a transmit queue of
 * its own on every port it sends to, so that nothing needs a lock. Where a device has too few
 * queues for that, fewer lcores are used.
 *
 * @return 0, or -1 (said on stderr) if an lcore would get more queues than it can hold
 */
int plan_make(struct app *app);

/** Print the plan, and which lcores have nothing to do. */
void plan_print(const struct app *app);

#endif /* PLAN_H */
