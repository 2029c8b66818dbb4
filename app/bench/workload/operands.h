/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_H
#define OPERANDS_H

/** @file Pairs of operands: drawn or read from a file. */

#include <stddef.h>
#include <stdint.h>

#include <netfc.h>

#include "options/options.h"

/** Two operands of one lane. */
struct pair {
	uint16_t x, y;
};

/** Pairs, to be gone through again and again. */
struct operands {
	struct pair *pairs;
	size_t count;
};

/**
 * Draw pairs, or read them all from a file. What is wrong is said on stderr.
 *
 * @param wanted how many to draw
 * @param operands operands_free() frees them
 * @return 0 or -1
 */
int operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands);

/** Read a file of pairs; likewise. */
int operands_read(const char *path, const struct netfc_format *format, struct operands *operands);

/** Free them. */
void operands_free(struct operands *operands);

#endif /* OPERANDS_H */
