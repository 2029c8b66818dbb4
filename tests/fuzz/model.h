/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MODEL_H
#define MODEL_H

/**
 * @file
 * A model of the aggregation: it keeps what workers have added to each chunk, sums it by other
 * means, and checks what becomes of a packet.
 */

#include <aggregate.h>

/** Of the table that it follows: jobs at once, workers of a job, bytes of values in a chunk. */
#define JOBS 3
#define WORKERS 5
#define BYTES 32

/** Forget all, and follow a table; `isa` is the choice of outcomes.h. */
void model_start(const struct aggregate_table *table, unsigned int isa);

/** There may be no record left for another chunk. */
bool model_is_full(void);

/** What the table says of a job; false if it has none of this number. */
bool model_find_job(uint16_t number, struct aggregate_info *info);

/** Chunks of jobs that have ended are those of others from now on. */
void model_forget_ended(void);

/** A shard has taken a packet: check that this may become of it, and keep what it adds. */
void model_follow(const struct aggregate_message *request, const struct aggregate_outcome *outcome);

/** A worker's result is the exact one of all workers' values, rounded once; the owner's values of a
 * copy; or none, where it is not for that worker. */
void model_check_result(const struct aggregate_message *result);

#endif /* MODEL_H */
