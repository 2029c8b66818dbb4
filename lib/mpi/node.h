/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_NODE_H
#define NETFC_MPI_NODE_H

/** @file The ranks of a node, one worker together, and the memory that they share. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netfc_allreduce.h>

#include "conversion.h"

/*
 * Memory that the ranks of a node share, and how they wait for each other in it.
 *
 * It is a file without a name, so that nothing of it stays behind, however the ranks end. Each rank
 * holds a lock on a byte of it: the kernel lets go of it when the rank's process ends, which is how
 * the others know.
 */

#define SEGMENT_PIECE_BYTES 16384 /* a multiple of a page, and of all values */
#define SEGMENT_DEPTH 16 /* pieces on their way: enough while a rank waits for a processor */
#define SEGMENT_WHY_BYTES 800

/** An event counter to sleep on. */
struct segment_bell {
	atomic_uint events, sleepers;
};

/** What a rank wants with a piece. */
struct segment_call {
	uint32_t values;
	uint8_t format, op, value_bytes, pieces; /**< as struct conversion has them */
};

struct segment_rank {
	_Alignas(64) atomic_bool attached;
	atomic_ullong given;   /**< pieces whose values are there */
	atomic_ullong reduced; /**< pieces whose results have its share; where there is no switch */
	atomic_ullong taken;   /**< pieces whose results are not needed any more */
	struct segment_call call[SEGMENT_DEPTH];
};

struct segment_shared {
	atomic_ullong token; /**< the job's; 0: it is not made so far */
	atomic_int failure;  /**< 0: none; 1: somebody writes why; 2: it is there */
	char why[SEGMENT_WHY_BYTES];
	_Alignas(64) struct segment_bell given; /**< for who reduces */
	_Alignas(64) struct segment_bell done;  /**< for all others */
	atomic_ullong pieces_done;
	struct segment_rank rank[];
};

struct segment {
	struct segment_shared *shared; /**< NULL: there is none */
	size_t bytes;
	char *pieces; /**< of rank 0, then of rank 1, ..., then results */
	int ranks, rank;
	int file; /**< -1: none */
};

/** A file that is to be shared, maybe. -1: errno says why there is none. */
int segment_file(void);

/** Make it, in that file; it is this rank's, the first's. False: errno says why not. */
bool segment_make(struct segment *segment, int file, int ranks, uint64_t token);

/** Tell the others of the node that there will be none in its file. */
void segment_refuse(struct segment *segment);

enum segment_status {
	SEGMENT_OK,
	SEGMENT_NOT_YET, /**< the first rank has not made it so far */
	SEGMENT_NONE     /**< nor will it, or this rank cannot use it */
};

/** Where a rank makes it: in a file of its process. */
struct segment_place {
	int process, file;
	uint64_t token; /**< of the job that it is for */
};

/** Use what the first rank makes there. */
enum segment_status
segment_attach(struct segment *segment, const struct segment_place *place, int ranks, int rank);

/** End its use. */
void segment_close(struct segment *segment);

/** Where a rank's values of a piece are; rank == ranks: the results. */
void *segment_piece(const struct segment *segment, int rank, uint64_t piece);

/** Whether a rank was here and has ended, or has closed it. */
bool segment_has_ended(const struct segment *segment, int rank);

/** Whether a process of this node is stopped, by a signal or a debugger (proc(5)). */
bool segment_is_stopped(int process);

/** Record why the segment has failed; the first reason stays. */
void segment_fail(struct segment *segment, const char *why);

/** Why the segment has failed, or NULL. */
const char *segment_failure(const struct segment *segment);

/** To be read before looking whether there is something to wait for. */
static inline unsigned int
segment_events(struct segment_bell *bell)
{
	return atomic_load_explicit(&bell->events, memory_order_acquire);
}

/** Wake who sleeps. */
void segment_ring(struct segment_bell *bell);

/**
 * Wait until something has happened since `events` were read, or some milliseconds are over:
 * asleep, but for the first moment.
 */
void segment_sleep(struct segment_bell *bell, unsigned int events, int milliseconds);

/*
 * Reductions of ranks that share memory: piece by piece, each rank gives its values, the first one
 * reduces them exactly and is a worker of the switch with that, and all take the results. Where
 * they need no switch, since all ranks are here, each reduces a share of the lanes of each piece.
 */

struct reducer;
struct job;
struct operation;

/** A piece in the switch. */
struct node_flight {
	struct netfc_allreduce_handle *handle; /**< NULL: it is not there */
	struct netfc_allreduce_totals *totals; /**< kept for the next one of the kind */
	unsigned int totals_format;
	size_t totals_values;
	void *cut; /**< SEGMENT_PIECE_BYTES times what integers grow */
	struct conversion conversion;
	size_t values;
};

struct node {
	struct segment segment;
	bool switchless;         /**< all ranks are here */
	struct reducer *reducer; /**< where floats are reduced then */
	uint64_t given, taken;   /**< pieces, by this rank */
	uint64_t started, ended; /**< pieces in the switch, the first rank's; or shares of them */
	uint64_t moved, looked; /**< ns: when something happened here, when others were looked at */
	uint64_t checked; /**< ns: when it was seen whether one that is waited for is stopped */
	uint64_t stopped; /**< ns: since when one is; 0: none */
	struct node_flight flight[SEGMENT_DEPTH];
};

/** All ranks of the job are here, and need no switch. False: there is not enough memory. */
bool node_begin_switchless(struct node *node);

/**
 * Go on with all reductions of the job, and wait some milliseconds if there is nothing to do.
 *
 * @return NULL, or why they have failed
 */
const char *node_advance(struct job *job, int patience_ms);

/** The job is left: end all that is under way. */
void node_close(struct node *node);

#endif /* NETFC_MPI_NODE_H */
