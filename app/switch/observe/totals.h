/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOTALS_H
#define TOTALS_H

/** @file Counters, summed. Any thread may sum them while lcores and devices count on. */

#include <rte_ethdev.h>

#include "app.h"

/** Sums over lcores and ports. */
struct totals {
	struct packet_counters packets;
	struct pipeline_counters pipeline;
	struct rte_eth_stats devices; /**< the fields of DEVICE_COUNTERS */
};

/** Add what a worker has counted. */
void totals_add_pipeline(const struct pipeline_counters *counters, struct pipeline_counters *sum);

/** What one lcore has counted; all zero for one without paths. */
void totals_of_lcore(const struct lcore *lcore, struct totals *totals);

/**
 * What a port's device has counted. What a driver that counts every packet that it does not take,
 * at every try, has counted so is no error: the switch tries again, or drops the packet itself.
 *
 * @return false: it does not count
 */
bool totals_of_device(const struct app *app, unsigned int port, struct rte_eth_stats *stats);

/** What all lcores and ports have counted. Ports forget when they are closed. */
void totals_of_all(const struct app *app, struct totals *totals);

/** Whether everything that was received or copied was sent or dropped; true once lcores rest. */
bool totals_add_up(const struct totals *totals);

#endif /* TOTALS_H */
