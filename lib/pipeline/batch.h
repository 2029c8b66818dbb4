/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BATCH_H
#define PIPELINE_BATCH_H

/** @file Lanes of many requests that are computed together. */

#include "branch.h"
#include "plain.h"
#include "request.h"
#include "slots.h"

/* Which of a batch's lanes are which of a request's. */
struct slice {
	uint8_t *udp; /* a plain request, all of it; NULL: a part of `request` */
	union {
		struct frame *frame; /* of the plain request */
		struct request *request;
	};
	uint16_t at; /* of the batch's lanes, from 0 */
	uint16_t count;
	uint32_t first; /* of the request's lanes */
};

/* Lanes of one format and operation; slots as in packets. */
struct batch {
	const struct branch *branch;
	enum netfc_op op;
	unsigned int lane_count;
	/* Room for slots_copy_few(), and before results for slots_replace_few(). */
	uint16_t x[NETFC_BATCH + SLOTS_MARGIN] __rte_cache_aligned;
	uint16_t y[NETFC_BATCH + SLOTS_MARGIN];
	uint16_t z[SLOTS_MARGIN + NETFC_BATCH];
	uint8_t flags[SLOTS_MARGIN + NETFC_BATCH];
	/* Far from lane_count, so that no compiler writes both as one vector and waits for it. */
	unsigned int slice_count;
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

/** Add a request's lanes; the batch is run whenever it is full. */
void batch_add(struct batch *batch, struct batch_run *run, struct request *request);

/** Run the lanes that are in the batch, write their results back, empty it. */
void batch_run(struct batch *batch, struct batch_run *run);

/** Add a plain request of fewer than SLOTS_FEW lanes; it is answered when the batch is run. */
static __rte_always_inline void
batch_add_plain(struct batch *batch, struct batch_run *run, uint8_t *udp, unsigned int count,
	struct frame *frame)
{
	const uint8_t *x = udp + PLAIN_LANES - PLAIN_UDP;
	unsigned int at;
	struct slice *slice;

	if (unlikely(batch->lane_count + count > NETFC_BATCH))
		batch_run(batch, run);
	at = batch->lane_count;
	slots_copy_few(&batch->x[at], x, count);
	slots_copy_few(&batch->y[at], x + count * sizeof(uint16_t), count);
	slice = &batch->slice[batch->slice_count++];
	slice->udp = udp;
	slice->frame = frame;
	slice->at = (uint16_t)at;
	slice->count = (uint16_t)count;
	batch->lane_count = at + count;
}

#endif /* PIPELINE_BATCH_H */
