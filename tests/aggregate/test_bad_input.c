/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes no sense is refused for a named reason, is counted, and touches no other job. */
#include "cases.h"
#include "exact.h"
#include "jobs.h"

/* A packet that is refused for a reason, and counted; job 8 is as it was. */
static void
is_refused(const struct aggregate_message *message, enum aggregate_action action)
{
	const struct aggregate_shard *shard = aggregate_table_shard(table, 0);
	struct aggregate_counters before, after;

	aggregate_shard_counters(shard, &before);
	assert_int_equal(handle_from(0, message, message->worker), action);
	assert_int_not_equal(outcome.reason, AGGREGATE_REASON_NONE);
	aggregate_shard_counters(shard, &after);
	assert_int_equal(after.actions[action], before.actions[action] + 1);
}

static struct aggregate_message
part_message(uint8_t worker, uint8_t number, uint8_t parts, uint16_t first, uint16_t lanes)
{
	static const uint8_t digits[12];
	struct aggregate_message message = chunk_message(7, worker, 0);

	message.values = NULL;
	message.part = (struct aggregate_part){.first = first,
		.lanes = lanes,
		.number = number,
		.parts = parts,
		.width = 1,
		.digits = digits};
	return message;
}

JOBS_TEST(bad_input_of_a_job_touches_no_other)
{
	struct aggregate_message message;
	struct aggregate_info before, after;
	uint16_t other;

	start_pair(1);
	make_pair(8, 4);
	assert_int_equal(send_chunk(0, 8, 0, 0), AGGREGATE_ADDED);
	other = outcome.index;
	assert_true(aggregate_table_info(table, other, &before));
	/* Digits that leave lanes out, overlap, are of a format without any; besides values. */
	is_refused((message = part_message(0, 0, 1, 0, 2), &message), AGGREGATE_BAD_PARTS);
	message = part_message(0, 0, 2, 0, 2);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	is_refused((message = part_message(0, 1, 2, 1, 2), &message), AGGREGATE_BAD_PARTS);
	is_refused((message = part_message(0, 1, 3, 2, 1), &message), AGGREGATE_BAD_PARTS);
	is_refused((message = chunk_message(7, 0, 0), &message), AGGREGATE_BAD_PARTS);
	message = part_message(0, 0, 1, 0, 3);
	message.id = 1;
	message.format = AGGREGATE_FP32;
	is_refused(&message, AGGREGATE_NO_DIGITS);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_ADDED);
	is_refused((message = part_message(1, 0, 1, 0, 3), &message), AGGREGATE_BAD_PARTS);
	/* A place in a tree: not as the others have it; without a parent; too high. */
	message = join_message(7, 0, 2, 4);
	message.join.place = (struct aggregate_place){.levels = 1, .workers = 4, .level = {{2, 0}}};
	is_refused(&message, AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	is_refused(&message, AGGREGATE_LOOP);
	message.job = 9;
	is_refused(&message, AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	is_refused(&message, AGGREGATE_NO_PARENT);
	message.join.place.levels = 5;
	is_refused(&message, AGGREGATE_BAD_PLACE);
	assert_true(aggregate_table_info(table, other, &after));
	assert_memory_equal(&before, &after, sizeof(before));
	/* Both go on. */
	message = part_message(0, 1, 2, 2, 1);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COMPLETED);
	assert_int_equal(data_get(AGGREGATE_INT32, outcome.entry->result, 2), 121);
	assert_int_equal(send_chunk(0, 8, 1, 0), AGGREGATE_COMPLETED);
	assert_int_equal(data_get(AGGREGATE_INT32, outcome.entry->result, 0), 201);
}

/* Whose part is missing is named, however long it sends the others; and the part may still come. */
JOBS_TEST(a_part_that_never_comes_is_named)
{
	struct aggregate_message message;

	start_pair(1);
	message = part_message(0, 0, 2, 0, 2);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_ADDED);
	now += limits.stall / 2;
	message = part_message(0, 0, 2, 0, 2);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_DUPLICATE);
	now += limits.stall / 2;
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_STALLED);
	assert_int_equal(outcome.reason, AGGREGATE_MISSING + 0);
	message = part_message(0, 1, 2, 2, 1);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_COMPLETED);
	assert_int_equal(data_get(AGGREGATE_INT32, outcome.entry->result, 2), 121);
}
