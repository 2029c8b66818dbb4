/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_SHIM_H
#define NETFC_MPI_SHIM_H

/** @file The library's state, what it has of the MPI library, and time. */

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "functions.h"
#include "tally.h"

/* Monotonic time. */

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

static inline uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/*
 * The MPI library's own functions, of those that the preloaded library has: by their names, even by
 * those with P, it is this one that is called.
 */

/** One that the core has instead. */
#define FUNCTION(name, parameters)                                              \
	__attribute__((visibility("default"))) int netfc_mpi_##name parameters; \
	int netfc_mpi_##name parameters

struct real {
#define REAL_FIELD_(name, count) __typeof__(&MPI_##name) name;
	FUNCTIONS_BY_NAME(REAL_FIELD_)
#undef REAL_FIELD_
#define REAL_FIELD_(name, count) __typeof__(&MPI_PERSISTENT(name)) name;
	FUNCTIONS_THAT_PERSIST(REAL_FIELD_)
#undef REAL_FIELD_
	bool complete; /**< all are found */
};

/** One of those that the preloaded library has only where MPI lets nothing else go on. */
#ifdef MPI_WAITS_ALONE
#define OWN(name) shim.real.name
#else
#define OWN(name) PMPI_##name
#endif

/** A function of the MPI library that the process has loaded, or of one that it needs; or NULL. */
void *real_symbol(const char *name);

/*
 * What a process has once: settings, what the MPI library gave, the jobs. MPI has no argument to
 * hang it on, so it is the one object here that is global and changes.
 */

/** Why a reduction is left to MPI: X(symbol, sentence). */
#define LEFT_TO_MPI(X)                                                                    \
	X(NO_SWITCH, "NETFC_SWITCH names no switch")                                      \
	X(TYPE, "the switch has no such type")                                            \
	X(WIDE, "the switch has no floats of more than 64 bits")                          \
	X(OPERATION, "the switch has no such operation on this type")                     \
	X(INTERCOMMUNICATOR, "an intercommunicator has two groups")                       \
	X(SIZE, "it has more ranks or nodes than switches take: 64 at each, at up to 64") \
	X(LARGE, "there are more than 2^31 - 1 values")                                   \
	X(MEMORY, "NETFC_SWITCH names no switch, and its ranks cannot share memory")      \
	X(SETUP, "the MPI library cannot be hooked into")

enum left_to_mpi {
#define LEFT_ENUM_(symbol, sentence) LEFT_##symbol,
	LEFT_TO_MPI(LEFT_ENUM_)
#undef LEFT_ENUM_
	LEFT_COUNT
};

/** Of the environment. */
struct settings {
	const char *switches;     /**< NETFC_SWITCH: addresses, commas between them; or NULL */
	const char *interface;    /**< NETFC_MPI_INTERFACE, or NULL */
	const char *bind_address; /**< NETFC_MPI_BIND_ADDRESS, or NULL */
	bool fallback;            /**< NETFC_MPI_FALLBACK=1 */
	int verbose;              /**< NETFC_MPI_VERBOSE: 1: totals; 2: each reduction, too */
	bool separate;            /**< NETFC_MPI_SHARED_MEMORY=0 */
	bool local;               /**< NETFC_MPI_LOCAL=1; or no switch is named, and it is not 0 */
	unsigned int deadline_ms; /**< NETFC_MPI_DEADLINE, in seconds there */
	unsigned int join_ms;     /**< NETFC_MPI_JOIN_TIMEOUT, in seconds there */
	unsigned int slots;       /**< NETFC_MPI_SLOTS; 0: a share, see joining_slots() */
};

struct job;
struct persistent;

struct shim {
	pid_t process;        /**< that is attached; not one that is forked from it */
	pthread_mutex_t lock; /**< of what follows */
	bool attached, usable, begun;
	bool ended; /**< MPI_Finalize() has begun */
	int keyval;
	int error_class;
	struct job *jobs;
	pthread_mutex_t persistent_lock;
	struct persistent *_Atomic persistent; /**< the first request that can be started again */

	struct settings settings;
	struct real real;
	int rank;             /**< in MPI_COMM_WORLD */
	atomic_bool separate; /**< nodes are no workers, as was found out for some communicator */
	atomic_uint said;
	atomic_bool said_slots;
	atomic_uint job_count;
	atomic_uint under_way;           /**< reductions that were called, and have not ended */
	atomic_ullong by_switch, by_mpi; /**< reductions */
	pthread_mutex_t tally_lock;
	struct tally tally; /**< if verbose */
};

extern struct shim shim;

/** Set up with MPI. False: it is not initialized, or cannot be used. */
bool shim_attach(void);

/** The same, and read the settings at the first reduction: a program may set them until then. */
bool shim_begin(void);

/**
 * Whether this process is forked from the one that has begun: MPI, the jobs, their locks and the
 * memory that ranks share are that one's.
 */
bool shim_is_forked(void);

/** A function of MPI's is called in such a process: say so. MPI's code. */
int refuse_fork(const char *name);

/** Call the communicator's error handler where MPI has not done so; MPI's code. */
int raise_error(MPI_Comm comm, int error);

/** Print a line on standard error, from any thread. */
void shim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print why something is left to MPI: once, or each time where that is wanted. */
void shim_log_left(enum left_to_mpi why, const char *what, MPI_Comm comm);

/** A reduction is done, or left to MPI. */
void
shim_count(const char *function, MPI_Datatype type, MPI_Op op, enum tally_way way, uint64_t values);

#endif /* NETFC_MPI_SHIM_H */
