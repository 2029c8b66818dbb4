/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_UPLINK_LOG_H
#define AGGREGATE_UPLINK_LOG_H

/** @file A line in the log whenever the parent is reached, or is not any more. */

#include "app.h"

struct uplink_log;

/** Start the thread that writes them, if there is a parent. 0, or -1 (reported on stderr). */
int uplink_log_start(struct app *app, struct uplink_log **log);

/** Stop it; NULL is allowed. */
void uplink_log_stop(struct uplink_log *log);

#endif /* AGGREGATE_UPLINK_LOG_H */
