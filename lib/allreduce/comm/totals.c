/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <aggregate_exact.h>

#define MAX_VALUE_BYTES 8

_Static_assert(NETFC_ALLREDUCE_MAX_DIVISOR == AGGREGATE_MAX_DIVISOR, "divisors of means");

/* Lanes of a row of bins: it begins with a page, and a block of lanes is in one page. */
#define STRIDE 512

static size_t
round_up(size_t number, size_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* Where marks and blocks start, in the one piece of memory that there is, and where it ends. */
struct layout {
	size_t stride, marks, blocks, end;
};

static struct layout
layout_of(unsigned int format, uint64_t count)
{
	const size_t stride = round_up(count, STRIDE);
	const size_t marks = stride * aggregate_total_digits(format) * sizeof(int64_t);
	const size_t blocks = marks + stride;

	return (struct layout){stride, marks, blocks,
		blocks + stride / TOTALS_BLOCK * sizeof(struct totals_block)};
}

/*
 * Memory of the whole range of numbers for each lane, of which the system gives pages when they are
 * first written to. Lanes of similar numbers use one or two rows of bins in all; a lane that needs
 * more costs a page. Huge pages would give each row to all lanes.
 */
static void *
reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

static void
clear_block(struct totals_block *block)
{
	*block = (struct totals_block){.lowest = UINT8_MAX};
}

struct netfc_allreduce_totals *
netfc_allreduce_totals_new(unsigned int format, uint64_t count)
{
	struct netfc_allreduce_totals *totals;
	struct layout layout;
	uint8_t *memory;

	if (!aggregate_has_format(AGGREGATE_SUM, format) || count == 0 ||
		count > NETFC_ALLREDUCE_MAX_COUNT)
		return NULL;
	layout = layout_of(format, count);
	totals = malloc(sizeof(*totals));
	memory = totals != NULL ? reserve(layout.end) : NULL;
	if (memory == NULL) {
		free(totals);
		return NULL;
	}
	*totals = (struct netfc_allreduce_totals){
		.lanes = aggregate_totals_init(format, 0, memory),
		.count = count,
		.bytes = layout.end,
		.block = (struct totals_block *)(void *)(memory + layout.blocks),
	};
	aggregate_totals_choose(&totals->lanes, aggregate_isa_best());
	totals->lanes.stride = layout.stride;
	totals->lanes.marks = memory + layout.marks;
	for (size_t b = 0; b < layout.stride / TOTALS_BLOCK; b++)
		clear_block(&totals->block[b]);
	return totals;
}

/* The lanes of a block from one on, `count` or as many as there are. */
static struct aggregate_totals
view_block(const struct netfc_allreduce_totals *totals, uint64_t first, uint64_t count)
{
	const uint32_t left = TOTALS_BLOCK - first % TOTALS_BLOCK;

	return totals_view(totals, first, count < left ? (uint32_t)count : left);
}

/* Most bins were never used, and have no memory. */
void
netfc_allreduce_totals_clear(struct netfc_allreduce_totals *totals)
{
	for (uint64_t first = 0; first < totals->count; first += TOTALS_BLOCK) {
		struct aggregate_totals view = view_block(totals, first, totals->count - first);

		for (uint32_t b = view.lowest; b < view.end; b++)
			memset(view.bins + b * view.stride, 0, view.count * sizeof(*view.bins));
		memset(view.marks, 0, view.count);
		clear_block(&totals->block[first / TOTALS_BLOCK]);
	}
}

int
netfc_allreduce_totals_divide(struct netfc_allreduce_totals *totals, uint32_t divisor)
{
	if (divisor > NETFC_ALLREDUCE_MAX_DIVISOR)
		return NETFC_ALLREDUCE_ARGUMENT;
	totals->divisor = divisor;
	return NETFC_ALLREDUCE_OK;
}

void
netfc_allreduce_totals_free(struct netfc_allreduce_totals *totals)
{
	if (totals == NULL)
		return;
	munmap(totals->lanes.bins, totals->bytes);
	free(totals);
}

struct aggregate_totals
totals_view(const struct netfc_allreduce_totals *totals, uint64_t first, uint32_t count)
{
	struct aggregate_totals view = totals->lanes;

	view.count = count;
	view.bins += first;
	view.marks += first;
	for (uint64_t b = first / TOTALS_BLOCK; b <= (first + count - 1) / TOTALS_BLOCK; b++) {
		const struct totals_block *block = &totals->block[b];

		view.lowest = block->lowest < view.lowest ? block->lowest : view.lowest;
		view.end = block->end > view.end ? block->end : view.end;
	}
	return view;
}

static void
carry_block(struct netfc_allreduce_totals *totals, uint64_t b)
{
	struct aggregate_totals view =
		view_block(totals, b * TOTALS_BLOCK, totals->count - b * TOTALS_BLOCK);

	aggregate_totals_carry(&view);
	totals->block[b] = (struct totals_block){.lowest = view.lowest, .end = view.end};
}

/* For another addition to the lanes of a block. */
static void
make_room(struct netfc_allreduce_totals *totals, uint64_t b)
{
	if (totals->block[b].adds == AGGREGATE_MAX_ADDS)
		carry_block(totals, b);
}

static void
add(struct aggregate_totals *view, const uint8_t *values)
{
	uint8_t swapped[TOTALS_BLOCK * MAX_VALUE_BYTES];

	if (aggregate_totals_add_similar(view, values))
		return;
	aggregate_swap_values(swapped, values, view->count, aggregate_value_bytes(view->format));
	aggregate_totals_add_values(view, swapped);
}

void
netfc_allreduce_totals_add_some(
	struct netfc_allreduce_totals *totals, uint64_t first, uint64_t count, const void *values)
{
	const unsigned int value_bytes = aggregate_value_bytes(totals->lanes.format);
	const uint8_t *from = values;

	for (uint64_t end = first + count; first < end;) {
		struct totals_block *block = &totals->block[first / TOTALS_BLOCK];
		struct aggregate_totals view;

		make_room(totals, first / TOTALS_BLOCK);
		view = view_block(totals, first, end - first);
		add(&view, from);
		block->lowest = view.lowest;
		block->end = view.end;
		block->adds++;
		from += (size_t)view.count * value_bytes;
		first += view.count;
	}
}

void
netfc_allreduce_totals_add(struct netfc_allreduce_totals *totals, const void *values)
{
	netfc_allreduce_totals_add_some(totals, 0, totals->count, values);
}

void
netfc_allreduce_totals_round(
	const struct netfc_allreduce_totals *totals, void *result, unsigned int *flags)
{
	const unsigned int value_bytes = aggregate_result_value_bytes(totals->lanes.format);
	const unsigned int op = totals->divisor != 0 ? AGGREGATE_MEAN : AGGREGATE_SUM;
	uint8_t swapped[TOTALS_BLOCK * MAX_VALUE_BYTES], *to = result;
	unsigned int raised = 0;

	for (uint64_t first = 0; first < totals->count; first += TOTALS_BLOCK) {
		struct aggregate_totals view = view_block(totals, first, totals->count - first);

		raised |= aggregate_totals_round(&view, op, totals->divisor, swapped);
		aggregate_swap_values(to, swapped, view.count, value_bytes);
		to += (size_t)view.count * value_bytes;
	}
	if (flags != NULL)
		*flags = raised;
}

/* Adds the lanes of a block, in which nothing is left to carry. */
static void
fold_block(const struct aggregate_totals *from, struct aggregate_totals *into)
{
	for (uint32_t b = from->lowest; b < from->end; b++) {
		const int64_t *row = from->bins + b * from->stride;
		int64_t sum = 0;

		for (uint32_t i = 0; i < from->count; i++)
			sum += row[i];
		into->bins[b * into->stride] += sum;
	}
	for (uint32_t i = 0; i < from->count; i++)
		*into->marks |= from->marks[i];
	into->lowest = from->lowest < into->lowest ? from->lowest : into->lowest;
	into->end = from->end > into->end ? from->end : into->end;
}

void
netfc_allreduce_totals_fold(
	struct netfc_allreduce_totals *into, uint64_t lane, struct netfc_allreduce_totals *from)
{
	struct totals_block *block = &into->block[lane / TOTALS_BLOCK];

	for (uint64_t first = 0; first < from->count; first += TOTALS_BLOCK) {
		struct aggregate_totals view, to;

		carry_block(from, first / TOTALS_BLOCK);
		make_room(into, lane / TOTALS_BLOCK);
		view = view_block(from, first, from->count - first);
		to = totals_view(into, lane, 1);
		fold_block(&view, &to);
		block->lowest = to.lowest;
		block->end = to.end;
		block->adds++;
	}
}

/*
 * Sums of all numbers of all workers: each worker adds up its own exactly, in integers. The switch
 * adds these like any other integers; then each worker rounds the same totals.
 */

#define WORDS (sizeof(struct aggregate_exact) / sizeof(int64_t))

static int
refuse(struct netfc_allreduce *comm, const char *what)
{
	int status;

	if (!lock_enter(comm))
		return NETFC_ALLREDUCE_BROKEN;
	status = error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "%s", what);
	lock_leave(comm);
	return status;
}

/* Values, or one for the result. */
static int
check(struct netfc_allreduce *comm, const void *values, uint64_t count, unsigned int format)
{
	if (!aggregate_exact_has(format))
		return refuse(comm, "There are sums of fp32, fp64, int32 and int64 only.");
	if (values == NULL && count != 0)
		return refuse(comm, "The array of values, or the result, is NULL.");
	if ((uintptr_t)values % aggregate_value_bytes(format) != 0)
		return refuse(comm,
			"The array, or the result, is not aligned to its values: its element type "
			"is another, maybe.");
	if (count > NETFC_ALLREDUCE_MAX_COUNT)
		return refuse(comm, "The array has more values than a sum can have.");
	return NETFC_ALLREDUCE_OK;
}

static int
add_up(struct netfc_allreduce *comm, struct aggregate_exact *sum, unsigned int format, void *result,
	unsigned int *flags)
{
	unsigned int raised;
	int status = netfc_allreduce(comm, sum, WORDS, NETFC_ALLREDUCE_INT64, NETFC_ALLREDUCE_SUM);

	if (status != NETFC_ALLREDUCE_OK)
		return status;
	raised = aggregate_exact_round(sum, format, result);
	if (flags != NULL)
		*flags = raised;
	return status;
}

int
netfc_allreduce_sum(struct netfc_allreduce *comm, const void *values, uint64_t count,
	unsigned int format, void *result, unsigned int *flags)
{
	struct aggregate_exact sum = {0};
	int status = check(comm, values, count, format);

	if (status == NETFC_ALLREDUCE_OK)
		status = check(comm, result, 1, format);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	aggregate_exact_add(&sum, format, values, count);
	return add_up(comm, &sum, format, result, flags);
}

int
netfc_allreduce_dot(struct netfc_allreduce *comm, const void *x, const void *y, uint64_t count,
	unsigned int format, void *result, unsigned int *flags)
{
	struct aggregate_exact sum = {0};
	int status = check(comm, x, count, format);

	if (status == NETFC_ALLREDUCE_OK)
		status = check(comm, y, count, format);
	if (status == NETFC_ALLREDUCE_OK)
		status = check(comm, result, 1, format);
	if (status == NETFC_ALLREDUCE_OK && format != NETFC_ALLREDUCE_FP32 &&
		format != NETFC_ALLREDUCE_FP64)
		status = refuse(comm, "There are dot products of fp32 and fp64 only.");
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	aggregate_exact_add_products(&sum, format, x, y, count);
	return add_up(comm, &sum, format, result, flags);
}
