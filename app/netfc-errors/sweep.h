/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SWEEP_H
#define SWEEP_H

/**
 * @file
 * All pairs of operands, a row of them for each x.
 *
 * Signs do not matter: -x + -y = -(x + y), -x * y = -(x * y), -x / y = -(x / y). So only one of the
 * rows of x and -x is compared with the correctly rounded results, and counts twice. Both are
 * computed: that a set's results have this symmetry is checked for every pair.
 */

#include <stdint.h>

#include "number_table.h"
#include "tally.h"

/** Sets that a sweep compares at the most. */
#define MAX_SETS 4

/** Pairs of operands by their size. */
enum population {
	DECIMALS = 0, /**< both less than 1 in magnitude */
	OTHERS = 1,
	POPULATIONS = 2,
};

/** What to go through, and what came of it. */
struct sweep {
	const struct number_table *numbers;
	enum netfc_op op;
	uint32_t step; /**< 1: every x; n: every n-th */
	unsigned set_count;
	struct netfc_set *set[MAX_SETS]; /**< all for the format of `numbers` */
	unsigned threads;
	bool progress; /**< whether to show it on stderr */
	struct tally tally[MAX_SETS][POPULATIONS];
	uint64_t asymmetric; /**< results of sets that break the symmetry; must be 0 */
};

/** Go through all pairs. Gives 0, or -1 if there was no memory or thread. */
int sweep_run(struct sweep *sweep);

#endif /* SWEEP_H */
