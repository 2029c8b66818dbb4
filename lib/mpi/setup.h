/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_SETUP_H
#define NETFC_MPI_SETUP_H

/**
 * @file
 * Set-up of a communicator's job, step by step and without blocking.
 */

#include "job.h"

/** Begin, inside a reduction that all ranks call. Returns MPI's code. */
int setup_begin(struct job *job);

/** Advance it as far as possible: job->stage has the state. */
void setup_advance(struct job *job);

#endif /* NETFC_MPI_SETUP_H */
