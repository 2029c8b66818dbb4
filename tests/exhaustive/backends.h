/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BACKENDS_H
#define BACKENDS_H

/**
 * @file
 * All that computes an operation in this build: the programs of table sets, the kernels of
 * the match engines for each instruction set, and the CPU if it has fp16.
 */

#include <stdbool.h>

#include <netfc.h>

#include "match.h"
#include "rows.h"
#include "vector.h"

#define MAX_BACKENDS 16

/** A backend: a program if `set`, a kernel if `kernel`, else the CPU. */
struct backend {
	char name[120];
	const struct netfc_set *set;
	struct vector_kernel *kernel;
};

struct backends {
	const struct netfc_format *format;
	const struct netfc_set *log; /**< their reference is netfc_calc(); NULL: netfc_exact() */
	struct netfc_set *sets[2];
	struct match_stage *stages[MATCH_KINDS][NETFC_MAX_TABLES];
	unsigned int count;
	struct backend backend[MAX_BACKENDS];
};

/**
 * Find all backends to compute a table set of logarithms, or a format correctly rounded.
 *
 * @param name of the set or the format
 * @return 0, or an error below it; backends_free() frees in both cases
 */
int backends_find(struct backends *backends, const char *name);
void backends_free(struct backends *backends);

/** The reference's row of an x. */
void backends_expect(
	const struct backends *backends, enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags);

/**
 * A backend's row of an x.
 *
 * @param x_row, y_row the operands, ROW each
 */
void backends_compute(const struct backend *backend, enum netfc_op op, const uint16_t *x_row,
	const uint16_t *y_row, uint16_t *z, uint8_t *flags);

#endif /* BACKENDS_H */
