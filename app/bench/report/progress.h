/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROGRESS_H
#define PROGRESS_H

/**
 * @file
 * A line on stderr every now and then, from a thread of its own, so that the lcore that sends and
 * receives never prints.
 */

#include <semaphore.h>

#include "aggregate/team.h"
#include "bench.h"
#include "side_thread.h"

struct progress {
	const struct bench *bench;
	const struct team_counters *team; /**< NULL: no aggregation */
	struct side_work work;
	side_thread thread;
	sem_t stop;
	bool running;
};

/**
 * Start the thread, if progress is wanted.
 *
 * @param counters of an aggregation; NULL: of the requests
 * @return 0, or -1 (reported on stderr)
 */
int progress_start(
	struct progress *progress, const struct bench *bench, const struct team_counters *counters);

/** Stop it. */
void progress_stop(struct progress *progress);

#endif /* PROGRESS_H */
