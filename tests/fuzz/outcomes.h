/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OUTCOMES_H
#define OUTCOMES_H

/**
 * @file
 * The kinds of outcomes that inputs of the aggregation should reach: with each instruction set,
 * every operation of every format, of one worker, two and more; copies of something and of nothing;
 * every action; every refusal.
 */

#include <aggregate.h>

/** Choices of an instruction set; those that a machine lacks stand for the best that it has. */
#define OUTCOMES_ISAS 3u

/** Expect them all. */
void outcomes_expect(void);

/** A chunk is complete. */
void
outcomes_completed(unsigned int isa, unsigned int op, unsigned int format, unsigned int workers);

/** A copy is complete, of so many values. */
void outcomes_copied(unsigned int count);

/** A shard has taken a packet. */
void outcomes_action(enum aggregate_action action);

/** A packet that no shard sees has been refused. */
void outcomes_refused(uint8_t code);

#endif /* OUTCOMES_H */
