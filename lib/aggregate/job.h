/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_H
#define JOB_H

/**
 * @file
 * A job from its first join to its end: shard 0's alone, but for job_fail().
 */

#include "table.h"

/** The job of that number and token that some workers have joined; NULL: there is none. */
struct job *job_find_joining(struct aggregate_table *table, uint16_t number, uint64_t token);

/**
 * Begin one, without slots.
 *
 * @param job where to put it; NULL if there is none
 * @return WAITING; FULL: the table is full. WAITING and no job: an earlier one is about to end, or
 *   the address has begun too many that are not complete
 */
enum aggregate_action
job_begin(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, struct job **job);

/**
 * All workers are here: the job gets its slots and its session, and other shards find it.
 *
 * @param slots, bytes that it is granted at the most
 * @return JOINED; FULL: no slots are left; WAITING: there will be soon
 */
enum aggregate_action
job_open(struct aggregate_table *table, struct job *job, uint16_t slots, uint16_t bytes);

/** Bytes of values in a chunk that a worker who asks for so many is granted at the most. */
uint16_t job_granted_bytes(const struct aggregate_table *table, uint16_t asked);

/** Whether there is a size of chunks that the job's workers take and who joins takes, too. */
bool job_takes_bytes(const struct job *job, const struct aggregate_join *join);

/** A worker joins: chunks are as large as all take. */
void job_agree_on_bytes(
	const struct aggregate_table *table, struct job *job, const struct aggregate_join *join);

/** Whether a job has ended whose slots are not taken back yet, or that leaves the parent. */
bool job_any_ended(const struct aggregate_table *table);

/** End a job. Its slots are taken back when no shard can be at them any more. */
void job_end(struct aggregate_table *table, struct job *job);

/** Whether the sender's host has the worker's place; any thread may ask of an open job. */
bool
job_has_address(const struct job *job, unsigned int worker, const struct aggregate_sender *sender);

/** Whether it is the process that has the worker's place. */
bool
job_has_place(const struct job *job, unsigned int worker, const struct aggregate_sender *sender);

/** Give a worker's place to who sent a join: the latest has it. */
void job_take_place(struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now);

/** Nobody has the worker's place any more. */
void job_vacate(struct job *job, unsigned int worker);

/** Vacate the places of workers that have not asked again in time. */
void job_vacate_silent(const struct aggregate_limits *limits, struct job *job, uint64_t now);

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

/** Say why a job failed, from any thread; the first to say so is believed. */
void job_fail(struct job *job, struct failure failure);

/** Whether a job has failed, and why. */
bool job_has_failed(const struct job *job, struct failure *failure);

#endif /* JOB_H */
