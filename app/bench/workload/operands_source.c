/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "encoding.h"
#include "workload/operands_file.h"
#include "workload/operands_source.h"

/* Sizes of --operands values: 10 to the power of -3 to 3. */
#define MIN_POWER (-3.)
#define POWERS 6.

/*
 * SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): the same
 * operands for a seed on every machine.
 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number of either sign and any size, each power of ten as likely as the others. */
static uint32_t
draw_value(uint64_t *state, const struct netfc_format *format)
{
	uint64_t random = next_random(state);
	double size = pow(10, MIN_POWER + POWERS * ldexp((double)(random >> 11), -53));

	return netfc_encode(format, (random & 1) != 0 ? -size : size);
}

static void
draw(struct operands *operands, const struct netfc_format *format, bool values, uint64_t seed)
{
	uint64_t state = seed;

	for (size_t p = 0; p < operands->count; p++) {
		struct pair *pair = &operands->pairs[p];

		if (values) {
			pair->x = draw_value(&state, format);
			pair->y = draw_value(&state, format);
		} else {
			const unsigned int width = netfc_format_width(format);
			const uint32_t mask = UINT32_MAX >> (32 - width);
			uint64_t random = next_random(&state);

			pair->x = (uint32_t)random & mask;
			pair->y = (uint32_t)(random >> width) & mask;
		}
	}
}

int
operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands)
{
	bool values = strcmp(options->operands, OPERANDS_VALUES) == 0;

	if (!values && strcmp(options->operands, OPERANDS_RANDOM) != 0)
		return operands_read(options->operands, format, operands);
	operands->pairs = calloc(wanted, sizeof(*operands->pairs));
	if (operands->pairs == NULL) {
		fprintf(stderr, PROGRAM ": no memory for %zu pairs of operands\n", wanted);
		return -1;
	}
	operands->count = wanted;
	draw(operands, format, values, options->seed);
	return 0;
}
