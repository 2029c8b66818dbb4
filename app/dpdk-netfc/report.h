/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/** @file What the switch says: its configuration at start, its counters at the end. */

#include <stdio.h>

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

/** Where --stats-json goes. */
struct stats_file;

/**
 * Open the file before anything else starts, so that it can be written in the end. A file appears
 * whole or not at all.
 *
 * @return 0, or -1, said on stderr
 */
int stats_file_open(const char *path, struct stats_file **file);

/** Write the final counters and close. 0, or -1, said on stderr. */
int stats_file_write(struct stats_file *file, const struct app *app, const struct totals *totals);

/** Close without writing, leaving nothing behind; NULL is allowed. */
void stats_file_abandon(struct stats_file *file);

#endif /* REPORT_H */
