/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALERTS_H
#define ALERTS_H

/**
 * @file
 * Attacks that begin and end, told in the log. A thread of its own tells them, so that no lcore
 * makes a system call, and not too many at once.
 */

#include <stdint.h>

#include "slowloris.h"

/** Lines at once, and per this time, at the most. */
#define ALERTS_AT_ONCE 10
#define ALERTS_PERIOD_S 10

struct alerts;

/**
 * Start to tell.
 *
 * @param detector whose alerts to tell; nobody else may take them
 * @return the thread, or NULL where it could not be made; end it with alerts_stop()
 */
struct alerts *alerts_start(struct slowloris *detector);

/** Tell what is left, and stop; NULL is allowed. */
void alerts_stop(struct alerts *alerts);

#endif /* ALERTS_H */
