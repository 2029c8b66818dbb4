/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "exact.h"
#include "simulate.h"

static void
swap(struct event *a, struct event *b)
{
	const struct event c = *a;

	*a = *b;
	*b = c;
}

void
events_add(struct events *events, const struct event *event)
{
	size_t at = events->count++;

	if (events->count > events->size) {
		events->size = events->size == 0 ? 1 << 16 : 2 * events->size;
		events->heap = realloc(events->heap, events->size * sizeof(*events->heap));
		if (events->heap == NULL) {
			fprintf(stderr, "out of memory\n");
			abort();
		}
	}
	events->heap[at] = *event;
	for (; at > 0 && events->heap[(at - 1) / 2].time > events->heap[at].time; at = (at - 1) / 2)
		swap(&events->heap[at], &events->heap[(at - 1) / 2]);
}

bool
events_take(struct events *events, struct event *event)
{
	size_t at = 0;

	if (events->count == 0)
		return false;
	*event = events->heap[0];
	events->heap[0] = events->heap[--events->count];
	for (;;) {
		size_t next = 2 * at + 1;

		if (next + 1 < events->count &&
			events->heap[next + 1].time < events->heap[next].time)
			next++;
		if (next >= events->count || events->heap[at].time <= events->heap[next].time)
			return true;
		swap(&events->heap[at], &events->heap[next]);
		at = next;
	}
}

void
events_free(struct events *events)
{
	struct event event;

	while (events_take(events, &event))
		free(event.bytes);
	free(events->heap);
}

static double
fraction(uint64_t *seed)
{
	return (double)(next_random(seed) >> 11) / (double)(UINT64_C(1) << 53);
}

double
link_send(struct link *link, double now, size_t bytes, uint64_t *seed)
{
	link->free = (now > link->free ? now : link->free) + (double)bytes / link->rate;
	link->bytes += bytes;
	link->packets++;
	if (link->loss > 0 && fraction(seed) < link->loss)
		return -1;
	return link->free + link->delay +
		(link->disorder > 0 ? link->disorder * fraction(seed) : 0);
}
