/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef POOLS_H
#define POOLS_H

/** @file Pools of packet buffers: one for each socket (NUMA node) whose lcores are in use. */

#include "app.h"

/** Make the pools, each for all that its lcores' queues may hold at once. 0, or -1 (reported). */
int pools_create(struct app *app);
void pools_free(struct app *app);

/** Packet buffers of all pools, and how many of them are not in their pool. */
unsigned int pools_size(const struct app *app);
unsigned int pools_in_use(const struct app *app);

#endif /* POOLS_H */
