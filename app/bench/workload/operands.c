/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "workload/operands.h"

#define FIRST_CAPACITY 4096

int
operands_add(struct operands *operands, struct pair pair)
{
	if (operands->count == operands->capacity) {
		size_t capacity = operands->capacity != 0 ? 2 * operands->capacity : FIRST_CAPACITY;
		struct pair *grown = realloc(operands->pairs, capacity * sizeof(*grown));

		if (grown == NULL)
			return -1;
		operands->pairs = grown;
		operands->capacity = capacity;
	}
	operands->pairs[operands->count++] = pair;
	return 0;
}

void
operands_free(struct operands *operands)
{
	free(operands->pairs);
	*operands = (struct operands){0};
}
