/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BATCH_H
#define PIPELINE_BATCH_H

/** @file Lanes of many requests that go through the same stages together. */

#include "match.h"
#include "request.h"

/* A step with what it looks up in. */
struct stage {
	const struct netfc_step *step;
	const struct match_stage *match; /* NULL: not a look-up */
};

/* A branch of a table set, ready to run. */
struct branch {
	unsigned int stage_count;
	struct stage stage[NETFC_MAX_STEPS];
};

/* Which of a batch's lanes are which of a request's. */
struct slice {
	struct request *request;
	uint32_t first; /* of the request's lanes */
	uint16_t at;    /* of the batch's lanes */
	uint16_t count;
};

struct batch {
	unsigned int lane_count;
	unsigned int slice_count;
	struct slice slice[NETFC_BATCH];
	struct netfc_lanes lanes;
};

/** Add a request's lanes; the batch is run whenever it is full. */
void batch_add(struct batch *batch, const struct branch *branch, struct request *request);

/** Run the lanes that are in the batch, write their results back, empty it. */
void batch_run(struct batch *batch, const struct branch *branch);

#endif /* PIPELINE_BATCH_H */
