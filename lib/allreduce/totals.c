/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include <aggregate_exact.h>

#include "error.h"
#include "net/packets.h"

/* Lanes that are added at a time. */
#define BLOCK 256
#define MAX_VALUE_BYTES 8

static size_t
bytes_of(unsigned int format, uint64_t count)
{
	return count * aggregate_totals_bytes(format, 1);
}

struct netfc_allreduce_totals *
netfc_allreduce_totals_new(unsigned int format, uint64_t count)
{
	struct netfc_allreduce_totals *totals;
	int64_t *bins;

	if (!aggregate_is_format(format) || count == 0 || count > NETFC_ALLREDUCE_MAX_COUNT)
		return NULL;
	totals = malloc(sizeof(*totals));
	if (totals == NULL)
		return NULL;
	totals->count = count;
	bins = calloc(1, bytes_of(format, count));
	if (bins == NULL) {
		free(totals);
		return NULL;
	}
	totals->lanes = aggregate_totals_init(format, 0, bins);
	totals->lanes.stride = count;
	totals->lanes.marks = (uint8_t *)(bins + count * aggregate_total_digits(format));
	return totals;
}

/* Most digits were never used, and are 0 still. */
void
netfc_allreduce_totals_clear(struct netfc_allreduce_totals *totals)
{
	struct aggregate_totals *lanes = &totals->lanes;

	if (lanes->end > lanes->lowest)
		memset(lanes->bins + lanes->lowest * lanes->stride, 0,
			(lanes->end - lanes->lowest) * lanes->stride * sizeof(*lanes->bins));
	memset(lanes->marks, 0, totals->count);
	lanes->lowest = UINT8_MAX;
	lanes->end = 0;
}

void
netfc_allreduce_totals_free(struct netfc_allreduce_totals *totals)
{
	if (totals == NULL)
		return;
	free(totals->lanes.bins);
	free(totals);
}

struct aggregate_totals
totals_view(const struct netfc_allreduce_totals *totals, uint64_t first, uint32_t count)
{
	struct aggregate_totals view = totals->lanes;

	view.count = count;
	view.bins += first;
	view.marks += first;
	return view;
}

void
netfc_allreduce_totals_add(struct netfc_allreduce_totals *totals, const void *values)
{
	const unsigned int value_bytes = aggregate_value_bytes(totals->lanes.format);
	uint8_t swapped[BLOCK * MAX_VALUE_BYTES];

	for (uint64_t first = 0; first < totals->count; first += BLOCK) {
		const uint64_t left = totals->count - first;
		const uint32_t count = left < BLOCK ? (uint32_t)left : BLOCK;
		struct aggregate_totals view = totals_view(totals, first, count);

		swap_values(
			swapped, (const uint8_t *)values + first * value_bytes, count, value_bytes);
		aggregate_totals_add_values(&view, swapped);
		totals->lanes.lowest = view.lowest;
		totals->lanes.end = view.end;
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

static int
check(struct netfc_allreduce *comm, const void *values, uint64_t count, unsigned int format)
{
	if (!aggregate_exact_has(format))
		return refuse(comm, "There are sums of fp32, fp64, int32 and int64 only.");
	if (values == NULL && count != 0)
		return refuse(comm, "The array of values is NULL.");
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
	if (status == NETFC_ALLREDUCE_OK && format != NETFC_ALLREDUCE_FP32 &&
		format != NETFC_ALLREDUCE_FP64)
		status = refuse(comm, "There are dot products of fp32 and fp64 only.");
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	aggregate_exact_add_products(&sum, format, x, y, count);
	return add_up(comm, &sum, format, result, flags);
}
