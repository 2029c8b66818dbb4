/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_NODE_H
#define NETFC_MPI_NODE_H

/**
 * @file
 * Reductions of ranks that share memory: piece by piece, each rank gives its values, the first one
 * reduces them exactly and is a worker of the switch with that, and all take the results.
 */

#include <stdbool.h>
#include <stdint.h>

#include <netfc_allreduce.h>

#include "segment.h"
#include "shape.h"

struct job;
struct operation;

/** A piece in the switch. */
struct node_flight {
	struct netfc_allreduce_handle *handle; /**< NULL: it is not there */
	struct netfc_allreduce_totals *totals; /**< kept for the next one of the kind */
	unsigned int totals_format;
	size_t totals_values;
	void *cut; /**< SEGMENT_PIECE_BYTES times what integers grow */
	struct shape shape;
	size_t values;
};

struct node {
	struct segment segment;
	uint64_t given, taken;   /**< pieces, by this rank */
	uint64_t started, ended; /**< pieces in the switch; the first rank's */
	uint64_t moved, looked; /**< ns: when something happened here, when others were looked at */
	struct node_flight flight[SEGMENT_DEPTH];
};

/**
 * Go on with all reductions of the job, and wait some milliseconds if there is nothing to do.
 *
 * @return NULL, or why they have failed
 */
const char *node_advance(struct job *job, int patience_ms);

/** The job is left: end all that is under way. */
void node_close(struct node *node);

#endif /* NETFC_MPI_NODE_H */
