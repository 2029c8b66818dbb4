/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

/** @file The run: send and receive until enough was sent and all of it is answered or lost. */

#include "bench.h"

/** Prepare a run. 0, or -1 (reported on stderr) if memory is short. */
int run_loop_prepare(struct bench *bench);

/** Run on the calling lcore. Why it ended is in bench->run.end. */
void run_loop(struct bench *bench);

/** Free what run_loop_prepare() made. */
void run_loop_free(struct bench *bench);

/** Whether every packet sent and received is accounted for; what is not is reported on stderr. */
bool run_loop_adds_up(const struct bench *bench);

#endif /* RUN_LOOP_H */
