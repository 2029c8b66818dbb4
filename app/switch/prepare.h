/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PREPARE_H
#define PREPARE_H

/** @file Set-up of the switch from its options, before any port starts. */

#include "app.h"

/** Load the table sets and functions that the options name. 0, or -1, reported on stderr. */
int prepare_load(struct app *app);

/** Free them. */
void prepare_unload(struct app *app);

/**
 * Find the ports, choose their queues, and make everything that lcores need. The EAL has started.
 *
 * @return 0, or -1, reported on stderr; prepare_free() frees in both cases
 */
int prepare(struct app *app);
void prepare_free(struct app *app);

#endif /* PREPARE_H */
