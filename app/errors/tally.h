/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/** @file Errors of all pairs of operands, counted in integers. */

#include <stdint.h>

#include <jansson.h>

#include "reference.h"

/* Counts of errors, in integers, so that their order does not matter. */

/** Bins of accuracy, in steps of 1/10,000; the last bin is for exactly 1. */
#define ACCURACY_BINS 10001

/** Units in the last place: 0, 1, 2-3, 4-7, ... */
#define ULP_BINS 18

/** Relative errors: bin b is for 2^(b - ERROR_ONE) up to twice that; the outer ones take the rest.
 */
#define ERROR_BINS 64
#define ERROR_ONE 40

/** How many distinct errors are kept: the greatest ones. */
#define WORST 6

/** A relative error, its count, and the least pair of operands that has it. */
struct worst {
	double error;
	uint64_t count;
	uint16_t x, y;
};

/** Inexact sums by cancelled leading bits. */
struct cancel_bin {
	uint64_t inexact;
	uint64_t loss; /**< as in struct tally */
};

/** A result for x and y that differs from the expected one. */
struct miss {
	uint16_t x, y, z, expected;
};

/** The results of a set that differ from the expected ones. */
struct tally {
	uint64_t left_out_wrong; /**< where what is expected is not a finite number */
	uint64_t inexact;        /**< the others */
	uint64_t overflowed;     /**< of these: infinite or NaN; accuracy 0 */
	uint64_t loss;           /**< sum of 1 - accuracy, in units of 2^-30 */
	uint64_t accuracy[ACCURACY_BINS];
	uint64_t ulps[ULP_BINS];
	uint64_t error[ERROR_BINS];
	struct cancel_bin cancel[CANCEL_BINS]; /**< add, sub */
	struct worst worst[WORST];
};

/** The loss of a result. */
uint64_t tally_loss(const struct number_table *numbers, uint16_t z, uint16_t expected);

/**
 * Count a result whose expected value is a finite number.
 *
 * @param weight how many times
 */
void tally_add(struct tally *tally, const struct number_table *numbers, const struct miss *miss,
	uint64_t weight);

/** Add a tally to another. */
void tally_merge(struct tally *into, const struct tally *from);

/**
 * A set's tally as JSON; bins as [bin, count], empty ones left out.
 *
 * @param kinds all pairs of the population, KINDS numbers
 */
json_t *tally_json(const struct tally *tally, const uint64_t *kinds, const struct netfc_set *set,
	enum netfc_op op);

/*
 * Fast counting of the results of a set that differ from the expected ones. Nearly all are off by a
 * few units in the last place (ulp). So there are about a million different errors: a number of ulp
 * and an expected magnitude. Each has a counter of its own, and the relative error is computed once
 * for each at the end.
 */

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

/*
 * A sweep over all pairs of operands, a row for each x. Every result of every set is computed from
 * its tables and compared with the correctly rounded one.
 */

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

#endif /* TALLY_H */
