/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "run/flight.h"

/* So that duplicates are recognised for a while even where few packets are outstanding. */
#define LEAST_SLOTS (1u << 16)
#define MOST_SLOTS (1u << 22)

int
flight_make(struct flight *flight, uint64_t most, uint32_t first_id, uint64_t timeout)
{
	uint64_t wanted = RTE_MIN(RTE_MAX(4 * most, (uint64_t)LEAST_SLOTS), (uint64_t)MOST_SLOTS);
	uint32_t count = rte_align32pow2((uint32_t)wanted);

	*flight = (struct flight){
		.slots = aligned_alloc(RTE_CACHE_LINE_SIZE, count * sizeof(*flight->slots)),
		.mask = count - 1,
		.next_id = first_id,
		.timeout = timeout,
		.oldest = NO_SLOT,
		.newest = NO_SLOT,
	};
	if (flight->slots == NULL)
		return -1;
	/* Touched now, so that the run meets no page for the first time. */
	memset(flight->slots, 0, count * sizeof(*flight->slots));
	return 0;
}

void
flight_free(struct flight *flight)
{
	free(flight->slots);
	flight->slots = NULL;
}

struct slot *
flight_claim(struct flight *flight, uint32_t card)
{
	struct slot *slot;

	/* Ids whose slots still wait for replies to much older packets are left out. */
	do {
		slot = &flight->slots[flight->next_id & flight->mask];
		flight->next_id++;
		flight->claimed++;
	} while (slot->state == SLOT_OUTSTANDING || slot->state == SLOT_CLAIMED);
	slot->id = flight->next_id - 1;
	slot->card = card;
	slot->state = SLOT_CLAIMED;
	return slot;
}

void
flight_sent(struct flight *flight, struct slot *slot, uint64_t now)
{
	uint32_t index = slot->id & flight->mask;

	slot->sent_at = now;
	slot->state = SLOT_OUTSTANDING;
	slot->older = flight->newest;
	slot->newer = NO_SLOT;
	if (flight->newest != NO_SLOT)
		flight->slots[flight->newest].newer = index;
	else
		flight->oldest = index;
	flight->newest = index;
	flight->outstanding++;
}

enum flight_age
flight_find(struct flight *flight, uint32_t id, struct slot **slot)
{
	struct slot *found = &flight->slots[id & flight->mask];
	uint32_t age = flight->next_id - id;

	if (found->id == id && found->state > SLOT_CLAIMED) {
		*slot = found;
		return FLIGHT_KNOWN;
	}
	return age != 0 && age <= flight->claimed && found->id != id ? FLIGHT_FORGOTTEN
								     : FLIGHT_NEVER;
}

void
flight_end(struct flight *flight, struct slot *slot, enum slot_state state)
{
	if (slot->older != NO_SLOT)
		flight->slots[slot->older].newer = slot->newer;
	else
		flight->oldest = slot->newer;
	if (slot->newer != NO_SLOT)
		flight->slots[slot->newer].older = slot->older;
	else
		flight->newest = slot->older;
	slot->state = state;
	flight->outstanding--;
}

uint64_t
flight_expire(struct flight *flight, uint64_t now)
{
	uint64_t lost = 0;

	while (flight->oldest != NO_SLOT) {
		struct slot *slot = &flight->slots[flight->oldest];

		if (now - slot->sent_at <= flight->timeout)
			break;
		flight_end(flight, slot, SLOT_LOST);
		lost++;
	}
	return lost;
}
