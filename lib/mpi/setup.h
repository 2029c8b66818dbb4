/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_SETUP_H
#define NETFC_MPI_SETUP_H

/**
 * @file
 * How a communicator comes to its job, step by step and without waiting.
 */

#include "job.h"

/** Begin, inside a reduction that all ranks call. Returns MPI's code. */
int setup_begin(struct job *job);

/** Go on as far as it can: job->stage tells how far that is. */
void setup_advance(struct job *job);

#endif /* NETFC_MPI_SETUP_H */
