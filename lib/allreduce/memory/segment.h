/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SEGMENT_H
#define ALLREDUCE_SEGMENT_H

/**
 * @file
 * Memory that ranks of one machine share, and how they wait for each other in it.
 *
 * It is a file without a name, so that nothing of it stays behind, however the ranks end. Each rank
 * holds a lock on a byte of it: the kernel lets go of it when the rank's process ends, which is how
 * the others know.
 *
 * Vectors go through it piece by piece. Each rank gives its values of a piece; whoever reduces
 * writes the results, and all take them. Where all ranks reduce, each does a share of every piece.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_PIECE_BYTES 16384 /* a multiple of a page, and of all values */
#define SEGMENT_LEAST_DEPTH 16    /* pieces on their way */
#define SEGMENT_WHY_BYTES 800
#define SEGMENT_VERSION_BYTES 24

/** An event counter to sleep on. */
struct segment_bell {
	atomic_uint events, sleepers;
};

/** What a rank wants with a piece: every byte is the same for all ranks. */
struct segment_call {
	uint32_t values;
	uint32_t label, divisor;
	uint8_t format, op, owner;
	uint8_t value_bytes, pieces; /**< as struct conversion of lib/mpi has them */
	uint8_t is_totals;           /**< exact sums are given, in the place of values */
	uint8_t unused[2];
};

struct segment_rank {
	_Alignas(64) atomic_bool attached, closed;
	int process;
	uint64_t processes;    /**< the namespace that numbers it so; 0: not known */
	atomic_ullong given;   /**< pieces whose values are there */
	atomic_ullong reduced; /**< pieces whose results have its share, where all ranks reduce */
	atomic_ullong taken;   /**< pieces whose results are not needed any more */
};

/** What is said of a piece of a rank's. */
struct segment_note {
	struct segment_call call;
	uint8_t lowest, end; /**< bins in use, of totals that it gives */
	uint8_t flags;       /**< that its share of the results has raised */
};

/** Why nothing comes any more. */
struct segment_failure {
	int status; /**< of whose kind it is, as the caller has it */
	int rank;   /**< who is to blame; -1: nobody, or it is not known */
	char why[SEGMENT_WHY_BYTES];
};

/** The first two are at the same place in all versions. */
struct segment_shared {
	atomic_ullong token;                 /**< the job's; 0: it is not made so far */
	char version[SEGMENT_VERSION_BYTES]; /**< of who made it; there before the token */
	int ranks;                           /**< likewise: sizes of some numbers are the same */
	atomic_int failed; /**< 0: it has not; 1: somebody writes why; 2: it is there */
	struct segment_failure failure;
	_Alignas(64) struct segment_bell given; /**< for who reduces */
	_Alignas(64) struct segment_bell done;  /**< for all others */
	atomic_ullong pieces_done;              /**< where the first rank reduces */
	struct segment_rank rank[];
};

/** Who shares it, and what it has room for: the same for all, but for `rank`. */
struct segment_shape {
	int ranks, rank;
	unsigned int depth; /**< pieces on their way, a power of two: they may be so far apart */
};

/**
 * How many pieces may be on their way: workers that wait for a processor hold the others up less if
 * these may be far ahead.
 *
 * @param most of all ranks and of results together, if the least depth does not take more
 */
unsigned int segment_depth(int ranks, unsigned int most);

struct segment {
	struct segment_shared *shared; /**< NULL: there is none */
	size_t bytes;
	struct segment_note *notes; /**< of rank 0, then of rank 1, ... */
	char *pieces;               /**< likewise, then results */
	int ranks, rank;
	unsigned int depth;
	int file;      /**< -1: none */
	bool attached; /**< it is this rank's */
};

/** A file that is to be shared, maybe. -1: errno says why there is none. */
int segment_file(void);

#define SEGMENT_PATH_BYTES 64

/** The path, on this machine, of a file that a process has open. */
void segment_path(char path[SEGMENT_PATH_BYTES], int process, int file);

/** Make it, in that file; it is this rank's, the first's. False: errno says why not. */
bool
segment_make(struct segment *segment, int file, const struct segment_shape *shape, uint64_t token);

/** Tell the others of the node that there will be none in its file. */
void segment_refuse(struct segment *segment);

enum segment_status {
	SEGMENT_OK,
	SEGMENT_NOT_YET, /**< the first rank has not made it so far */
	SEGMENT_NONE,    /**< nor will it, or this rank cannot use it; errno: why, 0: as it is */
	SEGMENT_OTHER,   /**< it is of another version of the library, which has another layout */
	SEGMENT_TAKEN    /**< this rank has used it before */
};

/**
 * Use what the first rank makes there.
 *
 * @param token of the job that it has to be for
 */
enum segment_status segment_attach(struct segment *segment, const char *path,
	const struct segment_shape *shape, uint64_t token);

/** End its use. */
void segment_close(struct segment *segment);

/** Where a rank's values of a piece are; rank == ranks: the results. */
void *segment_piece(const struct segment *segment, int rank, uint64_t piece);

/** What is said of a rank's values there. */
struct segment_note *segment_note(const struct segment *segment, int rank, uint64_t piece);

/** Bytes from a rank's piece to the next rank's. */
size_t segment_stride(const struct segment *segment);

/** Record why the segment has failed; the first reason stays. */
void segment_fail(struct segment *segment, int status, int rank, const char *why);

/** Why the segment has failed, or NULL. */
const struct segment_failure *segment_failure(const struct segment *segment);

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

/* ---- pieces ---- */

/** Pieces of which the results have all ranks' shares. */
uint64_t segment_reduced(const struct segment *segment);

/** Pieces that all ranks have taken. */
uint64_t segment_taken(const struct segment *segment);

/** Whether all ranks have given a piece, and its place for results is free. */
bool segment_is_given(const struct segment *segment, uint64_t piece);

/** The rank that calls something else than the first with that piece; 0: none. */
int segment_first_mismatch(const struct segment *segment, uint64_t piece);

/**
 * Where a rank's share of a piece's values begins; of the number of ranks: where the last ends.
 * Shares do not meet in a line of a cache.
 */
size_t segment_share(const struct segment *segment, int rank, size_t values);

/* ---- who keeps the others waiting ---- */

enum segment_trouble {
	SEGMENT_FINE,
	SEGMENT_ENDED,   /**< the rank's process has ended, or has closed it */
	SEGMENT_STOPPED, /**< by a signal or a debugger (proc(5)), for long */
	SEGMENT_LATE,    /**< it has not given its values before the deadline */
	SEGMENT_SLOW     /**< it has not reduced or taken them a while after that */
};

/** What a rank knows of the others that it waits for. */
struct segment_watch {
	/* To be set: */
	bool first_reduces; /**< the first rank does, for all; else each a share */
	uint64_t deadline;  /**< ns */
	uint64_t patience;  /**< ns: of being stopped, after as long of waiting; 0: forever */
	uint64_t moved;     /**< ns: when something happened here */
	/* Its own: */
	uint64_t looked;  /**< ns: when others were looked at */
	uint64_t checked; /**< ns: when it was seen whether one that is waited for is stopped */
	uint64_t stopped; /**< ns: since when one is; 0: none */
};

/**
 * Look at the others from time to time, while nothing comes.
 *
 * @param taken pieces, by this rank
 * @param since ns: when the deadline's time began
 * @param culprit who it is
 */
enum segment_trouble segment_look(const struct segment *segment, struct segment_watch *watch,
	uint64_t taken, uint64_t since, int *culprit);

#endif /* ALLREDUCE_SEGMENT_H */
