/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_PROGRESS_H
#define NETFC_MPI_PROGRESS_H

/**
 * @file
 * Waiting in both directions: who waits for the switch lets MPI go on, and who waits in MPI lets
 * the reductions go on that were started.
 *
 * A request of a started reduction is a generalized request. They are completed from inside the
 * MPI library's own progress, as its MPI-IO does: Open MPI has a list of functions to call there,
 * MPICH a function to poll for each request.
 */

#include <stdbool.h>

#include "operation.h"

/** Once for the process. */
bool progress_begin(void);

/** Make the request of an operation; MPI's code. */
int progress_make_request(struct operation *operation);

/** Its reduction has ended. */
void progress_complete(struct operation *operation);

/** Let MPI do what there is to do, without waiting. */
void progress_mpi(void);

#endif /* NETFC_MPI_PROGRESS_H */
