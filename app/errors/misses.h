/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MISSES_H
#define MISSES_H

/**
 * @file
 * Fast counting of the results of a set that differ from the expected ones.
 *
 * Nearly all are off by a few units in the last place (ulp). So there are about a million different
 * errors: a number of ulp and an expected magnitude. Each has a counter of its own, and the
 * relative error is computed once for each at the end.
 */

#include "reference.h"
#include "tally.h"

/** The largest error in ulp that has counters of its own. */
#define NEAR 15

/** Magnitudes of a 16-bit format. */
#define MAGNITUDES 0x8000u

/** Count of an error, and its first pair: x << 16 | y. Less than 2^32 pairs are inexact. */
struct miss_cell {
	uint32_t pairs, first;
};

/** The loss of each of these errors. */
struct miss_losses {
	uint32_t loss[2 * NEAR + 1][MAGNITUDES];
};

/** A set's misses in one thread. */
struct misses {
	const struct number_table *numbers;
	const struct miss_losses *losses;
	struct miss_cell cell[POPULATIONS][2 * NEAR + 1][MAGNITUDES];
	struct tally tally[POPULATIONS]; /**< complete after misses_finish() */
	uint16_t differing[ENCODINGS];   /**< the y of a row that are misses */
};

/** Compute the losses of a format. */
void miss_losses_fill(struct miss_losses *losses, const struct number_table *numbers);

/** Count the misses in the results `z` of a row, ENCODINGS of them. */
void misses_count(struct misses *misses, const struct row *row, const uint16_t *z);

/** Turn the counts into tallies. */
void misses_finish(struct misses *misses);

#endif /* MISSES_H */
