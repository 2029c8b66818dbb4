/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROGRESS_H
#define PROGRESS_H

/**
 * @file
 * A line on stderr every now and then, from a thread of its own, so that the lcore that sends and
 * receives never prints.
 */

#include <semaphore.h>

#include "bench.h"
#include "side_thread.h"

struct progress {
	const struct bench *bench;
	struct side_work work;
	side_thread thread;
	sem_t stop;
	bool running;
};

/** Start the thread, if progress is wanted. 0, or -1 (said on stderr). */
int progress_start(struct progress *progress, const struct bench *bench);

/** Stop it. */
void progress_stop(struct progress *progress);

#endif /* PROGRESS_H */
