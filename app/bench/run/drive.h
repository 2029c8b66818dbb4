/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRIVE_H
#define DRIVE_H

/** @file The run: send, receive, give up what is overdue, until all is answered or lost. */

#include "bench.h"

/** Prepare a run. 0, or -1 (said on stderr) if memory is short. */
int drive_prepare(struct bench *bench);

/** Run on the calling lcore. Why it ended is in bench->run.end. */
void drive_run(struct bench *bench);

/** Free what drive_prepare() made. */
void drive_free(struct bench *bench);

/** Whether every packet sent and received is accounted for; what is not is said on stderr. */
bool drive_adds_up(const struct bench *bench);

#endif /* DRIVE_H */
