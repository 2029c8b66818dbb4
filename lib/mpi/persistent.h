/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_PERSISTENT_H
#define NETFC_MPI_PERSISTENT_H

/**
 * @file
 * Requests that are started again and again (MPI_Allreduce_init and MPI_Start).
 *
 * To MPI such a request is a persistent receive of nothing from this rank itself: whoever waits for
 * it waits in MPI, together with whatever else. At each start the reduction begins, as one that is
 * only started, and at its end this rank sends what is to be received.
 *
 * MPI lets each rank start its requests in an order of its own. So each request has a communicator
 * of its own, and with that a job.
 */

#include <mpi.h>

#include "operation.h"

struct persistent;

/** All ranks call it, as they call the reduction; MPI's code. */
int persistent_make(const struct call *call, MPI_Request *request);

/** The reduction that it has started has ended, with MPI's code. */
void persistent_complete(struct persistent *persistent, int error);

/**
 * MPI has completed these requests, of the numbers in `which`; NULL: all. `error` is MPI's code; it
 * is returned, or that of a reduction among them that has failed.
 */
int persistent_completed(int error, int count, const int *which, const MPI_Request requests[]);

#endif /* NETFC_MPI_PERSISTENT_H */
