/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_JOINING_H
#define NETFC_MPI_JOINING_H

/** @file Joining, in a thread, since it waits for other ranks; the result is job->outcome. */

#include "job.h"

/** The member that speaks for this rank. */
const struct place_member *joining_member(const struct job *job);

/** The job's number in this attempt. */
uint16_t joining_number(const struct job *job);

/** Begin, as the one that speaks. False: no thread can be made. */
bool joining_start(struct job *job);

/** Whether it has ended; if so, what it came to is known. */
bool joining_end(struct job *job);

#endif /* NETFC_MPI_JOINING_H */
