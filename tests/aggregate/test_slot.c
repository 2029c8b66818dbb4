/* SPDX-License-Identifier: BSD-3-Clause */
/* The slot machine, rule by rule. */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "cases.h"
#include "exact.h"

#define SLOTS 4
#define STALL 100

static struct aggregate_entry *entry;
static struct aggregate_rules rules = {.slots = SLOTS, .workers = 3, .stall = STALL};
static uint8_t values[8];

static struct aggregate_message
packet(uint32_t number, uint8_t worker, int32_t value)
{
	data_put(AGGREGATE_INT32, values, 0, (uint32_t)value);
	data_put(AGGREGATE_INT32, values, 1, (uint32_t)-value);
	rules.port = (uint16_t)(1000 + worker);
	return (struct aggregate_message){.id = number,
		.count = 2,
		.op = AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.worker = worker,
		.values = values};
}

static enum aggregate_action
step_at(uint32_t number, uint8_t worker, int32_t value, uint64_t now)
{
	struct aggregate_message chunk = packet(number, worker, value);

	return aggregate_entry_step(entry, &rules, &chunk, now);
}

static enum aggregate_action
step(uint32_t number, uint8_t worker, int32_t value)
{
	return step_at(number, worker, value, 0);
}

static void
complete(uint32_t number)
{
	assert_int_equal(step(number, 0, 1), AGGREGATE_ADDED);
	assert_int_equal(step(number, 1, 1), AGGREGATE_ADDED);
	assert_int_equal(step(number, 2, 1), AGGREGATE_COMPLETED);
}

static void
expect_result(int32_t sum)
{
	assert_int_equal(data_get(AGGREGATE_INT32, entry->result, 0), (uint32_t)sum);
	assert_int_equal(data_get(AGGREGATE_INT32, entry->result, 1), (uint32_t)-sum);
}

static int
set_up(void **state)
{
	size_t bytes = aggregate_entry_bytes(AGGREGATE_ALL_FORMATS, 8);
	void *memory = aligned_alloc(AGGREGATE_ALIGN, bytes);

	(void)state;
	if (memory == NULL)
		return -1;
	memset(memory, 0x5a, bytes);
	entry = aggregate_entry_init(memory, 8);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(entry);
	return 0;
}

TEST_WITH(the_last_worker_completes_a_chunk, set_up, tear_down)
{
	assert_int_equal(step(1, 2, 5), AGGREGATE_ADDED);
	assert_int_equal(aggregate_entry_missing(entry, rules.workers), 0);
	assert_int_equal(step(1, 0, -7), AGGREGATE_ADDED);
	assert_int_equal(aggregate_entry_missing(entry, rules.workers), 1);
	assert_int_equal(step(1, 1, 100), AGGREGATE_COMPLETED);
	assert_int_equal(aggregate_entry_missing(entry, rules.workers), 3);
	expect_result(98);
	for (unsigned int w = 0; w < 3; w++)
		assert_int_equal(entry->ports[w], 1000 + w);
}

TEST_WITH(duplicates_change_nothing, set_up, tear_down)
{
	assert_int_equal(step(1, 2, 5), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 6), AGGREGATE_DUPLICATE);
	assert_int_equal(step(1, 0, 7), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 8), AGGREGATE_DUPLICATE);
	assert_int_equal(step(1, 1, 9), AGGREGATE_COMPLETED);
	expect_result(21);
}

TEST_WITH(a_stored_result_is_sent_again, set_up, tear_down)
{
	complete(1);
	assert_int_equal(step(1, 0, 1), AGGREGATE_REPEATED);
	assert_int_equal(step(1, 2, 9), AGGREGATE_REPEATED);
	expect_result(3);
}

/* A leaf in P4 tells by that which of its workers asks. */
TEST_WITH(whoever_asks_again_is_answered_at_the_port_that_it_asks_from, set_up, tear_down)
{
	struct aggregate_message again = packet(1, 0, 1);

	assert_int_equal(step(1, 0, 1), AGGREGATE_ADDED);
	rules.port = 2000;
	assert_int_equal(aggregate_entry_step(entry, &rules, &again, 0), AGGREGATE_DUPLICATE);
	assert_int_equal(entry->ports[0], 1000);
	assert_int_equal(step(1, 1, 1), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 1), AGGREGATE_COMPLETED);
	rules.port = 2000;
	assert_int_equal(aggregate_entry_step(entry, &rules, &again, 0), AGGREGATE_REPEATED);
	assert_int_equal(entry->ports[0], 2000);
}

TEST_WITH(what_disagrees_is_refused, set_up, tear_down)
{
	struct aggregate_message other = packet(1, 1, 1);

	assert_int_equal(step(1, 0, 1), AGGREGATE_ADDED);
	other = packet(1, 1, 1);
	other.op = AGGREGATE_MEAN;
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
	other = packet(1, 1, 1);
	other.format = AGGREGATE_FP32;
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
	other = packet(1, 1, 1);
	other.count = 1;
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
	assert_int_equal(entry->seen, 1);
	assert_int_equal(step(1, 1, 1), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 1), AGGREGATE_COMPLETED);
	expect_result(3);
	/* A packet of one value is too short for a result of two. */
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
}

/* Each value of 1 byte has a result of 4. */
TEST_WITH(results_have_another_format_if_all_ask_for_it, set_up, tear_down)
{
	struct aggregate_message chunk = packet(1, 0, 0);
	struct aggregate_message other;

	chunk.format = AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_FP32);
	memcpy(values, "\x7e\xb8", 2); /* 448, -1 */
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_ADDED);
	other = chunk;
	other.worker = 1;
	other.format = AGGREGATE_FP8_E4M3;
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
	other.format = AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_FP16);
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
	chunk.worker = 1;
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_ADDED);
	chunk.worker = 2;
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_COMPLETED);
	assert_int_equal(aggregate_result_bytes(entry, 0), 8);
	assert_int_equal(data_get(AGGREGATE_FP32, entry->result, 0), 0x44a80000); /* 1344 */
	assert_int_equal(data_get(AGGREGATE_FP32, entry->result, 1), 0xc0400000);
	assert_int_equal(aggregate_entry_step(entry, &rules, &other, 0), AGGREGATE_MISMATCH);
}

TEST_WITH(a_result_has_an_owner, set_up, tear_down)
{
	struct aggregate_message chunk;

	for (uint8_t w = 0; w < 3; w++) {
		chunk = packet(1, w, 5);
		chunk.owner = AGGREGATE_OWNER + 1;
		assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0),
			w < 2 ? AGGREGATE_ADDED : AGGREGATE_COMPLETED);
	}
	expect_result(15);
	assert_int_equal(aggregate_result_bytes(entry, 0), 0);
	assert_int_equal(aggregate_result_bytes(entry, 1), 8);
	assert_int_equal(aggregate_result_bytes(entry, 2), 0);
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_REPEATED);
	chunk.owner = AGGREGATE_OWNER;
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_MISMATCH);
}

static struct aggregate_message
copy_packet(uint32_t number, uint8_t worker, uint8_t owner, int32_t value)
{
	struct aggregate_message chunk = packet(number, worker, value);

	chunk.op = AGGREGATE_COPY;
	chunk.owner = AGGREGATE_OWNER + owner;
	if (worker != owner)
		chunk.values = NULL;
	return chunk;
}

TEST_WITH(a_copy_is_its_owner_s_values_whoever_comes_first, set_up, tear_down)
{
	for (uint8_t first = 0; first < 3; first++) {
		for (uint8_t i = 0; i < 3; i++) {
			const struct aggregate_message chunk =
				copy_packet(1 + 2 * SLOTS * first, (first + i) % 3, 2, 77);

			assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0),
				i < 2 ? AGGREGATE_ADDED : AGGREGATE_COMPLETED);
		}
		expect_result(77);
		assert_int_equal(aggregate_result_bytes(entry, 0), 8);
		assert_int_equal(aggregate_result_bytes(entry, 2), 0);
		assert_int_equal(entry->flags, 0);
	}
}

TEST_WITH(owners_that_differ_are_refused, set_up, tear_down)
{
	struct aggregate_message chunk = copy_packet(1, 0, 0, 1);

	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_ADDED);
	chunk = copy_packet(1, 1, 1, 2);
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_MISMATCH);
	chunk = copy_packet(1, 1, 0, 2);
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_ADDED);
	/* Again, with values that are not its own. */
	chunk = copy_packet(1, 1, 1, 2);
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_DUPLICATE);
	chunk = copy_packet(1, 2, 0, 2);
	assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0), AGGREGATE_COMPLETED);
	expect_result(1);
}

TEST_WITH(a_barrier_is_a_copy_of_nothing, set_up, tear_down)
{
	for (uint8_t w = 0; w < 3; w++) {
		struct aggregate_message chunk = copy_packet(1, w, 0, 0);

		chunk.owner = 0;
		chunk.count = 0;
		chunk.values = NULL;
		assert_int_equal(aggregate_entry_step(entry, &rules, &chunk, 0),
			w < 2 ? AGGREGATE_ADDED : AGGREGATE_COMPLETED);
		assert_int_equal(aggregate_result_bytes(entry, w), 0);
	}
}

TEST_WITH(an_entry_is_begun_anew_two_rounds_later, set_up, tear_down)
{
	complete(1);
	assert_int_equal(step(1 + 2 * SLOTS, 0, 10), AGGREGATE_ADDED);
	assert_int_equal(step(1 + 2 * SLOTS, 1, 10), AGGREGATE_ADDED);
	assert_int_equal(step(1, 1, 1), AGGREGATE_STALE);
	assert_int_equal(step(1 + 2 * SLOTS, 2, 10), AGGREGATE_COMPLETED);
	expect_result(30);
	assert_int_equal(step(1, 1, 1), AGGREGATE_STALE);
}

TEST_WITH(what_is_too_far_ahead_is_refused, set_up, tear_down)
{
	assert_int_equal(step(1 + 2 * SLOTS, 0, 1), AGGREGATE_WINDOW);
	assert_int_equal(step(1, 0, 1), AGGREGATE_ADDED);
	assert_int_equal(step(1 + 2 * SLOTS, 1, 1), AGGREGATE_WINDOW);
	assert_int_equal(step(1, 1, 1), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 1), AGGREGATE_COMPLETED);
	assert_int_equal(step(1 + 4 * SLOTS, 1, 1), AGGREGATE_WINDOW);
	assert_int_equal(step(1 + 2 * SLOTS, 1, 1), AGGREGATE_ADDED);
}

TEST_WITH(the_first_two_rounds_find_empty_entries, set_up, tear_down)
{
	for (uint32_t number = 0; number < 2 * SLOTS; number++) {
		entry->state = AGGREGATE_EMPTY;
		complete(number);
	}
}

TEST_WITH(numbers_wrap_around, set_up, tear_down)
{
	const uint32_t last = UINT32_MAX - 2 * SLOTS + 1 + 1;

	complete(1);
	entry->chunk = last;
	assert_int_equal(step(1, 0, 4), AGGREGATE_ADDED);
	assert_int_equal(step(last, 0, 4), AGGREGATE_STALE);
	assert_int_equal(step(1 + 2 * SLOTS, 0, 4), AGGREGATE_WINDOW);
	assert_int_equal(step(1, 1, 4), AGGREGATE_ADDED);
	assert_int_equal(step(1, 2, 4), AGGREGATE_COMPLETED);
	expect_result(12);
	assert_int_equal(step(last, 0, 4), AGGREGATE_STALE);
}

TEST_WITH(whoever_asks_after_a_while_learns_who_is_silent, set_up, tear_down)
{
	assert_int_equal(step_at(1, 0, 1, 1000), AGGREGATE_ADDED);
	assert_int_equal(step_at(1, 0, 1, 1000 + STALL - 1), AGGREGATE_DUPLICATE);
	assert_int_equal(step_at(1, 0, 1, 1000 + STALL), AGGREGATE_STALLED);
	assert_int_equal(aggregate_entry_missing(entry, rules.workers), 1);
	assert_int_equal(step_at(1, 1, 1, 1000 + STALL), AGGREGATE_STALLED);
	assert_int_equal(aggregate_entry_missing(entry, rules.workers), 2);
	assert_int_equal(step_at(1, 2, 1, 1000 + 2 * STALL), AGGREGATE_COMPLETED);
	expect_result(3);
	assert_int_equal(step_at(1, 0, 1, 1000 + 3 * STALL), AGGREGATE_REPEATED);
}

TEST_WITH(one_worker_alone_has_its_own_values, set_up, tear_down)
{
	rules.workers = 1;
	assert_int_equal(step(1, 0, 42), AGGREGATE_COMPLETED);
	rules.workers = 3;
	expect_result(42);
}

TEST_WITH(sixty_four_workers_are_told_apart, set_up, tear_down)
{
	rules.workers = 64;
	for (uint8_t w = 0; w < 63; w++)
		assert_int_equal(step(1, w, w), AGGREGATE_ADDED);
	assert_int_equal(aggregate_entry_missing(entry, 64), 63);
	assert_int_equal(step(1, 63, 63), AGGREGATE_COMPLETED);
	assert_int_equal(aggregate_entry_missing(entry, 64), 64);
	rules.workers = 3;
	expect_result(63 * 64 / 2);
}

TEST_WITH(the_entry_of_a_chunk_follows_from_its_number, set_up, tear_down)
{
	assert_int_equal(aggregate_entry_of(0, 4), 0);
	assert_int_equal(aggregate_entry_of(3, 4), 0);
	assert_int_equal(aggregate_entry_of(4, 4), 1);
	assert_int_equal(aggregate_entry_of(8, 4), 0);
	assert_int_equal(aggregate_entry_of(UINT32_MAX, 4), 1);
	assert_int_equal(aggregate_entry_of(1, 1), 1);
}

TEST_WITH(the_largest_entry_is_that_of_the_contract, set_up, tear_down)
{
	/* Of fp64, for 1,448 bytes: 192 lanes in whole vectors; a window, which bins are in use,
	 * bins, what sums in pairs have lost. */
	size_t bytes = aggregate_entry_bytes(AGGREGATE_ALL_FORMATS, 1448);

	assert_true(bytes > 192 * 8 * 72 && bytes < 192 * 8 * 72 + 5000);
	assert_true(aggregate_entry_bytes(1u << AGGREGATE_FP16, 1448) < 12000);
	assert_int_equal(bytes % AGGREGATE_ALIGN, 0);
}
