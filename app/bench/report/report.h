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

/* What is said to people (report.c) and to programs (report_json.c). */

/** Print the effective configuration. */
void bench_report_configuration(FILE *out, const struct bench *bench);

/** All results as an object, but the exit status; NULL if memory is short. */
json_t *report_json(const struct bench *bench);

/** Print the results. */
void report_results(FILE *out, const struct bench *bench, const json_t *report);

/** Latency as an object, in microseconds, of TSC cycles. */
json_t *report_latency_json(const struct histogram *histogram);

/** Print it in one line; `what` begins it. */
void report_latency(FILE *out, const char *what, const json_t *latency);

/** TSC cycles in microseconds. */
double report_microseconds(uint64_t cycles);

/** Why sending ended, in a word. */
const char *report_end_name(enum run_end end);

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
