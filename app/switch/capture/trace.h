/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_H
#define TRACE_H

/**
 * @file
 * A request of the running switch, its lanes and what came out; and one of the lanes once more,
 * stage by stage. An lcore copies the request when asked to; all else is somebody else's work.
 */

#include <stdbool.h>

#include <jansson.h>
#include <rte_mbuf.h>

#include "app.h"
#include "capture/trace_aggregate.h"
#include "frame.h"

/** Lanes of a request that are kept. */
#define TRACE_LANES 256u

/** A request that an lcore has answered. */
struct trace_slot {
	bool full; /**< set by the lcore: all else is there */
	uint16_t port;
	struct netfc_hdr header;
	/** What was computed, if it was: x, y and z as on the wire, 1, 2 or 4 bytes a lane. */
	uint8_t wire[3][4 * TRACE_LANES];
	/** The same as numbers, once it is shown. */
	uint32_t x[TRACE_LANES], y[TRACE_LANES], z[TRACE_LANES];
	bool aggregates; /**< it is one of aggregation: this, and nothing of the above */
	struct trace_aggregate aggregate;
};

/** Keep a request of a burst that has been answered, if the slot is empty. */
void trace_sample(struct trace_slot *slot, uint16_t port, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count);

/** Keep a request of aggregation, whose payload is as it came still, if the slot is empty. */
void trace_sample_aggregate(struct trace_slot *slot, uint16_t port,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome);

/**
 * Have an lcore keep the next request and walk one of its lanes. Waits for it, for 200 ms at the
 * most.
 *
 * @param lane index; of no use where the request is one of aggregation
 * @return what there is to see; NULL: no request came, it has no such lane, or memory is short. The
 *   caller holds the state's lock, and owns the object.
 */
json_t *trace_json(struct app *app, unsigned int lane);

#endif /* TRACE_H */
