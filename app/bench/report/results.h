/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RESULTS_H
#define RESULTS_H

/** @file What a run came to: worked out once, then told to people and programs. */

#include "check/accuracy.h"
#include "bench.h"

/** In microseconds. */
struct latency {
	double least, mean, p50, p99, p99_9, greatest;
};

struct results {
	double seconds;           /**< until the last packet was sent or received */
	double sending_seconds;   /**< until the last one was sent */
	double receiving_seconds; /**< until the last one was answered */
	double sent_rate;         /**< packets per second */
	double answered_rate;
	double loss; /**< share of those sent */
	struct latency latency;
	struct accuracies accuracies;
	int exit_status;
};

/** What a histogram of TSC cycles says. */
struct latency latency_of(const struct histogram *histogram);

/** Work it out. 0, or -1 (reported on stderr) if memory is short. */
int results_find(const struct bench *bench, struct results *results);

/** TSC cycles in microseconds. */
double results_microseconds(uint64_t cycles);

/** Why sending ended, in a word. */
const char *results_end_name(enum run_end end);

#endif /* RESULTS_H */
