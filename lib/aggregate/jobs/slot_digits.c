/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "sums/digits.h"
#include "jobs/slot_digits.h"

static size_t
aligned(size_t bytes)
{
	return (bytes + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN;
}

static uint32_t
most_lanes(unsigned int digits, uint32_t bytes)
{
	uint32_t most = 0;

	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++) {
		if ((digits >> format & 1) == 0 || !aggregate_is_format(format))
			continue;
		if (bytes / aggregate_value_bytes(format) > most)
			most = bytes / aggregate_value_bytes(format);
	}
	return most;
}

size_t
aggregate_totals_most_bytes(unsigned int formats, uint32_t bytes)
{
	size_t most = 0;

	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++) {
		size_t needed;

		if ((formats >> format & 1) == 0 || !aggregate_is_format(format))
			continue;
		needed = aggregate_totals_bytes(
			(enum aggregate_format)format, bytes / aggregate_value_bytes(format));
		most = needed > most ? needed : most;
	}
	return aligned(most);
}

/* Whole words: a member's lanes are looked at 64 at a time. */
static size_t
lanes_bytes(unsigned int digits, uint32_t bytes)
{
	return (most_lanes(digits, bytes) + 63) / 64 * sizeof(uint64_t);
}

size_t
aggregate_entry_digit_bytes(unsigned int digits, uint32_t bytes, unsigned int workers)
{
	if (digits == 0)
		return 0;
	return aligned(sizeof(struct aggregate_digit_sums)) +
		aligned(workers * sizeof(struct member_parts)) +
		aligned(workers * lanes_bytes(digits, bytes)) +
		aggregate_totals_most_bytes(digits, bytes);
}

void
aggregate_entry_take_digits(struct aggregate_entry *entry, void *memory, unsigned int digits,
	uint32_t bytes, unsigned int workers)
{
	struct aggregate_digit_sums *sums = memory;
	uint8_t *at = (uint8_t *)memory + aligned(sizeof(*sums));

	*sums = (struct aggregate_digit_sums){
		.formats = digits, .workers = workers, .lanes_bytes = lanes_bytes(digits, bytes)};
	sums->members = (struct member_parts *)(void *)at;
	at += aligned(workers * sizeof(struct member_parts));
	sums->lanes = (uint64_t *)(void *)at;
	sums->memory = at + aligned(workers * sums->lanes_bytes);
	sums->memory_bytes = aggregate_totals_most_bytes(digits, bytes);
	memset(sums->members, 0, workers * sizeof(*sums->members));
	entry->digits = sums;
}

void
digits_begin(struct aggregate_digit_sums *digits)
{
	digits->whole = 0;
	if (!digits->any)
		return;
	memset(digits->members, 0, digits->workers * sizeof(*digits->members));
	totals_clear(&digits->totals);
	digits->any = false;
}

struct aggregate_totals *
digits_totals(struct aggregate_entry *entry)
{
	struct aggregate_digit_sums *digits = entry->digits;

	if (digits->any)
		return &digits->totals;
	memset(digits->memory, 0, digits->memory_bytes);
	digits->memory_bytes = 0;
	digits->totals =
		totals_in((enum aggregate_format)entry->format, entry->count, digits->memory);
	aggregate_totals_choose(&digits->totals, entry->isa);
	digits->any = true;
	return &digits->totals;
}

/* Whether what is missing then can be made up of the parts that are. */
static bool
leaves_enough(const struct aggregate_part *part, uint32_t covered, uint64_t seen, uint32_t count)
{
	const uint32_t missing =
		part->parts - (uint32_t)__builtin_popcountll(seen | UINT64_C(1) << part->number);

	if (covered + part->lanes > count)
		return false;
	return missing == 0 ? covered + part->lanes == count
			    : count - covered - part->lanes >= missing;
}

bool
digits_can_begin(const struct aggregate_part *part, uint32_t count)
{
	return leaves_enough(part, 0, 0, count);
}

/* The bits of a word of lanes that are a part's. */
static uint64_t
lanes_of_word(const struct aggregate_part *part, uint32_t word)
{
	const uint32_t first = 64 * word, end = (uint32_t)part->first + part->lanes;
	uint64_t bits = UINT64_MAX;

	if (first < part->first)
		bits &= UINT64_MAX << (part->first - first);
	if (end < first + 64)
		bits &= UINT64_MAX >> (first + 64 - end);
	return bits;
}

struct lanes_in {
	bool any, all;
};

/* Which of a part's lanes are in. */
static struct lanes_in
find_lanes(const uint64_t *lanes, const struct aggregate_part *part)
{
	const uint32_t last = ((uint32_t)part->first + part->lanes - 1) / 64;
	struct lanes_in in = {.any = false, .all = true};

	for (uint32_t word = part->first / 64; word <= last; word++) {
		const uint64_t bits = lanes_of_word(part, word);

		in.any |= (lanes[word] & bits) != 0;
		in.all &= (lanes[word] & bits) == bits;
	}
	return in;
}

static void
take_lanes(uint64_t *lanes, const struct aggregate_part *part)
{
	const uint32_t last = ((uint32_t)part->first + part->lanes - 1) / 64;

	for (uint32_t word = part->first / 64; word <= last; word++)
		lanes[word] |= lanes_of_word(part, word);
}

enum aggregate_action
digits_take(struct aggregate_entry *entry, const struct aggregate_message *chunk)
{
	struct aggregate_totals *totals = digits_totals(entry);
	struct aggregate_digit_sums *digits = entry->digits;
	struct member_parts *member = &digits->members[chunk->worker];
	uint64_t *lanes = digits->lanes + chunk->worker * (digits->lanes_bytes / sizeof(*lanes));
	const struct aggregate_part *part = &chunk->part;
	struct lanes_in in;

	if (member->parts == 0)
		memset(lanes, 0, digits->lanes_bytes);
	else if (member->parts != part->parts)
		return AGGREGATE_BAD_PARTS;
	in = find_lanes(lanes, part);
	if ((member->seen >> part->number & 1) != 0)
		return in.all ? AGGREGATE_DUPLICATE : AGGREGATE_BAD_PARTS;
	if (in.any || !leaves_enough(part, member->covered, member->seen, entry->count))
		return AGGREGATE_BAD_PARTS;
	take_lanes(lanes, part);
	member->parts = part->parts;
	member->seen |= UINT64_C(1) << part->number;
	member->covered += part->lanes;
	aggregate_totals_add_part(totals, part);
	if (member->covered < entry->count)
		return AGGREGATE_ADDED;
	digits->whole |= UINT64_C(1) << chunk->worker;
	return AGGREGATE_COMPLETED;
}
