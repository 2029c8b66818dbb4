/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BATCH_H
#define PIPELINE_BATCH_H

/** @file Lanes of many requests that are computed together. */

#include "branch.h"
#include "plain.h"
#include "request.h"

/* Which of a batch's lanes are which of a request's. */
struct slice {
	uint8_t *udp;            /* a plain request, all of it; NULL: see request */
	struct frame *frame;     /* of the plain request */
	struct request *request; /* of which this may be a part */
	uint32_t first;          /* of the request's lanes */
	uint16_t at;             /* of the batch's lanes */
	uint16_t count;
};

/* Lanes of one format and operation; slots as in packets. */
struct batch {
	const struct branch *branch;
	enum netfc_op op;
	unsigned int lane_count;
	unsigned int slice_count;
	uint16_t x[NETFC_BATCH] __rte_cache_aligned;
	uint16_t y[NETFC_BATCH];
	uint16_t z[NETFC_BATCH];
	uint8_t flags[NETFC_BATCH];
	struct slice slice[NETFC_BATCH];
};

/*
 * Where batches are run: memory for steps, and the exceptions of plain requests so far, a count of
 * 16 bits for each flag.
 */
struct batch_run {
	struct netfc_lanes lanes;
	uint64_t exceptions;
};

/** Exception flags, one count for each. */
static inline uint64_t
batch_spread_flags(uint8_t flags)
{
	return (flags * UINT64_C(0x0000200040008001)) & UINT64_C(0x0001000100010001);
}

/** Add a request's lanes; the batch is run whenever it is full. */
void batch_add(struct batch *batch, struct batch_run *run, struct request *request);

/** Run the lanes that are in the batch, write their results back, empty it. */
void batch_run(struct batch *batch, struct batch_run *run);

/** Add a plain request of fewer than NETFC_BATCH lanes; it is answered when the batch is run. */
static inline void
batch_add_plain(struct batch *batch, struct batch_run *run, const struct plain_request *request,
	struct frame *frame)
{
	const uint8_t *x = request->udp + PLAIN_LANES - PLAIN_UDP;
	unsigned int count = request->count, at;

	if (unlikely(batch->lane_count + count > NETFC_BATCH))
		batch_run(batch, run);
	at = batch->lane_count;
	if (count == 1) {
		memcpy(&batch->x[at], x, sizeof(uint16_t));
		memcpy(&batch->y[at], x + sizeof(uint16_t), sizeof(uint16_t));
	} else {
		memcpy(&batch->x[at], x, count * sizeof(uint16_t));
		memcpy(&batch->y[at], x + count * sizeof(uint16_t), count * sizeof(uint16_t));
	}
	batch->slice[batch->slice_count++] = (struct slice){
		.udp = request->udp,
		.frame = frame,
		.at = (uint16_t)at,
		.count = (uint16_t)count,
	};
	batch->lane_count = at + count;
}

#endif /* PIPELINE_BATCH_H */
