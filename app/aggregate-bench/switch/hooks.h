/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOOKS_H
#define HOOKS_H

/** @file How the load gets into the switch. */

#include "aggregate/aggregation.h"
#include "load.h"

/** What a run came to. */
struct load_result {
	int status; /**< 0, or -1: it did not run */
	struct load_counters shard[AGGREGATE_MAX_SHARDS];
	struct aggregate_counters counters; /**< the switch's own */
	uint64_t drops[DROP_REASON_COUNT];  /**< likewise */
	uint64_t refused[NETFC_STATUS_END]; /**< likewise */
};

/** What the switch that runs next is to be measured with. */
void hooks_set(const struct load_options *options, const struct chunks *chunks,
	struct load_result *result);

#endif /* HOOKS_H */
