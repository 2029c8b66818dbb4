/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_FILTER_H
#define SLOWLORIS_FILTER_H

/** @file The Slowloris detector in the switch. */

#include <stdint.h>

#include "app.h"
#include "slowloris.h"

/**
 * Make the detector and the working memory of its lcores, if it is on. 0, or -1 (reported on
 * stderr).
 */
int slowloris_filter_create(struct app *app);

/** Free them. */
void slowloris_filter_free(struct app *app);

/**
 * Start to log attacks that begin and end, if there is a detector, in a thread of its own: no lcore
 * makes a system call.
 *
 * @return 0, or -1 (reported on stderr); end it with slowloris_filter_stop()
 */
int slowloris_filter_start(struct app *app);

/** Log what is left, and stop. */
void slowloris_filter_stop(struct app *app);

/** Put other rules in force while lcores work; the caller holds the state's lock. */
void slowloris_filter_set(struct app *app, const struct slowloris_options *options);

/**
 * Count a burst, answer the queries in it, drop what is to be dropped.
 *
 * @return how many packets are left; they and their frames come first, in order
 */
uint16_t slowloris_filter(struct lcore *lcore, struct pipeline_worker *worker,
	struct rte_mbuf **mbufs, struct frame *frames, uint16_t count);

#endif /* SLOWLORIS_FILTER_H */
