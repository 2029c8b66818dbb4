/* SPDX-License-Identifier: BSD-3-Clause */
/* The slot machine with members that send digits, and with a switch above. */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "cases.h"
#include "exact.h"

#define BYTES 96
#define MAX_LANES BYTES
#define MEMBERS 4
#define MAX_BEHIND 5 /* workers behind a member */
#define STALL 100
#define REPEAT 10

static struct aggregate_entry *entry;
static void *digits_memory;
static struct aggregate_rules rules;
static uint64_t values[MAX_LANES][AGGREGATE_MAX_WORKERS];
static int64_t scratch[MAX_LANES * (AGGREGATE_MAX_DIGITS + 1)];

/* What a member has to send. */
struct packets {
	unsigned int count;
	bool in[AGGREGATE_MAX_PARTS];
	size_t bytes[AGGREGATE_MAX_PARTS];
	uint8_t packet[AGGREGATE_MAX_PARTS][MAX_LANES * 8 + 100];
};

static struct packets members[MEMBERS];

static struct aggregate_message
chunk_of(unsigned int op, unsigned int format, uint16_t count, uint8_t member)
{
	return (struct aggregate_message){.id = 1,
		.count = count,
		.op = (uint8_t)op,
		.format = (uint8_t)format,
		.worker = member};
}

static enum aggregate_action
step(struct aggregate_message chunk, const struct packets *packets, unsigned int p, uint64_t now)
{
	chunk.values = packets->packet[p];
	if (packets->bytes[p] != 0) {
		assert_int_equal(
			aggregate_part_read(packets->packet[p], packets->bytes[p], &chunk.part), 0);
		assert_true(aggregate_part_fits(&chunk.part, chunk.format, chunk.count));
		chunk.values = NULL;
	}
	return aggregate_entry_step(entry, &rules, &chunk, now);
}

/* The sum of some workers, in parts; a single one: its values. */
static void
make_member(struct packets *member, unsigned int format, uint16_t count, unsigned int first,
	unsigned int workers, uint32_t most_bytes)
{
	struct aggregate_totals totals =
		aggregate_totals_init((enum aggregate_format)format, count, scratch);
	uint16_t ends[AGGREGATE_MAX_PARTS], from = 0;

	memset(member, 0, sizeof(*member));
	for (unsigned int w = first; w < first + workers; w++) {
		for (uint32_t lane = 0; lane < count; lane++)
			data_put(format, member->packet[0], lane, values[lane][w]);
		aggregate_totals_add_values(&totals, member->packet[0]);
	}
	member->count = 1;
	if (workers == 1)
		return;
	member->count = aggregate_totals_divide(&totals, most_bytes, ends);
	assert_true(member->count > 0);
	for (unsigned int p = 0; p < member->count; from = ends[p++]) {
		member->bytes[p] =
			aggregate_totals_write_part(&totals, from, (uint16_t)(ends[p] - from),
				(uint8_t)p, (uint8_t)member->count, member->packet[p], most_bytes);
		assert_true(member->bytes[p] > 0);
	}
}

static void
check_result(unsigned int op, unsigned int format, uint16_t count, unsigned int workers)
{
	uint8_t flags = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		struct oracle_result expected = oracle_reduce(op, format, values[lane], workers);

		assert_true(data_get(format, entry->result, lane) == expected.bits);
		flags |= expected.flags;
	}
	assert_int_equal(entry->flags, flags);
}

/* Packets of all members in any order, some of them again and again. */
static void
send_all(unsigned int op, unsigned int format, uint16_t count, uint64_t *seed)
{
	unsigned int missing = 0;

	for (unsigned int m = 0; m < MEMBERS; m++)
		missing += members[m].count;
	while (missing > 0) {
		unsigned int m = next_random(seed) % MEMBERS;
		unsigned int p = next_random(seed) % members[m].count;
		enum aggregate_action action =
			step(chunk_of(op, format, count, (uint8_t)m), &members[m], p, 0);

		missing -= !members[m].in[p];
		assert_int_equal(action,
			missing == 0               ? AGGREGATE_COMPLETED
				: members[m].in[p] ? AGGREGATE_DUPLICATE
						   : AGGREGATE_ADDED);
		members[m].in[p] = true;
	}
}

static int
set_up(void **state)
{
	size_t bytes = aggregate_entry_bytes(AGGREGATE_ALL_FORMATS, BYTES);
	size_t more = aggregate_entry_digit_bytes(AGGREGATE_ALL_FORMATS, BYTES, MEMBERS);
	void *memory = aligned_alloc(AGGREGATE_ALIGN, bytes);

	(void)state;
	digits_memory = aligned_alloc(AGGREGATE_ALIGN, more);
	if (memory == NULL || digits_memory == NULL)
		return -1;
	memset(memory, 0x5a, bytes);
	memset(digits_memory, 0x5a, more);
	entry = aggregate_entry_init(memory, BYTES);
	aggregate_entry_take_digits(entry, digits_memory, AGGREGATE_ALL_FORMATS, BYTES, MEMBERS);
	rules = (struct aggregate_rules){
		.slots = 4, .workers = MEMBERS, .stall = STALL, .repeat = REPEAT};
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(entry);
	free(digits_memory);
	return 0;
}

TEST_WITH(members_send_values_or_digits, set_up, tear_down)
{
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 3000; round++) {
		unsigned int format = 1 + round % (AGGREGATE_FORMAT_END - 1), workers = 0;
		unsigned int op = AGGREGATE_SUM + next_random(&seed) % 2;
		uint16_t count = (uint16_t)(1 +
			next_random(&seed) % (BYTES / aggregate_value_bytes(format)));

		rules.isa = (enum aggregate_isa)(next_random(&seed) % (aggregate_isa_best() + 1));
		for (uint32_t lane = 0; lane < count; lane++)
			data_fill((enum data_kind)(round / 10 % DATA_KINDS), format, values[lane],
				MEMBERS * MAX_BEHIND, &seed);
		for (unsigned int m = 0; m < MEMBERS; m++) {
			unsigned int behind = 1 + next_random(&seed) % MAX_BEHIND;

			make_member(&members[m], format, count, workers, behind, 400);
			workers += behind;
		}
		rules.all_workers = workers;
		entry->state = AGGREGATE_EMPTY;
		send_all(op, format, count, &seed);
		check_result(op, format, count, workers);
		assert_int_equal(
			step(chunk_of(op, format, count, 2), &members[2], members[2].count - 1, 0),
			AGGREGATE_REPEATED);
		if (members[2].count > 1)
			assert_int_equal(step(chunk_of(op, format, count, 2), &members[2], 0, 0),
				AGGREGATE_DUPLICATE);
	}
}

/* Sums of a member by hand: lanes of int32, a digit each. */
static void
make_part(struct packets *member, uint8_t number, uint8_t parts, uint8_t first, uint8_t lanes)
{
	const uint8_t part[AGGREGATE_PART_BYTES] = {0, first, 0, lanes, number, parts, 0, 1};

	memset(member, 0, sizeof(*member));
	memcpy(member->packet[0], part, sizeof(part));
	member->packet[0][AGGREGATE_PART_BYTES + 3] = 9;
	member->bytes[0] = sizeof(part) + 4u * lanes;
}

static enum aggregate_action
step_part(uint8_t worker, uint8_t number, uint8_t parts, uint8_t first, uint8_t lanes)
{
	make_part(&members[0], number, parts, first, lanes);
	return step(chunk_of(AGGREGATE_SUM, AGGREGATE_INT32, 10, worker), &members[0], 0, 0);
}

static enum aggregate_action
step_values(uint8_t worker, uint64_t now)
{
	memset(&members[0], 0, sizeof(members[0]));
	members[0].packet[0][3] = 1;
	return step(chunk_of(AGGREGATE_SUM, AGGREGATE_INT32, 10, worker), &members[0], 0, now);
}

TEST_WITH(parts_have_to_make_up_the_chunk, set_up, tear_down)
{
	/* As a first packet: too few lanes for the other parts; too few in all. */
	assert_int_equal(step_part(0, 0, 3, 0, 9), AGGREGATE_BAD_PARTS);
	assert_int_equal(step_part(0, 0, 1, 0, 9), AGGREGATE_BAD_PARTS);
	assert_int_equal(entry->state, AGGREGATE_EMPTY);
	assert_int_equal(step_part(0, 1, 3, 4, 3), AGGREGATE_ADDED);
	assert_int_equal(step_part(0, 0, 4, 0, 4), AGGREGATE_BAD_PARTS); /* another number */
	assert_int_equal(step_part(0, 0, 3, 0, 5), AGGREGATE_BAD_PARTS); /* overlaps */
	assert_int_equal(step_part(0, 1, 3, 5, 3), AGGREGATE_BAD_PARTS); /* was different */
	assert_int_equal(step_part(0, 1, 3, 4, 3), AGGREGATE_DUPLICATE);
	assert_int_equal(step_part(0, 0, 3, 0, 4), AGGREGATE_ADDED);
	assert_int_equal(step_part(0, 2, 3, 7, 2), AGGREGATE_BAD_PARTS); /* leaves one out */
	assert_false((entry->seen & 1) != 0);
	assert_int_equal(step_part(0, 2, 3, 7, 3), AGGREGATE_ADDED);
	assert_true((entry->seen & 1) != 0);
	assert_int_equal(step_part(0, 2, 3, 7, 3), AGGREGATE_DUPLICATE);
}

/* A part's contents are not kept to be compared: the first are what all get the sum of. */
TEST_WITH(of_a_part_that_changes_the_first_counts, set_up, tear_down)
{
	assert_int_equal(step_part(0, 0, 1, 0, 10), AGGREGATE_ADDED);
	make_part(&members[0], 0, 1, 0, 10);
	members[0].packet[0][AGGREGATE_PART_BYTES + 3] = 77;
	assert_int_equal(step(chunk_of(AGGREGATE_SUM, AGGREGATE_INT32, 10, 0), &members[0], 0, 0),
		AGGREGATE_DUPLICATE);
	for (uint8_t member = 1; member < MEMBERS; member++)
		step_values(member, 0);
	assert_int_equal(entry->state, AGGREGATE_COMPLETE);
	assert_int_equal(data_get(AGGREGATE_INT32, entry->result, 0), 9 + (MEMBERS - 1));
}

TEST_WITH(nobody_sends_values_and_digits, set_up, tear_down)
{
	assert_int_equal(step_part(1, 0, 2, 0, 5), AGGREGATE_ADDED);
	assert_int_equal(step_values(1, 0), AGGREGATE_BAD_PARTS);
	assert_int_equal(step_values(2, 0), AGGREGATE_ADDED);
	assert_int_equal(step_part(2, 0, 1, 0, 10), AGGREGATE_BAD_PARTS);
	assert_int_equal(step_part(1, 1, 2, 5, 5), AGGREGATE_ADDED);
	assert_int_equal(step_values(1, 0), AGGREGATE_BAD_PARTS);
	assert_int_equal(step_values(0, 0), AGGREGATE_ADDED);
	assert_int_equal(step_values(3, 0), AGGREGATE_COMPLETED);
	assert_int_equal(data_get(AGGREGATE_INT32, entry->result, 0), 9 + 3);
}

TEST_WITH(an_entry_without_room_takes_no_digits, set_up, tear_down)
{
	entry->digits = NULL;
	assert_int_equal(step_part(0, 0, 1, 0, 10), AGGREGATE_NO_DIGITS);
	assert_int_equal(entry->state, AGGREGATE_EMPTY);
	assert_int_equal(step_values(0, 0), AGGREGATE_ADDED);
	assert_int_equal(aggregate_entry_digit_bytes(0, BYTES, MEMBERS), 0);
}

static void
pass_on(uint64_t now)
{
	rules.passes_on = true;
	rules.patience = 2 * STALL;
	for (uint8_t w = 0; w + 1 < MEMBERS; w++)
		assert_int_equal(step_values(w, now), AGGREGATE_ADDED);
	assert_int_equal(step_values(MEMBERS - 1, now), AGGREGATE_PASSED);
	assert_int_equal(entry->state, AGGREGATE_ABOVE);
}

TEST_WITH(what_is_passed_on_is_complete_with_the_parent_s_result, set_up, tear_down)
{
	struct aggregate_totals sums =
		aggregate_totals_init(AGGREGATE_INT32, 0, memset(scratch, 0, sizeof(scratch)));
	uint8_t result[40] = {1, 2, 3, 4};

	pass_on(0);
	sums = aggregate_entry_totals(entry, &sums);
	assert_int_equal(sums.bins[0], MEMBERS);
	assert_int_equal(step_values(0, REPEAT - 1), AGGREGATE_DUPLICATE);
	assert_int_equal(step_values(0, REPEAT), AGGREGATE_PASSED_AGAIN);
	assert_int_equal(step_values(1, REPEAT), AGGREGATE_DUPLICATE);
	assert_int_equal(step_values(1, 2 * REPEAT), AGGREGATE_PASSED_AGAIN);
	aggregate_entry_complete(entry, AGGREGATE_ROUNDED, result, 5);
	assert_int_equal(step_values(1, 2 * REPEAT), AGGREGATE_REPEATED);
	assert_memory_equal(entry->result, result, sizeof(result));
	assert_int_equal(entry->flags, 5);
}

TEST_WITH(a_silent_parent_is_told_of, set_up, tear_down)
{
	pass_on(0);
	/* It may wait for another member itself, and is going to say so. */
	assert_int_equal(step_values(0, STALL), AGGREGATE_PASSED_AGAIN);
	assert_int_equal(step_values(0, 2 * STALL), AGGREGATE_PARENT_SILENT);
	assert_int_equal(step_values(0, 2 * STALL), AGGREGATE_PASSED_AGAIN);
	assert_int_equal(step_values(1, 2 * STALL), AGGREGATE_PARENT_SILENT);
	assert_int_equal(step_values(1, 2 * STALL), AGGREGATE_DUPLICATE);
	assert_int_equal(step_values(1, 2 * STALL), AGGREGATE_PARENT_SILENT);
	/* It says that its member 9 is missing. */
	entry->above.unheard = entry->above.heard = 2 * STALL;
	entry->above.reason = AGGREGATE_MISSING + 9;
	entry->above.told = 0;
	assert_int_equal(step_values(0, 2 * STALL + 1), AGGREGATE_STALLED);
	assert_int_equal(step_values(0, 2 * STALL + 1), AGGREGATE_DUPLICATE);
	entry->above.reason = AGGREGATE_REASON_MISMATCH;
	assert_int_equal(step_values(0, 2 * STALL + 1), AGGREGATE_REFUSED_ABOVE);
	/* What it said a while ago is no news. */
	assert_int_equal(step_values(2, 3 * STALL - 1), AGGREGATE_REFUSED_ABOVE);
	assert_int_equal(step_values(3, 4 * STALL), AGGREGATE_PARENT_SILENT);
}
