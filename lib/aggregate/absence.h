/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ABSENCE_H
#define ABSENCE_H

/**
 * @file
 * Why a worker's values are missing: which worker is named, and whether it has failed, is silent,
 * has left, or is alive and late.
 */

#include "job.h"

/** A worker's packet has come to a shard. */
static inline void
absence_note_presence(struct presence *presence, uint64_t now, uint64_t stall)
{
	if (now - presence->heard > stall / 2)
		WRITE(presence->since, now);
	WRITE(presence->heard, now);
}

/** Whether nobody needs to wait for `stall` to know that an entry's chunk will not be complete. */
bool absence_is_certain(const struct job *job, const struct aggregate_entry *entry);

/**
 * Say who is missing to a worker that waits: reason, absence and detail of the outcome.
 *
 * By precedence: for whom the job failed; the least worker that is silent; the least that has
 * left; the least that is late. A worker is silent if no shard has heard of it for `stall` ticks in
 * which the one that waits was heard all the time: what cuts off both is no fault of either.
 */
void absence_explain(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_entry *entry, unsigned int waits, uint64_t now,
	struct aggregate_outcome *outcome);

#endif /* ABSENCE_H */
