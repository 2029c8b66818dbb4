/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/reducer.h"

#include <stdlib.h>

#include <aggregate_lanes.h>

#define BLOCK_BYTES 4096 /* of values of a rank at a time: the sums stay in a cache */
/* Those of a block of floats are shorter, and those of a piece. */
#define TOTALS_BYTES \
	aggregate_totals_bytes(AGGREGATE_FP64, BLOCK_BYTES / aggregate_value_bytes(AGGREGATE_FP64))
#define MOST_GROWTH 4 /* of values of a byte to results */

struct reducer {
	enum aggregate_isa isa;
	struct aggregate_lanes *lanes;
	void *totals; /* of more ranks than lanes have room for, or of exact sums */
	uint8_t result[BLOCK_BYTES * MOST_GROWTH];
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
	void *memory = aligned_alloc(AGGREGATE_ALIGN,
		round_up(aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, BLOCK_BYTES)));

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
static uint8_t
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
	return aggregate_totals_round(&totals, AGGREGATE_SUM, 1, reducer->result);
}

static uint8_t
reduce(struct reducer *reducer, const struct block *block, unsigned int ranks)
{
	const uint8_t *last = ranks > 1 ? values_of(block, ranks - 1) : NULL;

	if (ranks > AGGREGATE_MAX_WORKERS && block->op == AGGREGATE_SUM)
		return add_many(reducer, block, ranks);
	add(reducer, block, 0, ranks - 1);
	return block->kernel->finish(reducer->lanes, last, block->count,
		ranks <= AGGREGATE_MAX_WORKERS ? ranks : 1, reducer->result);
}

uint8_t
reducer_reduce(struct reducer *reducer, unsigned int format, unsigned int op,
	const struct reducer_values *values, uint8_t *result)
{
	const unsigned int value_bytes = aggregate_value_bytes(format);
	const unsigned int result_bytes = aggregate_result_value_bytes(format);
	const size_t most = BLOCK_BYTES / value_bytes;
	struct block block = {.format = format,
		.op = op,
		.kernel = aggregate_kernel(reducer->isa, op, format),
		.stride = values->stride};
	uint8_t flags = 0;

	for (size_t done = 0; done < values->count; done += block.count) {
		const size_t left = values->count - done;

		block.first = values->first + done * value_bytes;
		block.count = (uint32_t)(left < most ? left : most);
		flags |= reduce(reducer, &block, values->ranks);
		aggregate_swap_values(
			result + done * result_bytes, reducer->result, block.count, result_bytes);
	}
	return flags;
}

/* Nothing is left to carry, so that the sums of all ranks have room. */
static void
add_totals(struct aggregate_totals *sums, const struct aggregate_totals *its)
{
	for (uint32_t b = its->lowest; b < its->end; b++) {
		for (uint32_t i = 0; i < sums->count; i++)
			sums->bins[b * sums->stride + i] += its->bins[b * its->stride + i];
	}
	for (uint32_t i = 0; i < sums->count; i++)
		sums->marks[i] |= its->marks[i];
	sums->lowest = its->lowest < sums->lowest ? its->lowest : sums->lowest;
	sums->end = its->end > sums->end ? its->end : sums->end;
}

uint8_t
reducer_reduce_totals(struct reducer *reducer, unsigned int op, uint32_t divisor,
	const struct aggregate_totals *totals, unsigned int ranks, uint8_t *result)
{
	struct aggregate_totals sums =
		aggregate_totals_init(totals->format, totals->count, reducer->totals);
	uint8_t flags;

	for (unsigned int rank = 0; rank < ranks; rank++)
		add_totals(&sums, &totals[rank]);
	flags = aggregate_totals_round(&sums, op, divisor != 0 ? divisor : ranks, reducer->result);
	aggregate_swap_values(
		result, reducer->result, sums.count, aggregate_result_value_bytes(sums.format));
	return flags;
}
