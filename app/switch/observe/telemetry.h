/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TELEMETRY_H
#define TELEMETRY_H

/**
 * @file
 * The state of the switch over DPDK's telemetry socket, under /netfc/. It can only be read.
 * Clients are served by threads of their own, which no lcore ever waits for.
 */

#include "app.h"

/** Make the commands known. 0, or -1 (reported on stderr). */
int telemetry_register(struct app *app);

/** From now on the state is complete and can be shown. */
void telemetry_open(struct app *app);

/** From now on the state is not read any more; commands answer null. */
void telemetry_close(struct app *app);

#endif /* TELEMETRY_H */
