/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_OWNER_H
#define AGGREGATE_OWNER_H

/**
 * @file
 * Chunks with an owner: which packets carry values, and which results.
 *
 * |                       | values in requests of | values in results for |
 * |-----------------------|-----------------------|-----------------------|
 * | reduction, no owner   | all                   | all                   |
 * | reduction, owner w    | all                   | w                     |
 * | copy, owner w         | w                     | all but w             |
 * | copy, count 0         | nobody                | nobody                |
 *
 * A packet without values is the header alone. A result without them is an acknowledgement, of kind
 * AGGREGATE_ACKNOWLEDGED.
 */

#include <stdbool.h>
#include <stdint.h>

#include "aggregate_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A chunk's owner on the wire: this + worker; 0: no owner. */
#define AGGREGATE_OWNER 64

/** Whether that can be an owner, in a job of the maximum of workers. */
static inline bool
aggregate_is_owner(unsigned int owner)
{
	return owner == 0 ||
		(owner >= AGGREGATE_OWNER && owner < AGGREGATE_OWNER + AGGREGATE_MAX_WORKERS);
}

/** Whether a worker's packet of a chunk has its values. */
static inline bool
aggregate_sends_values(unsigned int op, unsigned int owner, unsigned int worker)
{
	return op != AGGREGATE_COPY || owner == AGGREGATE_OWNER + worker;
}

/** Whether a worker's result of a chunk has values. */
static inline bool
aggregate_receives_values(unsigned int op, unsigned int owner, unsigned int worker)
{
	return owner == 0 ? op != AGGREGATE_COPY
			  : (op == AGGREGATE_COPY) != (owner == AGGREGATE_OWNER + worker);
}

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_OWNER_H */
