/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_AGGREGATE_H
#define TRACE_AGGREGATE_H

/** @file What a trace keeps of a packet of aggregation, and how it is shown. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "aggregate_table.h"

/** Values of a chunk that are kept. */
#define TRACE_VALUES 256u

/** A request, and what its shard made of it. */
struct trace_aggregate {
	struct aggregate_message request; /**< `values` is of no use */
	enum aggregate_action action;
	uint8_t absence;
	uint8_t reason, flags;
	uint8_t workers; /**< of the job; 0: not a chunk that its slot has */
	uint64_t seen;   /**< bit w: the slot has worker w's values */
	bool has_result;
	/** As on the wire. */
	uint8_t x[4 * TRACE_VALUES], z[4 * TRACE_VALUES];
};

/** Fill it in; the request's payload is as it came still. */
void trace_aggregate_keep(struct trace_aggregate *kept, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome);

/** Add all there is to see of it to an object. */
void trace_aggregate_show(const struct trace_aggregate *kept, json_t *object);

#endif /* TRACE_AGGREGATE_H */
