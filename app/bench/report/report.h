/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/** @file What is said to people (report.c) and to programs (report_json.c). */

#include <stdio.h>

#include <jansson.h>

#include "report/results.h"

/** Print the effective configuration. */
void bench_report_configuration(FILE *out, const struct bench *bench);

/** Print the results. */
void report_results(FILE *out, const struct bench *bench, const struct results *results);

/** All of it as an object; NULL if memory is short. */
json_t *report_json(const struct bench *bench, const struct results *results);

/** Latency as an object. */
json_t *results_latency_json(const struct histogram *histogram, const struct latency *latency);

#endif /* REPORT_H */
