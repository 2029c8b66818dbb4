/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * What a run came to: while it goes on, worked out once, and told to people and programs.
 */

#include <stdio.h>

#include <jansson.h>

#include "bench.h"
#include "check/check.h"
#include "ctrl_thread.h"

/* What a run came to: worked out once, then told to people and programs. */

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

/* What is said to people (report.c) and to programs (report_json.c). */

/** Print the effective configuration. */
void bench_report_configuration(FILE *out, const struct bench *bench);

/** Print the results. */
void report_results(FILE *out, const struct bench *bench, const struct results *results);

/** All of it as an object; NULL if memory is short. */
json_t *report_json(const struct bench *bench, const struct results *results);

/** Print a latency, in one line; `what` begins it. */
void results_print_latency(FILE *out, const char *what, const struct latency *latency);

/** Latency as an object. */
json_t *results_latency_json(const struct histogram *histogram, const struct latency *latency);

/*
 * A line on stderr every now and then, from a thread of its own, so that the lcore that sends and
 * receives never prints.
 */

struct team_counters;

struct progress {
	const struct bench *bench;
	const struct team_counters *team; /**< NULL: no aggregation */
	double seconds;                   /**< so far, and what was counted until then */
	uint64_t before;
	struct ticker ticker;
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

#endif /* REPORT_H */
