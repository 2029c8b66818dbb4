/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_FAREWELL_H
#define ALLREDUCE_FAREWELL_H

/**
 * @file
 * A worker that has failed leaves at once with a reason, so that the others need not wait for it.
 */

#include "internal.h"

/* The communicator has failed with that status; wakes its thread, which says so. With the lock. */
void farewell_begin(struct netfc_allreduce *comm, int status);

/* Whether a switch has to be told (again). With the lock. */
bool farewell_is_due(const struct netfc_allreduce *comm);

/* Tell switches that have not answered, and wait a moment for that. With the lock. */
void farewell_say(struct netfc_allreduce *comm);

#endif /* ALLREDUCE_FAREWELL_H */
