/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/** @file Errors of all pairs of operands, counted in integers. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

/*
 * What is expected: the properties of every encoding of a format, correctly rounded results, and
 * the pairs of operands that they are of, a row at a time.
 */

/** Encodings of a 16-bit format. */
#define ENCODINGS 0x10000u

/** Greater than the distance of any two ordinals. */
#define NO_ORDINAL (INT32_C(1) << 20)

/** The encodings of a format. */
struct number_table {
	const struct netfc_format *format;
	double value[ENCODINGS];     /**< NaN for NaN and NaR */
	int32_t ordinal[ENCODINGS];  /**< rank by value; neighbours differ by 1 */
	int16_t exponent[ENCODINGS]; /**< floor(log2 |value|) of finite numbers except zero */
	uint8_t class[ENCODINGS];    /**< enum netfc_class */
	bool decimal[ENCODINGS];     /**< |value| < 1 */
};

/** Fill in the table. */
void number_table_fill(struct number_table *table, const struct netfc_format *format);

/*
 * Correctly rounded results by the CPU's binary64 arithmetic, a row at a time: the operation is
 * rounded to 53 bits, and the result to the format.
 *
 * Rounding twice gives the same as rounding once here. Values of all formats are binary64 numbers
 * of 13 bits or less; the rounding boundaries, half-way between two neighbours of a format, have 14
 * or less. Products have 26 bits and are exact. The distance of a quotient from a boundary is 0 or
 * more than 2^-30 of its size. A sum is exact, or its operands are so far apart that it is nearer
 * to the larger one than any boundary is. (Figueroa, "When is double rounding innocuous?", 1995.)
 */

/** How a format rounds. */
struct reference {
	const struct number_table *numbers;
	enum netfc_op op;
	bool posit;
	int32_t exponent_bits; /**< IEEE: of the exponent field; posits: es */
	uint32_t inf, nan;
};

/** Set up the reference for an operation; it keeps `numbers`. */
void
reference_init(struct reference *reference, const struct number_table *numbers, enum netfc_op op);

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

/** A row of pairs of operands: one x with every y, and the expected results. */
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

#endif /* TALLY_H */
