/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate_slot.h"

static size_t
aligned(size_t bytes)
{
	return (bytes + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN;
}

size_t
aggregate_entry_bytes(unsigned int formats, uint32_t bytes)
{
	return sizeof(struct aggregate_entry) + aligned(bytes) +
		aggregate_lanes_bytes(formats, bytes);
}

struct aggregate_entry *
aggregate_entry_init(void *memory, uint32_t bytes)
{
	struct aggregate_entry *entry = memory;

	memset(entry, 0, sizeof(*entry));
	entry->result = (uint8_t *)memory + sizeof(*entry);
	entry->lanes = aggregate_lanes_init(entry->result + aligned(bytes), bytes);
	return entry;
}

unsigned int
aggregate_entry_missing(const struct aggregate_entry *entry, unsigned int workers)
{
	unsigned int least = entry->seen == UINT64_MAX
		? AGGREGATE_MAX_WORKERS
		: (unsigned int)__builtin_ctzll(~entry->seen);

	return least < workers ? least : workers;
}

static enum aggregate_action
unless_stalled(const struct aggregate_entry *entry, const struct aggregate_rules *rules,
	uint64_t now, enum aggregate_action action)
{
	return now - entry->begun >= rules->stall ? AGGREGATE_STALLED : action;
}

static void
begin(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_chunk *chunk, uint64_t now)
{
	entry->seen = 0;
	entry->begun = now;
	entry->chunk = chunk->chunk;
	entry->count = chunk->count;
	entry->op = chunk->op;
	entry->format = chunk->format;
	entry->owner = chunk->owner;
	entry->flags = 0;
	entry->state = AGGREGATE_OPEN;
	entry->kernel = aggregate_kernel(rules->isa, chunk->op, chunk->format);
}

static bool
is_last(const struct aggregate_entry *entry, const struct aggregate_rules *rules)
{
	return aggregate_entry_missing(entry, rules->workers) == rules->workers;
}

static void
reduce(struct aggregate_entry *entry, const struct aggregate_rules *rules, const uint8_t *values,
	bool first, bool last)
{
	if (first)
		entry->kernel->begin(entry->lanes, values, entry->count);
	if (last)
		entry->flags = entry->kernel->finish(entry->lanes, first ? NULL : values,
			entry->count, rules->workers, entry->result);
	else if (!first)
		entry->kernel->add(entry->lanes, values, entry->count);
}

static size_t
bytes_of(const struct aggregate_entry *entry)
{
	return (size_t)entry->count * aggregate_result_value_bytes(entry->format);
}

/* The packet of a worker that the entry has none of yet. */
static enum aggregate_action
add(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_chunk *chunk, uint64_t now)
{
	bool first = entry->seen == 0, last;

	entry->seen |= UINT64_C(1) << chunk->worker;
	entry->ports[chunk->worker] = chunk->port;
	last = is_last(entry, rules);
	if (entry->op != AGGREGATE_COPY)
		reduce(entry, rules, chunk->values, first, last);
	else if (chunk->values != NULL)
		memcpy(entry->result, chunk->values, bytes_of(entry));
	if (!last)
		return unless_stalled(entry, rules, now, AGGREGATE_ADDED);
	entry->state = AGGREGATE_COMPLETE;
	return AGGREGATE_COMPLETED;
}

static bool
has_seen(const struct aggregate_entry *entry, unsigned int worker)
{
	return (entry->seen >> worker & 1) != 0;
}

static bool
agrees(const struct aggregate_entry *entry, const struct aggregate_chunk *chunk)
{
	return entry->op == chunk->op && entry->format == chunk->format &&
		entry->count == chunk->count && entry->owner == chunk->owner;
}

static enum aggregate_action
step_same(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_chunk *chunk, uint64_t now)
{
	/* A result that is longer than what was sent would not fit where it goes. */
	if (entry->state == AGGREGATE_COMPLETE)
		return agrees(entry, chunk) ? AGGREGATE_REPEATED : AGGREGATE_MISMATCH;
	if (has_seen(entry, chunk->worker))
		return unless_stalled(entry, rules, now, AGGREGATE_DUPLICATE);
	if (!agrees(entry, chunk))
		return AGGREGATE_MISMATCH;
	return add(entry, rules, chunk, now);
}

static bool
can_begin(const struct aggregate_entry *entry, const struct aggregate_rules *rules, uint32_t chunk)
{
	if (entry->state == AGGREGATE_EMPTY)
		return chunk < 2 * rules->slots;
	return entry->state == AGGREGATE_COMPLETE && chunk - entry->chunk == 2 * rules->slots;
}

enum aggregate_action
aggregate_entry_step(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_chunk *chunk, uint64_t now)
{
	if (entry->state != AGGREGATE_EMPTY && entry->chunk == chunk->chunk)
		return step_same(entry, rules, chunk, now);
	if (can_begin(entry, rules, chunk->chunk)) {
		begin(entry, rules, chunk, now);
		return add(entry, rules, chunk, now);
	}
	/* By serial numbers: the older is less than half the numbers behind. */
	if (entry->state != AGGREGATE_EMPTY && (int32_t)(chunk->chunk - entry->chunk) < 0)
		return AGGREGATE_STALE;
	return AGGREGATE_WINDOW;
}

uint32_t
aggregate_result_bytes(const struct aggregate_entry *entry, unsigned int worker)
{
	return aggregate_receives_values(entry->op, entry->owner, worker)
		? (uint32_t)bytes_of(entry)
		: 0;
}
