/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEAF_H
#define LEAF_H

/**
 * @file
 * A job's way to the switch above, from its beginning to its end: shard 0's. Chunks: any shard's.
 */

#include "jobs/table.h"

/** The job's, in a table that has a parent. */
static inline struct uplink *
uplink_of(const struct aggregate_table *table, const struct job *job)
{
	return &table->uplinks[index_of_job(table, job)];
}

/** Whether the parent is still to be told of an earlier job's end. */
static inline bool
leaf_is_leaving(const struct aggregate_table *table, const struct job *job)
{
	return table->uplinks != NULL && uplink_of(table, job)->state == AGGREGATE_UPLINK_LEAVING;
}

/** Whether the parent does not take the job. */
static inline bool
leaf_is_refused(const struct aggregate_table *table, const struct job *job)
{
	return job->place.levels != 0 && uplink_of(table, job)->state == AGGREGATE_UPLINK_REFUSED;
}

/** A job has begun: nothing has been asked for it yet. */
void leaf_begin(struct aggregate_table *table, const struct job *job);

/** A job ends: the parent will be told, if it knows it. */
void leaf_end(struct aggregate_table *table, const struct job *job);

/**
 * All of a job's members are here: ask the parent, or open it with what that has granted.
 *
 * @return WAITING; or as job_open(); REFUSED_ABOVE
 */
enum aggregate_action leaf_open(struct aggregate_table *table, struct job *job, uint64_t now);

/** Where in the tree a join was decided, and for what reason. */
void leaf_tell(const struct aggregate_table *table, const struct job *job,
	enum aggregate_action action, struct aggregate_outcome *outcome);

/** Whether a chunk can go up, whatever its sums are. */
bool leaf_can_send(const struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request);

/** Say what the parent said of a chunk. */
void leaf_explain(const struct aggregate_entry *entry, struct aggregate_outcome *outcome);

/** The parent has granted a session: make its keys. Before the job is published. */
void leaf_make_keys(struct aggregate_table *table, const struct job *job);

/** Tag a chunk, if there is a cluster's key. Returns its bytes then. */
size_t leaf_seal_chunk(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	uint8_t *payload, size_t length);

/** A join's or leave's reply, at shard 0. */
enum aggregate_action
leaf_take_reply(struct aggregate_table *table, const struct aggregate_message *reply, uint64_t now);

#endif /* LEAF_H */
