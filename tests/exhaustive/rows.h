/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROWS_H
#define ROWS_H

/**
 * @file
 * All 2^32 pairs of operands, row by row: one x with every y. All CPUs share the rows. The
 * environment variable NETFC_STRIDE, a number, leaves only every so many-th x.
 */

#include <stdint.h>

/** Pairs of a row, and rows, if all are checked. */
#define ROW 0x10000u

/** Rows that are checked. */
uint32_t rows_count(void);

/** A check. */
struct rows {
	const char *title; /**< for people */
	/** Check the row of an x; returns how many results are wrong. Threads call it together. */
	uint64_t (*check)(const void *arg, uint16_t x);
	const void *arg;
};

/**
 * Check every row, on all CPUs, and report progress on stdout.
 *
 * @param seconds receives the processor time of all threads
 * @return the number of wrong results
 */
uint64_t rows_check(const struct rows *rows, double *seconds);

#endif /* ROWS_H */
