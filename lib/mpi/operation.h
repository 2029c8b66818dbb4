/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_OPERATION_H
#define NETFC_MPI_OPERATION_H

/**
 * @file
 * A reduction on its way: through the switch, and through MPI where that failed and
 * NETFC_MPI_FALLBACK=1 says so.
 */

#include <stdatomic.h>

#include <netfc_allreduce.h>

#include "call.h"

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
	void *owned[3];    /**< memory that goes with it */
	struct netfc_allreduce_handle *handle;
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

#endif /* NETFC_MPI_OPERATION_H */
