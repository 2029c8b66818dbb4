/* SPDX-License-Identifier: BSD-3-Clause */
#include "reducer.h"

#include <stdlib.h>

#include <aggregate_lanes.h>

#define FORMATS (1U << AGGREGATE_FP32 | 1U << AGGREGATE_FP64)
#define BLOCK_BYTES 4096 /* of values of a rank at a time: the sums stay in a cache */
/* Those of floats are shorter, however many. */
#define TOTALS_BYTES \
	aggregate_totals_bytes(AGGREGATE_FP64, BLOCK_BYTES / aggregate_value_bytes(AGGREGATE_FP64))

struct reducer {
	enum aggregate_isa isa;
	struct aggregate_lanes *lanes;
	void *totals; /* of more ranks than lanes have room for */
	uint8_t result[BLOCK_BYTES];
};

/* A block of some ranks. */
struct block {
	unsigned int format, op;
	const struct aggregate_kernel *kernel;
	const uint8_t *first;
	size_t stride;
	uint32_t count;
};

static size_t
round_up(size_t bytes)
{
	return (bytes + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN;
}

struct reducer *
reducer_new(void)
{
	struct reducer *reducer = calloc(1, sizeof(*reducer));
	void *memory = aligned_alloc(
		AGGREGATE_ALIGN, round_up(aggregate_lanes_bytes(FORMATS, BLOCK_BYTES)));

	if (reducer != NULL && memory != NULL)
		reducer->totals = malloc(TOTALS_BYTES);
	if (reducer == NULL || memory == NULL || reducer->totals == NULL) {
		free(memory);
		free(reducer);
		return NULL;
	}
	reducer->isa = aggregate_isa_best();
	reducer->lanes = aggregate_lanes_init(memory, BLOCK_BYTES);
	return reducer;
}

void
reducer_free(struct reducer *reducer)
{
	if (reducer == NULL)
		return;
	free(reducer->lanes);
	free(reducer->totals);
	free(reducer);
}

static const uint8_t *
values_of(const struct block *block, unsigned int rank)
{
	return block->first + rank * block->stride;
}

/* Of ranks from one on, but not those from `end` on. */
static void
add(struct reducer *reducer, const struct block *block, unsigned int rank, unsigned int end)
{
	block->kernel->begin(reducer->lanes, values_of(block, rank), block->count);
	while (++rank < end)
		block->kernel->add(reducer->lanes, values_of(block, rank), block->count);
}

/* Lanes have room for the values of so many workers as a switch has. */
static void
add_many(struct reducer *reducer, const struct block *block, unsigned int ranks)
{
	struct aggregate_totals totals =
		aggregate_totals_init(block->format, block->count, reducer->totals);

	aggregate_totals_choose(&totals, reducer->isa);
	for (unsigned int rank = 0; rank < ranks; rank += AGGREGATE_MAX_WORKERS) {
		const unsigned int left = ranks - rank;

		add(reducer, block, rank,
			rank + (left < AGGREGATE_MAX_WORKERS ? left : AGGREGATE_MAX_WORKERS));
		block->kernel->lanes_to_totals(reducer->lanes, &totals);
	}
	aggregate_totals_round(&totals, AGGREGATE_SUM, 1, reducer->result);
}

static void
reduce(struct reducer *reducer, const struct block *block, unsigned int ranks)
{
	if (ranks > AGGREGATE_MAX_WORKERS && block->op == AGGREGATE_SUM) {
		add_many(reducer, block, ranks);
		return;
	}
	add(reducer, block, 0, ranks - 1);
	block->kernel->finish(
		reducer->lanes, values_of(block, ranks - 1), block->count, 1, reducer->result);
}

void
reducer_reduce(struct reducer *reducer, unsigned int format, unsigned int op,
	const struct reducer_values *values, uint8_t *result)
{
	const unsigned int value_bytes = aggregate_value_bytes(format);
	const size_t most = BLOCK_BYTES / value_bytes;
	struct block block = {.format = format,
		.op = op,
		.kernel = aggregate_kernel(reducer->isa, op, format),
		.stride = values->stride};

	for (size_t done = 0; done < values->count; done += block.count) {
		const size_t left = values->count - done;

		block.first = values->first + done * value_bytes;
		block.count = (uint32_t)(left < most ? left : most);
		reduce(reducer, &block, values->ranks);
		aggregate_swap_values(
			result + done * value_bytes, reducer->result, block.count, value_bytes);
	}
}
