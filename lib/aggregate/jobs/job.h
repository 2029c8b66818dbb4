/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_H
#define JOB_H

/**
 * @file
 * A job from its first join to its end, for shard 0 only, except job_fail(); why values are
 * missing; and its way to the parent.
 */

#include "jobs/table.h"

/** The job of that number and token that is waiting for workers; NULL: none. */
struct job *job_find_joining(struct aggregate_table *table, uint16_t number, uint64_t token);

/**
 * Begin a job, without slots.
 *
 * @param job set to the job, or NULL
 * Where the table is full, the oldest incomplete job of the address that has begun the most makes
 * room, if that keeps as many as this one then has. An address that has begun as many as it may
 * waits until the oldest of them has had its time. Where the parent has to be told first that a job
 * makes room, the room is kept meanwhile, for any other job of the address for which it was made.
 *
 * @return WAITING; FULL: the table is full of complete jobs. WAITING and no job: there may be room
 *   soon, or the address has begun too many that are not complete
 */
enum aggregate_action
job_begin(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct job **job);

/**
 * All workers have joined: give the job its slots and session, and publish it to other shards.
 *
 * @param slots, bytes granted at most
 * @return JOINED; NO_SLOTS; WAITING: there will be some soon; WRONG_TOKEN: another job of that
 *   number is open
 */
enum aggregate_action
job_open(struct aggregate_table *table, struct job *job, uint16_t slots, uint16_t bytes);

/** Maximum bytes of values in a chunk granted to a worker that requests so many. */
uint16_t job_granted_bytes(const struct aggregate_table *table, uint16_t asked);

/** Whether some chunk size is acceptable to the job's other workers and to the one that joins. */
bool job_takes_bytes(const struct job *job, const struct aggregate_message *request);

/** A worker has joined an incomplete job: its chunk size is what all that are there accept. */
void job_agree_on_bytes(const struct aggregate_table *table, struct job *job);

/** Whether some job has ended but still holds its slots or is leaving the parent. */
bool job_any_ended(const struct aggregate_table *table);

/** End a job. Its slots are freed once no shard can be using them. */
void job_end(struct aggregate_table *table, struct job *job);

/** Whether none of an open job's members was heard for so many ticks. */
bool job_is_silent(
	const struct aggregate_table *table, const struct job *job, uint64_t ticks, uint64_t now);

/** End a job that the parent knows no more. */
void job_end_lost(struct aggregate_table *table, struct job *job);

/** Whether the sender's host has the worker's place; any thread may ask of an open job. */
bool
job_has_address(const struct job *job, unsigned int worker, const struct aggregate_sender *sender);

/** Whether it is the process that has the worker's place. */
bool
job_has_place(const struct job *job, unsigned int worker, const struct aggregate_sender *sender);

/** Give a worker's place to the sender of a join, replacing any earlier one. */
void job_take_place(struct aggregate_table *table, struct job *job,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now);

/** Vacate a worker's place. */
void job_vacate(struct aggregate_table *table, struct job *job, unsigned int worker);

/** Vacate the places of workers that have not joined again in time. */
void job_vacate_silent(struct aggregate_table *table, struct job *job, uint64_t now);

/** Workers behind all members of a complete job, as these say; UINT32_MAX: more than can be. */
uint32_t job_workers_below(const struct job *job);

/** Of enum aggregate_feature: what all members of a complete job know. */
uint8_t job_features(const struct job *job);

/** Whether all workers have joined. */
bool job_is_complete(const struct job *job);

/** How many jobs of that number and token have ended. */
uint32_t *job_ended_count(struct aggregate_table *table, uint16_t number, uint64_t token);

/** Why a job failed. */
struct failure {
	uint8_t worker;
	uint8_t absence; /**< AGGREGATE_ABSENT_SILENT or AGGREGATE_ABSENT_FAILED */
	uint8_t reason;  /**< AGGREGATE_ABSENT_FAILED: enum aggregate_reason */
};

/** Record why a job failed, from any thread; only the first call has an effect. */
void job_fail(struct job *job, struct failure failure);

/** Whether a job has failed, and why. */
bool job_has_failed(const struct job *job, struct failure *failure);

/*
 * Why a worker's values are missing: which worker is named, and whether it has failed, is silent,
 * has left, or is alive and late.
 */

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

/* A job's way to the switch above, from its beginning to its end: shard 0's. Chunks: any shard's.
 */

/** The job's, in a table that has a parent. */
static inline struct parent_member *
parent_member_of(const struct aggregate_table *table, const struct job *job)
{
	return &table->parent_members[index_of_job(table, job)];
}

/** Whether the parent is still to be told of an earlier job's end. */
static inline bool
leaf_is_leaving(const struct aggregate_table *table, const struct job *job)
{
	return table->parent_members != NULL &&
		parent_member_of(table, job)->member.state == AGGREGATE_MEMBER_LEAVING;
}

/** Whether the parent does not take the job. */
static inline bool
leaf_is_refused(const struct aggregate_table *table, const struct job *job)
{
	return job->place.levels != 0 &&
		parent_member_of(table, job)->member.state == AGGREGATE_MEMBER_REFUSED;
}

/** A job has begun: nothing has been asked for it yet. */
void leaf_begin(struct aggregate_table *table, const struct job *job);

/**
 * An incomplete job has another member, or one less. If the parent was asked for it, its job may
 * have begun, for the members that there were: this switch leaves it, and asks again as another.
 */
void leaf_start_over(const struct aggregate_table *table, const struct job *job);

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

#endif /* JOB_H */
