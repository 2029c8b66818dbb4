/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ABSENCE_H
#define ABSENCE_H

/**
 * @file
 * Why a worker's values are missing: which worker is named, and whether it has failed, is silent,
 * has left, or is alive and late.
 */

#include "job.h"

/** A shard has received a worker's packet. */
static inline void
absence_note_presence(struct presence *presence, uint64_t now, uint64_t stall)
{
	if (now - presence->heard > stall / 2)
		WRITE(presence->since, now);
	WRITE(presence->heard, now);
}

/** Whether an entry's chunk is already known never to become complete, before `stall` is over. */
bool absence_is_certain(const struct job *job, const struct aggregate_entry *entry);

/**
 * Tell a waiting worker who is missing: sets the outcome's reason, absence and detail.
 *
 * By precedence: the worker that the job failed for; the lowest that is silent; the lowest that has
 * left; the lowest that is late. A worker is silent if no shard has heard it for `stall` ticks
 * while the waiting worker was heard throughout: an outage that cuts off both is neither's fault.
 */
void absence_explain(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_entry *entry, unsigned int waits, uint64_t now,
	struct aggregate_outcome *outcome);

#endif /* ABSENCE_H */
