/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_OPTIONS_H
#define AGGREGATE_OPTIONS_H

/** @file The option --aggregate[=KEY=VALUE,...]. */

#include <aggregate_wire.h>

#include "option.h"
#include "options/option_values.h"

/** How many values chunks have. */
enum chunk_length {
	LENGTH_FULL, /**< as many as fit */
	LENGTH_ANY,
};

/** Who gets the result of a reduction. */
enum chunk_results {
	RESULTS_TO_ALL,
	RESULTS_TO_ONE, /**< a worker drawn for each chunk */
};

/** Which lcore of an inline switch gets a chunk. */
enum chunk_queue {
	QUEUE_OF_SHARD,
	QUEUE_OF_OTHER, /**< the next one, which hands it over */
};

/** Results are of the values' format. */
#define AGGREGATE_INTO_SAME 0

/** What the user asked for. */
struct aggregate_options {
	bool on;
	uint64_t workers;
	uint64_t slots;
	uint64_t bytes;
	uint64_t chunks;    /**< 0: until the time is over */
	uint64_t different; /**< chunks; then they begin again */
	uint64_t job;
	uint64_t token;
	uint64_t port;
	uint64_t retry;                         /**< ms */
	uint64_t give_up;                       /**< s */
	double loss, duplicate, reorder, flood; /**< percent */
	unsigned int formats;                   /**< a set of bits 1 << enum aggregate_format */
	unsigned int into;            /**< results' enum aggregate_format, or AGGREGATE_INTO_SAME */
	unsigned int ops;             /**< a set of bits 1 << (op - AGGREGATE_SUM) */
	unsigned int kinds;           /**< a set of bits 1 << enum data_kind */
	unsigned int length;          /**< enum chunk_length */
	unsigned int results;         /**< enum chunk_results */
	unsigned int queue;           /**< enum chunk_queue */
	char key[PATH_MAX];           /**< file of the cluster's key; empty: packets have no tags */
	struct aggregate_place place; /**< of a leaf, levels 0: none; its workers are not set */
	uint64_t behind;              /**< workers of each worker, which is a switch; 0: none is */
	struct ip_address parent;     /**< of the switch of --inline; version 0: none */
};

/** The keys. */
#define BENCH_AGGREGATE_KEYS 25
extern const struct option_row bench_aggregate_keys[BENCH_AGGREGATE_KEYS];

/** Workers of all leaves, and the number of the first one here among them. */
unsigned int bench_aggregate_all_workers(const struct aggregate_options *options);
unsigned int bench_aggregate_first_worker(const struct aggregate_options *options);

/** A format of the values with that of the results. */
unsigned int bench_aggregate_format(const struct aggregate_options *options, unsigned int format);

/** Check them together. 0, or -1, reported on stderr. */
int bench_aggregate_check(const struct aggregate_options *options);

#endif /* AGGREGATE_OPTIONS_H */
