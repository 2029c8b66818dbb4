/* SPDX-License-Identifier: BSD-3-Clause */
#include "totals.h"

#include <stdlib.h>
#include <string.h>

#include "net/swap.h"

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
