/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PARTS_H
#define ALLREDUCE_PARTS_H

/** @file Chunks of exact sums, each of which is several packets. */

#include "internal.h"

static inline bool
parts_are_of(const struct slot *slot)
{
	return slot->handle != NULL && slot->handle->totals != NULL;
}

/*
 * Send parts of a slot's chunk that are still to be sent. Returns whether all have been, or -1 and
 * errno.
 */
int parts_send(struct netfc_allreduce *comm, struct channel *channel, struct slot *slot);

#endif /* ALLREDUCE_PARTS_H */
