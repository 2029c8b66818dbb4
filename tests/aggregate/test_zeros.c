/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of zeros are what they stand for: +0 in each lane, to the last bit. */
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "cases.h"
#include "exact.h"
#include "jobs.h"

#define LANES 24
#define MOST_WORKERS 5
#define BYTES 256

/* One chunk, sent twice: to one entry as it is, to the other with the zeros as headers. */
struct twin {
	struct aggregate_rules rules;
	unsigned int op, format;
	uint8_t owner;
	uint8_t values[MOST_WORKERS][BYTES];
	struct aggregate_entry *full, *brief;
};

static uint64_t seed;

static struct aggregate_entry *
new_entry(void)
{
	const size_t bytes = aggregate_entry_bytes(AGGREGATE_ALL_FORMATS, BYTES);
	const size_t more = aggregate_entry_digit_bytes(AGGREGATE_ALL_FORMATS, BYTES, MOST_WORKERS);
	uint8_t *memory = allocate(bytes + more);
	struct aggregate_entry *entry = aggregate_entry_init(memory, BYTES);

	aggregate_entry_take_digits(
		entry, memory + bytes, AGGREGATE_ALL_FORMATS, BYTES, MOST_WORKERS);
	return entry;
}

static uint32_t
bytes_of(const struct twin *twin)
{
	return LANES * aggregate_value_bytes(twin->format);
}

static struct aggregate_message
message_of(const struct twin *twin, uint8_t worker, bool brief)
{
	const bool sends = aggregate_sends_values(twin->op, twin->owner, worker);
	const bool zeros =
		brief && sends && aggregate_is_zero(twin->values[worker], bytes_of(twin));

	return (struct aggregate_message){.op = (uint8_t)twin->op,
		.format = (uint8_t)twin->format,
		.owner = twin->owner,
		.count = LANES,
		.worker = worker,
		.zeros = zeros,
		.values = sends && !zeros ? twin->values[worker] : NULL};
}

static enum aggregate_action
step(const struct twin *twin, uint8_t worker, bool brief)
{
	const struct aggregate_message message = message_of(twin, worker, brief);

	return aggregate_entry_step(brief ? twin->brief : twin->full, &twin->rules, &message, 0);
}

static void
fill(struct twin *twin)
{
	const enum data_kind kind = (enum data_kind)(next_random(&seed) % DATA_KINDS);
	const uint64_t zeros = next_random(&seed);
	uint64_t lane[MOST_WORKERS];

	for (uint32_t i = 0; i < LANES; i++) {
		data_fill(kind, twin->format, lane, twin->rules.workers, &seed);
		for (unsigned int w = 0; w < twin->rules.workers; w++)
			data_put(aggregate_values_format(twin->format), twin->values[w], i,
				zeros >> w & 1 ? 0 : lane[w]);
	}
}

static void
expect_the_same(const struct twin *twin)
{
	const uint32_t bytes = LANES * aggregate_result_value_bytes(twin->format);
	const bool zero = twin->full->flags == 0 && aggregate_is_zero(twin->full->result, bytes);

	assert_int_equal(twin->brief->flags, twin->full->flags);
	if (!twin->rules.zeros || !zero)
		assert_memory_equal(twin->brief->result, twin->full->result, bytes);
	for (unsigned int w = 0; w < twin->rules.workers; w++) {
		const enum aggregate_kind kind = aggregate_result_kind(twin->brief, w);

		if (!aggregate_receives_values(twin->op, twin->owner, w))
			assert_int_equal(kind, AGGREGATE_ACKNOWLEDGED);
		else
			assert_int_equal(kind,
				zero && twin->rules.zeros ? AGGREGATE_ZEROS : AGGREGATE_ROUNDED);
		assert_int_equal(aggregate_result_bytes(twin->brief, w),
			kind == AGGREGATE_ROUNDED ? bytes : 0);
	}
}

/* In a tree, the sums that go up, or the least and the greatest. */
static void
expect_the_same_above(const struct twin *twin, void *memory)
{
	const size_t bytes = aggregate_totals_most_bytes(AGGREGATE_ALL_FORMATS, BYTES);
	struct aggregate_totals sums[2];

	if (twin->brief->zero)
		return;
	if (twin->op >= AGGREGATE_MIN) {
		assert_memory_equal(twin->brief->result, twin->full->result, bytes_of(twin));
		return;
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct aggregate_totals scratch = aggregate_totals_init(
			AGGREGATE_INT64, 0, memset((uint8_t *)memory + i * bytes, 0, bytes));
		uint8_t part[16384];

		sums[i] = aggregate_entry_totals(i == 0 ? twin->full : twin->brief, &scratch);
		memset(part, 0, sizeof(part));
		assert_true(aggregate_totals_write_part(
				    &sums[i], 0, LANES, 0, 1, part, sizeof(part)) > 0);
		if (i == 0)
			memcpy((uint8_t *)memory + 2 * bytes, part, sizeof(part));
		else
			assert_memory_equal((uint8_t *)memory + 2 * bytes, part, sizeof(part));
	}
}

static void
draw(struct twin *twin)
{
	do {
		twin->format = 1 + (unsigned int)(next_random(&seed) % (AGGREGATE_FORMAT_END - 1));
		if (next_random(&seed) % 4 == 0)
			twin->format = AGGREGATE_INTO(twin->format, AGGREGATE_FP32);
		twin->op = AGGREGATE_SUM + (unsigned int)(next_random(&seed) % 5);
	} while (!aggregate_has_format(twin->op, twin->format));
	twin->rules = (struct aggregate_rules){.slots = 4,
		.workers = (uint8_t)(1 + next_random(&seed) % MOST_WORKERS),
		.isa = (enum aggregate_isa)(
			next_random(&seed) % ((uint32_t)aggregate_isa_best() + 1)),
		.stall = UINT64_MAX,
		.zeros = next_random(&seed) % 2 == 0};
	twin->owner = twin->op == AGGREGATE_COPY || next_random(&seed) % 4 == 0
		? (uint8_t)(AGGREGATE_OWNER + next_random(&seed) % twin->rules.workers)
		: 0;
	if (twin->op == AGGREGATE_COPY || twin->owner != 0)
		return;
	twin->rules.passes_on = next_random(&seed) % 4 == 0;
	if (next_random(&seed) % 4 == 0)
		twin->rules.all_workers = twin->rules.workers + 7u;
}

static void
play(struct twin *twin, void *memory)
{
	uint64_t order[MOST_WORKERS];

	draw(twin);
	fill(twin);
	twin->full->state = twin->brief->state = AGGREGATE_EMPTY;
	for (unsigned int w = 0; w < twin->rules.workers; w++)
		order[w] = w;
	data_shuffle(order, twin->rules.workers, &seed);
	for (unsigned int i = 0; i < twin->rules.workers; i++) {
		const enum aggregate_action action = step(twin, (uint8_t)order[i], false);

		assert_int_equal(step(twin, (uint8_t)order[i], true), action);
		if (i + 1u < twin->rules.workers)
			assert_int_equal(step(twin, (uint8_t)order[i], true), AGGREGATE_DUPLICATE);
	}
	if (twin->rules.passes_on) {
		expect_the_same_above(twin, memory);
		return;
	}
	expect_the_same(twin);
	assert_int_equal(step(twin, 0, true), AGGREGATE_REPEATED);
	expect_the_same(twin);
}

TEST(zeros_are_what_they_stand_for)
{
	struct twin twin = {.full = new_entry(), .brief = new_entry()};
	void *memory =
		allocate(2 * aggregate_totals_most_bytes(AGGREGATE_ALL_FORMATS, BYTES) + 16384);

	for (seed = 1; seed < 60000;) {
		const uint64_t before = seed;

		play(&twin, memory);
		seed = before + 1;
	}
	free(memory);
	free(twin.full);
	free(twin.brief);
}

/* A lane of fp32 of two workers, the second's of zeros if it is 0. */
static uint32_t
reduce(struct twin *twin, unsigned int op, uint32_t a, uint32_t b)
{
	twin->op = op;
	twin->format = AGGREGATE_FP32;
	twin->rules = (struct aggregate_rules){
		.slots = 4, .workers = 2, .stall = UINT64_MAX, .zeros = true};
	twin->brief->state = AGGREGATE_EMPTY;
	for (uint32_t lane = 0; lane < LANES; lane++) {
		data_put(AGGREGATE_FP32, twin->values[0], lane, a);
		data_put(AGGREGATE_FP32, twin->values[1], lane, b);
	}
	assert_int_equal(step(twin, 0, true), AGGREGATE_ADDED);
	assert_int_equal(step(twin, 1, true), AGGREGATE_COMPLETED);
	return (uint32_t)data_get(AGGREGATE_FP32, twin->brief->result, 0);
}

#define MINUS_ZERO 0x80000000u
#define LEAST 1u /* subnormal */

TEST(a_zero_has_a_sign)
{
	struct twin twin = {.brief = new_entry()};

	assert_int_equal(reduce(&twin, AGGREGATE_SUM, MINUS_ZERO, 0), 0);
	assert_int_equal(aggregate_result_kind(twin.brief, 0), AGGREGATE_ZEROS);
	assert_int_equal(reduce(&twin, AGGREGATE_MIN, MINUS_ZERO, 0), MINUS_ZERO);
	assert_int_equal(aggregate_result_kind(twin.brief, 0), AGGREGATE_ROUNDED);
	assert_int_equal(reduce(&twin, AGGREGATE_MAX, MINUS_ZERO, 0), 0);
	assert_int_equal(reduce(&twin, AGGREGATE_SUM, MINUS_ZERO, MINUS_ZERO), MINUS_ZERO);
	assert_int_equal(aggregate_result_kind(twin.brief, 0), AGGREGATE_ROUNDED);
	free(twin.brief);
}

/* What is 0 by rounding, and says so, is not nothing. */
TEST(a_zero_with_a_flag_has_values)
{
	struct twin twin = {.brief = new_entry()};

	assert_int_equal(reduce(&twin, AGGREGATE_MEAN, LEAST, 0), 0);
	assert_int_equal(twin.brief->flags, NETFC_UNDERFLOW);
	assert_int_equal(aggregate_result_kind(twin.brief, 0), AGGREGATE_ROUNDED);
	free(twin.brief);
}

/* Chunks of a job of two workers that ask for zeros, or one of them. */
static void
make_job(uint8_t first, uint8_t second)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct aggregate_message message = join_message(7, (uint8_t)i, 2, 4);

		message.join.features = i == 0 ? first : second;
		send_join(message, (uint8_t)i);
	}
}

static uint8_t
granted_features(uint8_t first, uint8_t second)
{
	uint8_t features;

	start(1, 2, 8);
	make_job(first, second);
	assert_int_equal(outcome.action, AGGREGATE_JOINED);
	features = outcome.join.features;
	tear_down(NULL);
	return features;
}

JOBS_TEST(zeros_are_granted_if_all_ask_for_them)
{
	const uint8_t zeros = AGGREGATE_FEATURE_ZEROS, labels = AGGREGATE_FEATURE_LABELS;

	assert_int_equal(granted_features(zeros, zeros), zeros);
	assert_int_equal(granted_features(zeros | labels, zeros), zeros);
	assert_int_equal(granted_features(zeros, labels), 0);
	assert_int_equal(granted_features(labels, zeros | labels), labels);
	assert_int_equal(granted_features(0xfd, 0xfd), AGGREGATE_FEATURES_OF_ALL);
	start(1, 2, 8); /* for the tear-down */
}

static struct aggregate_message
zeros_message(uint8_t worker, uint32_t number)
{
	struct aggregate_message message = chunk_message(7, worker, number);

	message.values = NULL;
	message.zeros = true;
	return message;
}

/* The reply to a worker's packet, as bytes and back. */
static struct aggregate_message
reply_to(const struct aggregate_message *message, uint8_t *payload, size_t *length)
{
	struct aggregate_message reply;

	aggregate_build_request(payload, message);
	*length = aggregate_write_reply(payload, aggregate_message_bytes(message), &outcome);
	assert_int_equal(aggregate_parse_reply(payload, *length, &reply), 0);
	return reply;
}

JOBS_TEST(results_are_as_all_can_read_them)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + VALUE_BYTES];
	const uint8_t zeros = AGGREGATE_FEATURE_ZEROS;

	for (unsigned int i = 0; i < 2; i++) {
		const bool all = i == 0;
		struct aggregate_message message, reply;
		size_t length;

		start(1, 2, 8);
		make_job(zeros, all ? zeros : 0);
		for (uint8_t w = 0; w < 2; w++) {
			message = zeros_message(w, 0);
			handle_from(0, &message, w);
		}
		assert_int_equal(outcome.action, AGGREGATE_COMPLETED);
		handle_from(0, &message, 1);
		assert_int_equal(outcome.action, AGGREGATE_REPEATED);
		reply = reply_to(&message, payload, &length);
		assert_int_equal(length, AGGREGATE_HEADER_BYTES + (all ? 0 : 12));
		assert_int_equal(reply.reason, all ? AGGREGATE_ZEROS : AGGREGATE_ROUNDED);
		assert_int_equal(reply.count, 3);
		if (!all)
			assert_true(aggregate_is_zero(reply.values, 12));
		if (all)
			tear_down(NULL);
	}
}

/* A header alone says how many values it stands for, and that has to fit. */
JOBS_TEST(counts_that_lie_are_refused)
{
	uint8_t payload[AGGREGATE_HEADER_BYTES + VALUE_BYTES];
	struct aggregate_message message, reply;
	size_t length;

	start(1, 2, 8);
	make_job(AGGREGATE_FEATURE_ZEROS, AGGREGATE_FEATURE_ZEROS);
	message = zeros_message(0, 0);
	message.count = UINT16_MAX;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_TOO_LARGE);
	reply = reply_to(&message, payload, &length);
	assert_int_equal(length, AGGREGATE_HEADER_BYTES);
	assert_int_equal(reply.reason, AGGREGATE_REASON_MISMATCH);
	message.count = 3;
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	message = zeros_message(1, 0);
	message.count = 2;
	assert_int_equal(handle_from(0, &message, 1), AGGREGATE_MISMATCH);
	reply_to(&message, payload, &length);
	assert_int_equal(length, AGGREGATE_HEADER_BYTES);
}

JOBS_TEST(zeros_are_counted)
{
	struct aggregate_message message;
	struct aggregate_counters counters;
	struct aggregate_info info;

	start(1, 2, 8);
	make_job(AGGREGATE_FEATURE_ZEROS, AGGREGATE_FEATURE_ZEROS);
	message = zeros_message(0, 0);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_ADDED);
	assert_int_equal(handle_from(0, &message, 0), AGGREGATE_DUPLICATE);
	assert_int_equal(send_chunk(0, 7, 1, 0), AGGREGATE_COMPLETED);
	assert_true(aggregate_table_info(table, outcome.index, &info));
	assert_int_equal(info.counters.zeros, 1);
	assert_int_equal(info.counters.values, 6);
	aggregate_shard_counters(aggregate_table_shard(table, 0), &counters);
	assert_int_equal(counters.zeros, 1);
}
