/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/** @file Errors of results, counted. All in integers: no order of counting changes a bit. */

#include <jansson.h>
#include <stdint.h>

#include "number_table.h"

/** Accuracy is counted in steps of 1/10,000; the last bin is for exactly 1. */
#define ACCURACY_BINS 10001

/** Units in the last place: 0, 1, 2-3, 4-7, ... */
#define ULP_BINS 18

/** Relative errors: bin b is for 2^(b - ERROR_ONE) up to twice that; the outer ones take the rest.
 */
#define ERROR_BINS 64
#define ERROR_ONE 40

/** Bits cancelled: 0, 1, ...; the last bin takes the rest. */
#define CANCEL_BINS 17

/** Distinct errors kept, the greatest ones. */
#define WORST 6

/** A relative error, how often it was met, and the least pair of operands that has it. */
struct worst {
	double error;
	uint64_t count;
	uint16_t x, y, z, expected;
};

/** Sums of sums: those that lost some leading bits. */
struct cancel_bin {
	uint64_t count;
	uint64_t exact;
	uint64_t loss; /**< as in struct tally */
};

/** Results of a set, compared with the correctly rounded ones. */
struct tally {
	uint64_t pairs;
	uint64_t special;        /**< left out: the expected result is NaN or NaR */
	uint64_t infinite;       /**< left out: it is infinite */
	uint64_t zero;           /**< left out: it is zero */
	uint64_t left_out_wrong; /**< of these: the result has other bits */
	uint64_t overflowed;     /**< counted, accuracy 0: only the result is infinite */
	uint64_t loss;           /**< sum of 1 - accuracy, in units of 2^-30 */
	uint64_t accuracy[ACCURACY_BINS];
	uint64_t ulps[ULP_BINS];
	uint64_t error[ERROR_BINS];            /**< not the exact results */
	struct cancel_bin cancel[CANCEL_BINS]; /**< add, sub */
	struct worst worst[WORST];
};

/** An operation and its result. */
struct lane {
	uint16_t x, y, z, expected;
};

/**
 * Count a lane.
 *
 * @param weight how many lanes it stands for
 * @param sum whether it is an addition or a subtraction
 */
void tally_lane(struct tally *tally, const struct number_table *numbers, const struct lane *lane,
	unsigned weight, bool sum);

/** Add a tally to another. */
void tally_merge(struct tally *into, const struct tally *from);

/** A tally as JSON; bins as [bin, count], empty ones left out. */
json_t *tally_json(const struct tally *tally, bool sum);

#endif /* TALLY_H */
