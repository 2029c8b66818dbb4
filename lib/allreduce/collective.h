/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_COLLECTIVE_H
#define ALLREDUCE_COLLECTIVE_H

/**
 * @file
 * What a collective is in blocks, chunks and owners. With the communicator's lock.
 */

#include "internal.h"

/* Returns OK, or has said what is wrong with it. */
int collective_check(struct netfc_allreduce *comm, const struct netfc_collective *collective);

/* Fill in the handle of a valid collective, except for its place in the queue. */
void collective_plan(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	bool lazily, struct netfc_allreduce_handle *handle);

#endif /* ALLREDUCE_COLLECTIVE_H */
