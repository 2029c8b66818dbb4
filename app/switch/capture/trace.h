/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_H
#define TRACE_H

/**
 * @file
 * A trace of a request: its lanes, their results, and one of the lanes stage by stage. An lcore
 * copies the request on demand; other threads do the rest.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <rte_mbuf.h>

#include "aggregate_table.h"
#include "app.h"
#include "frame.h"

/** Lanes of a request that are kept. */
#define TRACE_LANES 256u

/** Values of a chunk that are kept. */
#define TRACE_VALUES 256u

/** A request of aggregation, and what its shard made of it. */
struct trace_aggregate {
	struct aggregate_message request; /**< `values` is not set */
	enum aggregate_action action;
	uint8_t absence;
	uint8_t reason, flags;
	uint8_t workers; /**< of the job; 0: not a chunk that its slot has */
	uint64_t seen;   /**< bit w: the slot has worker w's values */
	bool has_result;
	/** As on the wire. */
	uint8_t x[8 * TRACE_VALUES], z[8 * TRACE_VALUES];
};

/** A request that an lcore has answered. */
struct trace_slot {
	bool full; /**< set by the lcore: all else is there */
	uint16_t port;
	struct netfc_hdr header;
	/** What was computed, if it was: x, y and z as on the wire, 1, 2 or 4 bytes a lane. */
	uint8_t wire[3][4 * TRACE_LANES];
	/** The same as numbers, once it is shown. */
	uint32_t x[TRACE_LANES], y[TRACE_LANES], z[TRACE_LANES];
	bool aggregates; /**< of aggregation: only this is set */
	struct trace_aggregate aggregate;
};

/** Keep a request of a burst that has been answered, if the slot is empty. */
void trace_sample(struct trace_slot *slot, uint16_t port, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count);

/** Keep a request of aggregation, whose payload is still as received, if the slot is empty. */
void trace_sample_aggregate(struct trace_slot *slot, uint16_t port,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome);

/**
 * Have an lcore keep the next request, and trace one of its lanes. Waits up to 200 ms.
 *
 * @param lane index; ignored for a request of aggregation
 * @return what there is to see; NULL: no request came, it has no such lane, or memory is short. The
 *   caller holds the traces' lock, and owns the object.
 */
json_t *trace_json(struct app *app, unsigned int lane);

/** Keep a request of aggregation; its payload is still as received. */
void trace_aggregate_keep(struct trace_aggregate *kept, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome);

/** Add all of it to a JSON object. */
void trace_aggregate_show(const struct trace_aggregate *kept, json_t *object);

#endif /* TRACE_H */
