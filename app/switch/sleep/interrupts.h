/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

/**
 * @file
 * What wakes an lcore, all at one epoll descriptor: receive interrupts of its queues, sockets that
 * get packets, and other lcores (sleep_wake()).
 */

#include "app.h"

/** Whether a port is to be configured with receive interrupts, if it has them. */
bool interrupts_wanted(const struct app *app, const struct port *port);

/**
 * Find out which lcores can wait to be woken, and open their descriptors. An lcore can if each of
 * its queues is a socket or has an interrupt that is no other lcore's.
 */
void interrupts_open(struct app *app);

/** Close them. */
void interrupts_close(struct app *app);

/** Enable the interrupts of an lcore's queues. 0, or a negative errno if one cannot be. */
int interrupts_enable(const struct app *app, const struct lcore *lcore);

/** Disable them. */
void interrupts_disable(const struct app *app, const struct lcore *lcore);

#endif /* INTERRUPTS_H */
