/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SWEEP_H
#define SWEEP_H

/**
 * @file
 * All pairs of operands, a row of them for each x: every result of every set is computed from its
 * tables and compared with the correctly rounded one.
 */

#include <stdint.h>

#include "number_table.h"
#include "row.h"
#include "tally.h"

/** Sets that a sweep compares at the most. */
#define MAX_SETS 4

/** What to go through, and what came of it. */
struct sweep {
	const struct number_table *numbers;
	enum netfc_op op;
	uint32_t step; /**< 1: every x; n: every n-th */
	/**
	 * Of the results expected, every n-th of a row is compared with netfc_exact(), another one
	 * first in each row; and of every n-th row of sums the differences as well.
	 */
	uint32_t check;
	unsigned set_count;
	struct netfc_set *set[MAX_SETS]; /**< all for the format of `numbers` */
	unsigned threads;
	bool progress;           /**< whether to show it on stderr */
	struct kind_count kinds; /**< of all pairs */
	struct tally tally[MAX_SETS][POPULATIONS];
	uint64_t unexpected; /**< expected results that netfc_exact() has not; must be 0 */
	uint64_t unlike;     /**< differences x - y that are not the sum x + -y; must be 0 */
};

/** Go through all pairs. Gives 0, or -1 if there was no memory or thread. */
int sweep_run(struct sweep *sweep);

#endif /* SWEEP_H */
