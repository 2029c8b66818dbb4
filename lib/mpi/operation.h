/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_OPERATION_H
#define NETFC_MPI_OPERATION_H

/** @file A reduction, from the call to its end. */

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <netfc_allreduce.h>

#include "conversion.h"

/*
 * A reduction that a program asked for, whichever function it called.
 *
 * Each could be an allreduce whose results a rank keeps in part: all of them, none, or those from
 * `first` on. Where the switch can, it gives each rank no more than that.
 */

struct call {
	const char *name; /**< "MPI_Allreduce" */
	const void *send; /**< what this rank gives; MPI_IN_PLACE is resolved */
	void *receive;    /**< where `kept` results go; NULL if none is kept */
	size_t count;     /**< values that each rank gives */
	size_t first, kept;
	unsigned int kind; /**< enum netfc_collective_kind: what the switch could do */
	unsigned int root; /**< of a reduce */
	/** Values that each rank keeps of a reduce-scatter, if they are not equally many: int, or
	 * MPI_Count. The program's, until operation_new() copies them. NULL: they are. */
	const void *counts;
	bool large_counts;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Comm comm;
	struct persistent *persistent; /**< what is started once more; or NULL */
	struct conversion conversion;
};

/**
 * Begin it. request: where to put that of a reduction that is only started; NULL: wait for its end.
 * MPI's code, which the communicator's error handler has seen.
 */
int begin_reduction(const struct call *call, MPI_Request *request);

/*
 * A reduction on its way: through the switch, and through MPI where that failed and
 * NETFC_MPI_FALLBACK=1 says so.
 */

struct job;

/** Reductions of a job end in the order in which they were begun. */
enum operation_stage {
	OPERATION_WAITS,  /**< for the job */
	OPERATION_RUNS,   /**< in the switch */
	OPERATION_AGREES, /**< all ranks tell each other whether they have the result */
	OPERATION_AGAIN,  /**< by MPI */
	OPERATION_DONE
};

struct operation {
	struct operation *next; /**< of the job */
	struct call call;
	enum operation_stage stage;
	int error; /**< MPI's code */

	const void *input; /**< as given, for MPI; MPI_IN_PLACE if still in `result` */
	void *result;      /**< `call.count` values */
	void *sent;        /**< what the switch works on; may be `result` */
	void *owned[5];    /**< memory that goes with it */
	struct netfc_allreduce_handle *handle; /**< the only one, mostly */
	struct netfc_allreduce_handle **handles;
	int started, ended;          /**< of the handles */
	bool refused;                /**< not all could be started */
	size_t given, summed, taken; /**< values, where ranks of a node share memory */

	MPI_Request pending; /**< of agreeing, or of the reduction by MPI */
	int succeeded;       /**< here; then, everywhere */

	bool has_request; /**< else somebody waits for it */
	MPI_Request request;
	atomic_bool completed; /**< the request */
	atomic_uint holders;   /**< the job and, if it has one, its request */
};

/** NULL: out of memory. */
struct operation *operation_new(const struct call *call, bool keep_input);

/** Give what is to be reduced to the switch. */
void operation_start(struct operation *operation, struct job *job);

/** Advance it as far as possible. True: done. patience_ms: how long to wait for the switch. */
bool operation_step(struct operation *operation, struct job *job, int patience_ms);

/** Drop a reference: the last one frees it. */
void operation_release(struct operation *operation);

/*
 * Waiting in both directions: who waits for the switch lets MPI go on, and who waits in MPI lets
 * the reductions go on that were started.
 *
 * A request of a started reduction is a generalized request. They are completed from inside the
 * MPI library's own progress, as its MPI-IO does: Open MPI has a list of functions to call there,
 * MPICH a function to poll for each request.
 */

/** Once for the process. */
bool progress_begin(void);

/** Make the request of an operation; MPI's code. */
int progress_make_request(struct operation *operation);

/** Its reduction has ended. */
void progress_complete(struct operation *operation);

/** Whether MPI's own waiting will do: no reduction depends on this rank's going on. */
bool progress_may_wait(void);

/** Let MPI do what there is to do, without waiting. */
void progress_mpi(void);

#endif /* NETFC_MPI_OPERATION_H */
