/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_NODE_H
#define NETFC_MPI_NODE_H

/** @file The ranks of a node, one worker together, and the memory that they share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netfc_allreduce.h>

#include <memory/segment.h>

#include "conversion.h"

/*
 * Reductions of ranks that share memory: piece by piece, each rank gives its values, the first one
 * reduces them exactly and is a worker of the switch with that, and all take the results. Where all
 * ranks are here, that is the result; if they need no switch, each reduces a share of the lanes of
 * each piece.
 */

struct reducer;
struct job;
struct operation;

#define NODE_FLIGHTS 64 /**< pieces in the switch, at most */

/** A piece in the switch. */
struct node_flight {
	struct netfc_allreduce_handle *handle; /**< NULL: it is not there */
	struct netfc_allreduce_totals *totals; /**< kept for the next one of the kind */
	unsigned int totals_format;
	size_t totals_values;
	void *cut; /**< integers on their way, of one piece */
	struct conversion conversion;
	size_t values;
};

struct node {
	struct segment segment;
	bool switchless;         /**< all ranks are here, and need no switch */
	struct reducer *reducer; /**< NULL: some of the job's ranks are elsewhere */
	uint64_t given, taken;   /**< pieces, by this rank */
	uint64_t started, ended; /**< pieces in the switch, the first rank's; or shares of them */
	struct segment_watch watch;
	struct node_flight flight[NODE_FLIGHTS];
};

/** How many of its ranks share its memory, and how. rank: of these. */
struct segment_shape node_shape(const struct node *node, int ranks, int rank);

/** All ranks of the job are here. False: there is not enough memory. */
bool node_begin_alone(struct node *node);

/**
 * Go on with all reductions of the job, and wait some milliseconds if there is nothing to do.
 *
 * @return NULL, or why they have failed
 */
const char *node_advance(struct job *job, int patience_ms);

/** Why nothing comes any more, or NULL. */
const char *node_failure(const struct node *node);

/** The job is left: end all that is under way. */
void node_close(struct node *node);

#endif /* NETFC_MPI_NODE_H */
