/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUMBER_TABLE_H
#define NUMBER_TABLE_H

/**
 * @file
 * What is expected: the properties of every encoding of a format, correctly rounded results, and
 * the pairs of operands that they are of, a row at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

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

/**
 * The results of x with every y.
 *
 * @param z space for ENCODINGS results
 */
void reference_row(const struct reference *reference, uint16_t x, uint16_t *z);

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

#endif /* NUMBER_TABLE_H */
