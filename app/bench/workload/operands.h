/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_H
#define OPERANDS_H

/** @file Pairs of operands: drawn at random, or read from a file. */

#include <stddef.h>
#include <stdint.h>

#include <netfc.h>

#include "options/options.h"

/** Two operands of one lane. */
struct pair {
	uint32_t x, y;
};

/** Pairs; after the last one, the first one is used again. */
struct operands {
	struct pair *pairs;
	size_t count;
	size_t capacity; /**< pairs that there is memory for */
};

/**
 * Get pairs as --operands asks for them. A file is text, or big-endian words if its name ends in
 * .bin. Errors are reported on stderr.
 *
 * @param wanted how many to draw; a file is read whole
 * @param operands empty at first; operands_free() frees them in any case
 * @return 0 or -1
 */
int operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands);

/** Free them. */
void operands_free(struct operands *operands);

#endif /* OPERANDS_H */
