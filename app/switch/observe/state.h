/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATE_H
#define STATE_H

/**
 * @file
 * Configuration, state and counters of the switch, as JSON objects: the one source of the final
 * report and of telemetry. Names are letters, digits and underscores. The caller owns what is
 * returned; NULL means that there is nothing of the kind.
 */

#include <jansson.h>

#include "app.h"
#include "observe/totals.h"

/** All counters: those of --stats-json. */
json_t *state_stats(const struct app *app, const struct totals *totals);

/** The counters of one lcore, or their sum over all, put into an object. */
void
state_set_counters(json_t *object, const struct functions *functions, const struct totals *totals);

/** The counters of one device, or their sum over all. */
json_t *state_device(const struct rte_eth_stats *stats);

/** Aggregations, without the jobs one by one; "on" alone without --aggregate. */
json_t *state_aggregate(const struct app *app);

/** A job by its index in the table; NULL: there is none. */
json_t *state_job(const struct app *app, unsigned int index);

/** The bridge's stations. */
json_t *state_fdb(const struct fdb *table);

/** The configuration in force. */
json_t *state_config(const struct app *app);

/** The loaded table sets, by format. */
json_t *state_tables(const struct app *app);

/** The loaded functions, by name. */
json_t *state_functions(const struct app *app);

/** The bridge; NULL without one. */
json_t *state_bridge(const struct app *app);

/** The Slowloris detector; all but `on` with --slowloris only. */
json_t *state_slowloris(const struct app *app);

/** Its rules, which is what its options have set; with a detector only. */
json_t *state_rules(const struct app *app);

/** A destination's registers, zero where it is not known; NULL: no IPv4 address, no detector. */
json_t *state_destination(const struct app *app, const char *address);

/** The ports' ids. */
json_t *state_ports(const struct app *app);

/** A port by its id; NULL if there is none. */
json_t *state_port(const struct app *app, unsigned int id);

/** The lcores' ids. */
json_t *state_lcores(void);

/** An lcore by its id; NULL if there is none. */
json_t *state_lcore(const struct app *app, unsigned int id);

#endif /* STATE_H */
