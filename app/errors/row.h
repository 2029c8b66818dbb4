/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROW_H
#define ROW_H

/** @file A row of pairs of operands: one x with every y, and the expected results. */

#include "number_table.h"
#include "reference.h"

/** Bins of cancelled bits: 0, 1, ...; the last bin is for all larger numbers. */
#define CANCEL_BINS 17

/**
 * Kinds of pairs. Pairs whose expected result is a finite number other than zero are evaluated:
 * sums of two finite numbers by the number of leading bits that cancel, from 0 up, others as
 * UNCANCELLED.
 */
enum kind {
	UNCANCELLED = CANCEL_BINS,
	ZERO,     /**< left out: the expected result is zero */
	INFINITE, /**< left out: it is infinite */
	SPECIAL,  /**< left out: it is NaN or NaR */
	KINDS,
};

/** Populations: pairs of operands by their size. */
enum population {
	DECIMALS = 0, /**< both less than 1 in magnitude */
	OTHERS = 1,
	POPULATIONS = 2,
};

/** A pair's population and kind in one byte. */
#define POPULATION_AT 5

/** The row of an x. */
struct row {
	uint16_t x[ENCODINGS]; /**< all the same */
	uint16_t y[ENCODINGS]; /**< 0, 1, 2, ... */
	uint16_t expected[ENCODINGS];
	uint8_t kind[ENCODINGS]; /**< population << POPULATION_AT | kind */
};

/** Pairs of each population and kind. */
struct kind_count {
	uint64_t pairs[POPULATIONS][KINDS];
};

/** Fill the row of x, and add its pairs to the count. */
void
row_fill(struct row *row, const struct reference *reference, uint16_t x, struct kind_count *count);

/** Add a count to another. */
void kind_count_merge(struct kind_count *into, const struct kind_count *from);

#endif /* ROW_H */
