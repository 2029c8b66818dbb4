/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <stdlib.h>
#include <string.h>

static void
swap(struct held_packet *a, struct held_packet *b)
{
	struct held_packet other = *a;

	*a = *b;
	*b = other;
}

static void
make_room(struct held *held)
{
	if (held->count < held->room)
		return;
	held->room = held->room == 0 ? 64 : 2 * held->room;
	held->packets = realloc(held->packets, held->room * sizeof(*held->packets));
	if (held->packets == NULL)
		abort();
}

void
held_put(struct held *held, const struct held_packet *packet)
{
	size_t at = held->count;

	make_room(held);
	held->packets[at] = *packet;
	held->packets[at].payload = malloc(packet->length + 1);
	if (held->packets[at].payload == NULL)
		abort();
	memcpy(held->packets[at].payload, packet->payload, packet->length);
	held->count++;
	for (; at > 0 && held->packets[at].until < held->packets[(at - 1) / 2].until;
		at = (at - 1) / 2)
		swap(&held->packets[at], &held->packets[(at - 1) / 2]);
}

uint64_t
held_next(const struct held *held)
{
	return held->count == 0 ? UINT64_MAX : held->packets[0].until;
}

/* Which of a place and the two below it is the earliest. */
static size_t
earliest(const struct held *held, size_t at)
{
	size_t least = at;

	for (size_t below = 2 * at + 1; below <= 2 * at + 2 && below < held->count; below++) {
		if (held->packets[below].until < held->packets[least].until)
			least = below;
	}
	return least;
}

struct held_packet
held_take(struct held *held)
{
	struct held_packet first = held->packets[0];
	size_t at = 0, next;

	held->packets[0] = held->packets[--held->count];
	while ((next = earliest(held, at)) != at) {
		swap(&held->packets[at], &held->packets[next]);
		at = next;
	}
	return first;
}

void
held_free(struct held *held)
{
	while (held->count > 0)
		free(held->packets[--held->count].payload);
	free(held->packets);
	*held = (struct held){0};
}
