/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/** @file What the switch says: its configuration at start, its counters at the end. */

#include <jansson.h>

#include "app.h"

/** Print the effective configuration. */
void report_configuration(const struct app *app);

/** The sums over all lcores. */
struct totals {
	struct packet_counters packets;
	struct pipeline_counters pipeline;
};

/** Sum the counters of all lcores. */
void report_sum(const struct app *app, struct totals *totals);

/** Print the final counters. */
void report_totals(const struct app *app, const struct totals *totals);

/** All of it as an object. */
json_t *report_json(const struct app *app, const struct totals *totals);

#endif /* REPORT_H */
