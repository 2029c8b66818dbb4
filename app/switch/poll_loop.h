/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef POLL_LOOP_H
#define POLL_LOOP_H

/** @file The data path: receive, compute, forward, until told to stop. */

#include "app.h"

/**
 * Poll on all lcores with rx queues, the calling main lcore among them, until app_quit() or, with
 * --idle-exit, until nothing has been received for that long.
 */
void poll_run(struct app *app);

#endif /* POLL_LOOP_H */
