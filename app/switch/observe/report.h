/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/** @file What the switch says: its configuration at start, its counters at the end. */

#include "observe/totals.h"

/** Print the effective configuration. */
void report_configuration(const struct app *app);

/** Say that packets are taken from now on, and what ends that. */
void report_ready(const struct app *app);

/** Print the final counters. */
void report_totals(const struct app *app, const struct totals *totals);

#endif /* REPORT_H */
