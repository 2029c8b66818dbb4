/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MISSES_H
#define MISSES_H

/**
 * @file
 * The results of a set that have not the expected bits, counted fast.
 *
 * Nearly all are a few units in the last place off, so that an error is one of a million: by how
 * many units, from which magnitude. These are counted by themselves, and what an error means is
 * worked out once for each of them at the end.
 */

#include "row.h"
#include "tally.h"

/** Units in the last place off at the most that are counted by themselves. */
#define NEAR 15

/** Magnitudes of a 16-bit format. */
#define MAGNITUDES 0x8000u

/** How often an error was met, and where first: x << 16 | y. Less than 2^32 pairs are inexact. */
struct miss_cell {
	uint32_t pairs, first;
};

/** What each of these errors adds to the loss. */
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

/** Fill in the losses of a format. */
void miss_losses_fill(struct miss_losses *losses, const struct number_table *numbers);

/** Count the misses in the results `z` of a row, ENCODINGS of them. */
void misses_count(struct misses *misses, const struct row *row, const uint16_t *z);

/** Work out what was counted. */
void misses_finish(struct misses *misses);

#endif /* MISSES_H */
