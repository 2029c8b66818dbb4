/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SWEEP_H
#define SWEEP_H

/**
 * @file
 * A sweep over all pairs of operands, a row for each x. Every result of every set is computed from
 * its tables and compared with the correctly rounded one.
 */

#include <stdint.h>

#include "reference.h"
#include "tally.h"

/** Maximum number of sets in a sweep. */
#define MAX_SETS 4

/** Input and results of a sweep. */
struct sweep {
	const struct number_table *numbers;
	enum netfc_op op;
	uint32_t step; /**< 1: every x; n: every n-th */
	/**
	 * Every n-th expected result of a row is compared with netfc_exact(), starting at another
	 * one in each row. In every n-th row of sums the differences are compared, too.
	 */
	uint32_t check;
	unsigned set_count;
	struct netfc_set *set[MAX_SETS]; /**< all for the format of `numbers` */
	unsigned threads;
	bool progress;           /**< whether to show it on stderr */
	struct kind_count kinds; /**< of all pairs */
	struct tally tally[MAX_SETS][POPULATIONS];
	uint64_t unexpected; /**< expected results that differ from netfc_exact(); must be 0 */
	uint64_t unlike;     /**< differences x - y that differ from x + -y; must be 0 */
};

/** Run the sweep. Gives 0, or -1 if memory or a thread could not be had. */
int sweep_run(struct sweep *sweep);

#endif /* SWEEP_H */
