/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERIODIC_H
#define PERIODIC_H

/** @file A line of statistics every so many seconds, printed by a thread of its own. */

#include "app.h"

struct periodic;

/**
 * Start printing.
 *
 * @param interval_s seconds between two lines, at least 1
 * @return 0, or -1 (said on stderr)
 */
int periodic_start(struct app *app, uint32_t interval_s, struct periodic **periodic);

/** Stop; NULL is allowed. */
void periodic_stop(struct periodic *periodic);

#endif /* PERIODIC_H */
