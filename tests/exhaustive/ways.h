/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WAYS_H
#define WAYS_H

/**
 * @file
 * All ways in which this build computes an operation: the programs of table sets, the kernels of
 * the match engines for each instruction set, and the CPU if it has fp16.
 */

#include <stdbool.h>

#include <netfc.h>

#include "match.h"
#include "rows.h"
#include "vector.h"

#define MAX_WAYS 16

/** A way: a program if `set`, a kernel if `kernel`, else the CPU. */
struct way {
	char name[120];
	const struct netfc_set *set;
	struct vector_kernel *kernel;
};

struct ways {
	const struct netfc_format *format;
	const struct netfc_set *log; /**< their reference is netfc_calc(); NULL: netfc_exact() */
	struct netfc_set *sets[2];
	struct match_stage *stages[MATCH_KINDS][NETFC_MAX_TABLES];
	unsigned int count;
	struct way way[MAX_WAYS];
};

/**
 * Find all ways to compute a table set of logarithms, or a format correctly rounded.
 *
 * @param name of the set or the format
 * @return 0, or an error below it; ways_free() frees in both cases
 */
int ways_find(struct ways *ways, const char *name);
void ways_free(struct ways *ways);

/** The reference's row of an x. */
void
ways_expect(const struct ways *ways, enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags);

/**
 * A way's row of an x.
 *
 * @param x_row, y_row the operands, ROW each
 */
void ways_compute(const struct way *way, enum netfc_op op, const uint16_t *x_row,
	const uint16_t *y_row, uint16_t *z, uint8_t *flags);

#endif /* WAYS_H */
