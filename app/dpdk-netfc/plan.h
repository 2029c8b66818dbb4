/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_H
#define PLAN_H

/** @file Which lcore serves which queues. */

#include "app.h"

/**
 * Spread the paths of all ports over all lcores: each receive queue is served by one lcore, and
 * each transmit queue used by one lcore, so that nothing needs a lock.
 *
 * @return 0, or -1 (said on stderr) if there are more paths than lcores can hold
 */
int plan_make(struct app *app);

/** Print the plan, and which lcores have nothing to do. */
void plan_print(const struct app *app);

#endif /* PLAN_H */
