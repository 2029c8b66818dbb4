/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_H
#define OPERANDS_H

/** @file Pairs of operands. */

#include <stddef.h>
#include <stdint.h>

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

/** Append a pair. 0, or -1 if memory is short. */
int operands_add(struct operands *operands, struct pair pair);

/** Free them. */
void operands_free(struct operands *operands);

#endif /* OPERANDS_H */
