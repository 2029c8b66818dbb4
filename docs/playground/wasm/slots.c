/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch's slot machine for the page: a job's slots, each chunk of a single value. */
#include <stdlib.h>

#include "aggregate_slot.h"
#include "big_endian.h"
#include "page.h"

struct page_slots {
	struct aggregate_rules rules;
	enum aggregate_format format;
	size_t entry_bytes;
	uint8_t *entries; /* two of each slot */
};

static struct aggregate_entry *
find_entry(const struct page_slots *slots, uint32_t slot, uint32_t which)
{
	return (struct aggregate_entry *)(void *)(slots->entries +
		(2 * (size_t)slot + which) * slots->entry_bytes);
}

/* Slots for a job: `workers` up to AGGREGATE_MAX_WORKERS, `count` of slots a power of two. */
struct page_slots *
PAGE_EXPORT(page_slots_make)(enum aggregate_format format, uint32_t workers, uint32_t count)
{
	unsigned int bytes = aggregate_value_bytes(format);
	size_t entry_bytes = aggregate_entry_bytes(1u << format, bytes);
	struct page_slots *slots = malloc(sizeof(*slots));
	uint8_t *entries = aligned_alloc(AGGREGATE_ALIGN, 2 * count * entry_bytes);

	if (slots == NULL || entries == NULL)
		__builtin_trap();
	*slots = (struct page_slots){
		.rules = {.slots = count,
			.workers = (uint8_t)workers,
			.isa = AGGREGATE_PLAIN,
			.stall = UINT64_MAX},
		.format = format,
		.entry_bytes = entry_bytes,
		.entries = entries,
	};
	for (uint32_t entry = 0; entry < 2 * count; entry++)
		aggregate_entry_init(entries + entry * entry_bytes, bytes);
	return slots;
}

void
PAGE_EXPORT(page_slots_free)(struct page_slots *slots)
{
	free(slots->entries);
	free(slots);
}

/* A packet of a worker with its value. Gives what the switch does: enum aggregate_action. */
uint32_t
PAGE_EXPORT(page_slots_packet)(
	struct page_slots *slots, uint32_t chunk, uint32_t worker, uint32_t value)
{
	uint32_t count = slots->rules.slots;
	uint8_t values[4];
	struct aggregate_message packet = {
		.id = chunk,
		.count = 1,
		.op = AGGREGATE_SUM,
		.format = (uint8_t)slots->format,
		.worker = (uint8_t)worker,
		.values = values,
	};

	put_big_endian(values, value, aggregate_value_bytes(slots->format));
	return aggregate_entry_step(
		find_entry(slots, chunk % count, aggregate_entry_of(chunk, count)), &slots->rules,
		&packet, 0);
}

/* What an entry holds. */
void
PAGE_EXPORT(page_slots_entry)(
	const struct page_slots *slots, uint32_t slot, uint32_t which, struct page_entry *out)
{
	const struct aggregate_entry *entry = find_entry(slots, slot, which);

	*out = (struct page_entry){
		.state = entry->state,
		.chunk = entry->chunk,
		.seen = (uint32_t)entry->seen,
		.result = entry->state == AGGREGATE_COMPLETE
			? get_big_endian(entry->result, aggregate_value_bytes(slots->format))
			: 0,
	};
}
