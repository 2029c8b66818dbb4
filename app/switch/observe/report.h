/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * What the switch prints: its configuration at start, a line of statistics every so many seconds,
 * its counters at the end.
 */

#include "app.h"
#include "observe/totals.h"

/** Print the effective configuration. */
void report_configuration(const struct app *app);

/** Print that packets are processed from now on, and how to stop. */
void report_ready(const struct app *app);

/** Print the final counters. */
void report_totals(const struct app *app, const struct totals *totals);

/** The thread that prints statistics. */
struct periodic;

/**
 * Start printing statistics.
 *
 * @param interval_s seconds between two lines, at least 1
 * @return 0, or -1 (reported on stderr)
 */
int periodic_start(struct app *app, uint32_t interval_s, struct periodic **periodic);

/** Stop; NULL is allowed. */
void periodic_stop(struct periodic *periodic);

#endif /* REPORT_H */
