/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate_slot.h"
#include "sums/digits.h"
#include "jobs/slot_digits.h"

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

/* Of a member's parts, the last is answered. */
static bool
is_answered(const struct aggregate_message *chunk)
{
	return !aggregate_has_digits(chunk) || chunk->part.number + 1 == chunk->part.parts;
}

static enum aggregate_action
unless_stalled(const struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now, enum aggregate_action action)
{
	return is_answered(chunk) && now - entry->begun >= rules->stall ? AGGREGATE_STALLED
									: action;
}

static void
begin(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now)
{
	entry->seen = entry->zeros = 0;
	entry->begun = now;
	entry->chunk = chunk->id;
	entry->label = chunk->label;
	entry->divisor = chunk->part.divisor;
	entry->count = chunk->count;
	entry->op = chunk->op;
	entry->format = chunk->format;
	entry->owner = chunk->owner;
	entry->flags = 0;
	entry->zero = false;
	entry->marked = chunk->marked;
	entry->state = AGGREGATE_OPEN;
	entry->isa = rules->isa;
	entry->kernel = aggregate_kernel(rules->isa, chunk->op, chunk->format);
	if (entry->digits != NULL)
		digits_begin(entry->digits);
}

static bool
is_last(const struct aggregate_entry *entry, const struct aggregate_rules *rules)
{
	return aggregate_entry_missing(entry, rules->workers) == rules->workers;
}

static size_t
bytes_of(const struct aggregate_entry *entry)
{
	return (size_t)entry->count * aggregate_result_value_bytes(entry->format);
}

/* Whose values are in the accumulators, a bit each, or come now. */
static uint64_t
have_values(const struct aggregate_entry *entry)
{
	return entry->seen & ~digits_whole(entry) & ~entry->zeros;
}

/* Whether there are values in the accumulators, but for what a worker sends now. */
static bool
has_values(const struct aggregate_entry *entry, const struct aggregate_message *chunk)
{
	return (have_values(entry) & ~(UINT64_C(1) << chunk->worker)) != 0;
}

static void
add_values(struct aggregate_entry *entry, const struct aggregate_message *chunk)
{
	if (chunk->zeros && entry->op == AGGREGATE_COPY)
		memset(entry->result, 0, bytes_of(entry));
	if (chunk->values == NULL)
		return;
	if (entry->op == AGGREGATE_COPY)
		memcpy(entry->result, chunk->values, bytes_of(entry));
	else if (has_values(entry, chunk))
		entry->kernel->add(entry->lanes, chunk->values, entry->count);
	else
		entry->kernel->begin(entry->lanes, chunk->values, entry->count);
}

static bool
is_sum(const struct aggregate_entry *entry)
{
	return entry->op == AGGREGATE_SUM || entry->op == AGGREGATE_MEAN;
}

/* Whether all that was sent is zeros. */
static bool
is_all_zeros(const struct aggregate_entry *entry)
{
	return entry->op != AGGREGATE_COPY && entry->zeros == entry->seen;
}

/*
 * Zeros are added once for all who sent them, when no more come: a zero changes a sum's sign at the
 * most, and the least or the greatest, but a second one nothing.
 */
static void
add_zeros(struct aggregate_entry *entry)
{
	uint8_t *zeros = entry->result; /* not in use yet */

	if (entry->zeros == 0)
		return;
	memset(zeros, 0, (size_t)entry->count * aggregate_value_bytes(entry->format));
	if (have_values(entry) != 0)
		entry->kernel->add(entry->lanes, zeros, entry->count);
	else
		entry->kernel->begin(entry->lanes, zeros, entry->count);
}

/* Values are added to what came as digits. */
static void
lanes_to_totals(struct aggregate_entry *entry)
{
	add_zeros(entry);
	if ((entry->seen & ~digits_whole(entry)) != 0)
		entry->kernel->lanes_to_totals(entry->lanes, digits_totals(entry));
}

/* All are in. Sums of values alone are left where they are, until somebody wants them. */
static void
pass_on(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now)
{
	entry->zero = rules->zeros && is_all_zeros(entry);
	add_values(entry, chunk);
	if (digits_whole(entry) != 0)
		lanes_to_totals(entry);
	else if (entry->op != AGGREGATE_COPY && !entry->zero)
		add_zeros(entry);
	if (!is_sum(entry) && entry->op != AGGREGATE_COPY && !entry->zero)
		entry->kernel->finish(entry->lanes, NULL, entry->count, 1, entry->result);
	entry->above = (struct aggregate_above){.sent = now, .unheard = now};
	entry->state = AGGREGATE_ABOVE;
}

static unsigned int
divisor_of(const struct aggregate_entry *entry, const struct aggregate_rules *rules)
{
	if (entry->divisor != 0)
		return entry->divisor;
	return rules->all_workers != 0 ? rules->all_workers : rules->workers;
}

/* The last member's values, if it has any, are added with the rounding. */
static void
round_values(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk)
{
	const uint8_t *last = chunk->values;

	if (last != NULL && !has_values(entry, chunk)) {
		entry->kernel->begin(entry->lanes, last, entry->count);
		last = NULL;
	}
	add_zeros(entry);
	entry->flags = entry->kernel->finish(
		entry->lanes, last, entry->count, rules->workers, entry->result);
}

static void
compute(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk)
{
	if (entry->op == AGGREGATE_COPY) {
		add_values(entry, chunk);
	} else if (is_all_zeros(entry)) {
		memset(entry->result, 0, bytes_of(entry));
	} else if (digits_whole(entry) != 0 ||
		(entry->op == AGGREGATE_MEAN && divisor_of(entry, rules) != rules->workers)) {
		add_values(entry, chunk);
		lanes_to_totals(entry);
		entry->flags = aggregate_totals_round(
			digits_totals(entry), entry->op, divisor_of(entry, rules), entry->result);
	} else {
		round_values(entry, rules, chunk);
	}
}

static void
complete(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk)
{
	compute(entry, rules, chunk);
	entry->zero = rules->zeros && entry->flags == 0 &&
		aggregate_is_zero(entry->result, bytes_of(entry));
	entry->state = AGGREGATE_COMPLETE;
}

/* The packet of a worker that the entry has none of yet, or not all parts. */
static enum aggregate_action
add(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now)
{
	enum aggregate_action action =
		aggregate_has_digits(chunk) ? digits_take(entry, chunk) : AGGREGATE_COMPLETED;

	if (action == AGGREGATE_BAD_PARTS)
		return action;
	entry->ports[chunk->worker] = rules->port;
	if (action != AGGREGATE_COMPLETED)
		return unless_stalled(entry, rules, chunk, now, action);
	entry->seen |= UINT64_C(1) << chunk->worker;
	if (chunk->zeros)
		entry->zeros |= UINT64_C(1) << chunk->worker;
	if (!is_last(entry, rules)) {
		entry->latest = now;
		add_values(entry, chunk);
		return unless_stalled(entry, rules, chunk, now, AGGREGATE_ADDED);
	}
	if (rules->passes_on) {
		pass_on(entry, rules, chunk, now);
		return AGGREGATE_PASSED;
	}
	complete(entry, rules, chunk);
	return AGGREGATE_COMPLETED;
}

static bool
has_seen(const struct aggregate_entry *entry, unsigned int worker)
{
	return (entry->seen >> worker & 1) != 0;
}

static bool
agrees(const struct aggregate_entry *entry, const struct aggregate_message *chunk)
{
	return entry->op == chunk->op && entry->format == chunk->format &&
		entry->count == chunk->count && entry->owner == chunk->owner &&
		entry->label == chunk->label && entry->divisor == chunk->part.divisor;
}

/* What the parent has said, or that it says nothing. */
static enum aggregate_action
told_of_parent(const struct aggregate_entry *entry)
{
	if (entry->above.reason == AGGREGATE_REASON_NONE)
		return AGGREGATE_PARENT_SILENT;
	return entry->above.reason >= AGGREGATE_MISSING ? AGGREGATE_STALLED
							: AGGREGATE_REFUSED_ABOVE;
}

static bool
parent_is_silent(
	const struct aggregate_above *above, const struct aggregate_rules *rules, uint64_t now)
{
	const uint64_t from = above->unheard > rules->since ? above->unheard : rules->since;

	return now - from >= rules->patience;
}

/* For each worker in turn: one retransmission is answered, the next has the sums sent again. */
static enum aggregate_action
step_above(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now)
{
	struct aggregate_above *above = &entry->above;
	const uint64_t bit = UINT64_C(1) << chunk->worker;

	if (!is_answered(chunk))
		return AGGREGATE_DUPLICATE;
	if (now - above->heard >= rules->stall)
		above->reason = AGGREGATE_REASON_NONE;
	if ((above->told & bit) == 0 &&
		(above->reason != AGGREGATE_REASON_NONE || parent_is_silent(above, rules, now))) {
		above->told |= bit;
		return told_of_parent(entry);
	}
	above->told &= ~bit;
	if (now - above->sent < rules->repeat)
		return AGGREGATE_DUPLICATE;
	above->sent = now;
	return AGGREGATE_PASSED_AGAIN;
}

/* Whether a worker sends values and digits of one chunk. */
static bool
is_mixed(const struct aggregate_entry *entry, const struct aggregate_message *chunk)
{
	return aggregate_has_digits(chunk)
		? has_seen(entry, chunk->worker) && !digits_have(entry, chunk->worker)
		: digits_have(entry, chunk->worker);
}

/* To where it asks from: a leaf in P4 tells its workers apart by that. */
static enum aggregate_action
repeat(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk)
{
	entry->ports[chunk->worker] = rules->port;
	return is_answered(chunk) ? AGGREGATE_REPEATED : AGGREGATE_DUPLICATE;
}

static enum aggregate_action
step_same(struct aggregate_entry *entry, const struct aggregate_rules *rules,
	const struct aggregate_message *chunk, uint64_t now)
{
	if (!agrees(entry, chunk))
		return entry->state == AGGREGATE_OPEN && has_seen(entry, chunk->worker)
			? unless_stalled(entry, rules, chunk, now, AGGREGATE_DUPLICATE)
			: AGGREGATE_MISMATCH;
	if (is_mixed(entry, chunk))
		return AGGREGATE_BAD_PARTS;
	if (entry->state == AGGREGATE_COMPLETE)
		return repeat(entry, rules, chunk);
	if (entry->state == AGGREGATE_ABOVE)
		return step_above(entry, rules, chunk, now);
	if (has_seen(entry, chunk->worker))
		return unless_stalled(entry, rules, chunk, now, AGGREGATE_DUPLICATE);
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
	const struct aggregate_message *chunk, uint64_t now)
{
	if (aggregate_has_digits(chunk) && !digits_are_taken(entry, chunk->format))
		return AGGREGATE_NO_DIGITS;
	if (entry->state != AGGREGATE_EMPTY && entry->chunk == chunk->id) {
		entry->marked |= chunk->marked;
		return step_same(entry, rules, chunk, now);
	}
	if (can_begin(entry, rules, chunk->id)) {
		if (aggregate_has_digits(chunk) && !digits_can_begin(&chunk->part, chunk->count))
			return AGGREGATE_BAD_PARTS;
		begin(entry, rules, chunk, now);
		return add(entry, rules, chunk, now);
	}
	/* By serial numbers: the older is less than half the numbers before. */
	if (entry->state != AGGREGATE_EMPTY && (int32_t)(chunk->id - entry->chunk) < 0)
		return AGGREGATE_STALE;
	return AGGREGATE_WINDOW;
}

enum aggregate_kind
aggregate_result_kind(const struct aggregate_entry *entry, unsigned int worker)
{
	if (entry->state != AGGREGATE_COMPLETE || entry->count == 0 ||
		!aggregate_receives_values(entry->op, entry->owner, worker))
		return AGGREGATE_ACKNOWLEDGED;
	return entry->zero ? AGGREGATE_ZEROS : AGGREGATE_ROUNDED;
}

uint32_t
aggregate_result_bytes(const struct aggregate_entry *entry, unsigned int worker)
{
	return aggregate_result_kind(entry, worker) == AGGREGATE_ROUNDED ? (uint32_t)bytes_of(entry)
									 : 0;
}

struct aggregate_totals
aggregate_entry_totals(const struct aggregate_entry *entry, struct aggregate_totals *scratch)
{
	if (digits_whole(entry) != 0)
		return entry->digits->totals;
	totals_clear(scratch);
	*scratch = totals_in((enum aggregate_format)entry->format, entry->count, scratch->bins);
	aggregate_totals_choose(scratch, entry->isa);
	entry->kernel->lanes_to_totals(entry->lanes, scratch);
	return *scratch;
}

void
aggregate_entry_complete(
	struct aggregate_entry *entry, uint8_t kind, const uint8_t *values, uint8_t flags)
{
	if (kind == AGGREGATE_ROUNDED)
		memcpy(entry->result, values, bytes_of(entry));
	entry->zero = kind == AGGREGATE_ZEROS;
	entry->flags = flags;
	entry->state = AGGREGATE_COMPLETE;
}

static const struct {
	const char *name, *meaning;
	enum aggregate_send send;
	uint8_t reason;
} actions[AGGREGATE_ACTION_COUNT] = {
#define ACTION_(symbol, name, send, reason, meaning) \
	[AGGREGATE_##symbol] = {#name, meaning, AGGREGATE_SEND_##send, AGGREGATE_REASON_##reason},
	AGGREGATE_ACTIONS(ACTION_)
#undef ACTION_
};

const char *
aggregate_action_name(enum aggregate_action action)
{
	return actions[action].name;
}

const char *
aggregate_action_meaning(enum aggregate_action action)
{
	return actions[action].meaning;
}

enum aggregate_send
aggregate_action_send(enum aggregate_action action)
{
	return actions[action].send;
}

uint8_t
aggregate_action_reason(enum aggregate_action action)
{
	return actions[action].reason;
}
