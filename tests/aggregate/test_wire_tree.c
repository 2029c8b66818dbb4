/* SPDX-License-Identifier: BSD-3-Clause */
/* What trees add to the wire: parts of digits in requests, places in joins, levels in replies. */
#include <string.h>

#include <aggregate.h>

#include "cases.h"

#define PART_OF_TWO                                                                 \
	0, 3, 0, 2,                                /* first lane, lanes */          \
		1, 4, 2, 1,                        /* part, parts, lowest, width */ \
		0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 7 /* -2 and 7 */

/* A mean of 5 lanes. */
#define MEAN_REQUEST                                                                   \
	0x4e, 0x46, 1, 34, 5, 0, 0, 5, /* magic, version, op, format, status, count */ \
		0x80, 0, 0, 3,         /* chunk */                                     \
		0x12, 0x34, 7, 0x80,   /* job, worker, digits */                       \
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef /* session */

/* Two of its lanes. */
static const uint8_t digits_request[] = {MEAN_REQUEST, PART_OF_TWO};

#define LENGTH sizeof(digits_request)

/* Two levels above, 400 workers. */
static const uint8_t join_request[] = {
	0x4e, 0x46, 1, 32, 0, 0, 0, 0,                  /* header */
	0, 0, 0, 9,                                     /* id */
	0, 1, 3, 2,                                     /* job, worker, features */
	0xff, 0, 0, 0, 0, 0, 0, 1,                      /* token */
	4, 0, 0x02, 0x00, 0x05, 0xa8, 0, 0,             /* workers, shards, slots, bytes, 0 */
	0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, /* cookie */
	0x12, 0x34, 0, 0, 0, 0, 0, 0x56,                /* incarnation */
	2, 0, 0, 0, 0, 0, 0x01, 0x90,                   /* levels, decided, 0, workers */
	0, 0, 0, 50,                                    /* workers below */
	8, 3, 64, 63,                                   /* third of 8, last of 64 */
};

static int
parse_changed(size_t at, uint8_t value)
{
	struct aggregate_message message;
	uint8_t bytes[LENGTH];

	memcpy(bytes, digits_request, sizeof(bytes));
	bytes[at] = value;
	return aggregate_parse_request(bytes, sizeof(bytes), &message);
}

TEST(a_part_is_read)
{
	struct aggregate_message message;
	uint8_t built[LENGTH];

	assert_int_equal(aggregate_parse_request(digits_request, LENGTH, &message), 0);
	assert_true(aggregate_has_digits(&message));
	assert_null(message.values);
	assert_int_equal(message.owner, 0);
	assert_int_equal(message.count, 5);
	assert_int_equal(message.part.first, 3);
	assert_int_equal(message.part.lanes, 2);
	assert_int_equal(message.part.number, 1);
	assert_int_equal(message.part.parts, 4);
	assert_int_equal(message.part.lowest, 2);
	assert_int_equal(message.part.width, 1);
	assert_ptr_equal(message.part.digits,
		digits_request + AGGREGATE_HEADER_BYTES + AGGREGATE_PART_BYTES);
	assert_int_equal(aggregate_message_bytes(&message), LENGTH);
	memcpy(built, digits_request, sizeof(built));
	memset(built, 0xaa, AGGREGATE_HEADER_BYTES);
	aggregate_build_request(built, &message);
	assert_memory_equal(built, digits_request, LENGTH);
}

TEST(parts_that_cannot_be_are_refused)
{
	struct aggregate_message message;

	/* Least and greatest have no digits, copies neither; an owner may be named. */
	assert_int_equal(parse_changed(3, AGGREGATE_MIN), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(3, AGGREGATE_COPY), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(15, 0x80 + 63), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(15, 0x80 + 64), 0);
	/* Lanes beyond the chunk's, none, digits beyond the format's, none. */
	assert_int_equal(parse_changed(7, 4), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(25, 4), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(27, 3), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(27, 0), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(30, 10), 0);
	assert_int_equal(parse_changed(30, 11), 0); /* one more, as a leaf may need */
	assert_int_equal(parse_changed(30, 12), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(4, AGGREGATE_FP16), 0);
	assert_int_equal(parse_changed(31, 0), NETFC_STATUS_LENGTH);
	assert_int_equal(
		parse_changed(31, 0x81), NETFC_STATUS_LENGTH); /* marks that are not there */
	/* Part 4 of 4; of none; of 65. */
	assert_int_equal(parse_changed(28, 4), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(29, 0), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(29, 64), 0);
	assert_int_equal(parse_changed(29, 65), NETFC_STATUS_LENGTH);
	/* Fewer lanes, and something after the part. */
	assert_int_equal(parse_changed(27, 1), NETFC_STATUS_LENGTH);
	for (size_t length = AGGREGATE_HEADER_BYTES; length < LENGTH; length++)
		assert_int_equal(aggregate_parse_request(digits_request, length, &message),
			NETFC_STATUS_LENGTH);
}

TEST(a_place_is_read)
{
	struct aggregate_message message;
	uint8_t built[sizeof(join_request)];

	assert_int_equal(aggregate_parse_request(join_request, sizeof(join_request), &message), 0);
	assert_int_equal(message.join.cookie, 0xfedcba9876543210);
	assert_int_equal(message.join.place.levels, 2);
	assert_int_equal(message.join.incarnation, 0x1234000000000056);
	assert_int_equal(message.join.features, AGGREGATE_FEATURE_LEAF);
	assert_int_equal(message.join.place.workers, 400);
	assert_int_equal(message.join.place.below, 50);
	assert_int_equal(message.join.place.level[0].members, 8);
	assert_int_equal(message.join.place.level[0].index, 3);
	assert_int_equal(message.join.place.level[1].members, 64);
	assert_int_equal(message.join.place.level[1].index, 63);
	assert_true(aggregate_place_is_good(&message.join));
	assert_int_equal(aggregate_message_bytes(&message), sizeof(join_request));
	memset(built, 0xaa, sizeof(built));
	aggregate_build_request(built, &message);
	assert_memory_equal(built, join_request, sizeof(built));
	/* The list ends early; without all of it there is no place. */
	for (size_t length = 60; length < sizeof(join_request); length++)
		assert_int_equal(aggregate_parse_request(join_request, length, &message),
			NETFC_STATUS_LENGTH);
	assert_int_equal(aggregate_parse_request(join_request, 59, &message), 0);
	assert_false(aggregate_place_is_there(&message.join.place));
	assert_int_equal(aggregate_message_bytes(&message), 48);
	/* Nor is it a join without an incarnation. */
	assert_int_equal(aggregate_parse_request(join_request, 48, &message), 0);
	for (size_t length = AGGREGATE_HEADER_BYTES; length < 48; length++)
		assert_int_equal(aggregate_parse_request(join_request, length, &message),
			NETFC_STATUS_LENGTH);
}

static bool
is_good_place(uint8_t workers, struct aggregate_place place)
{
	const struct aggregate_join join = {.workers = workers, .place = place};

	return aggregate_place_is_good(&join);
}

TEST(places_that_cannot_be_are_told)
{
	const struct aggregate_place good = {.levels = 2, .workers = 11, .level = {{3, 2}, {6, 0}}};
	struct aggregate_place place = {0};

	assert_true(is_good_place(4, place));
	assert_true(is_good_place(4, good));
	assert_false(is_good_place(5, good)); /* 5, 2 others, 5 others */
	place = good;
	place.levels = 5;
	assert_false(is_good_place(1, place));
	place = good;
	place.level[1].members = 0;
	assert_false(is_good_place(1, place));
	place.level[1].members = 65;
	place.workers = 1000;
	assert_false(is_good_place(1, place));
	place.level[1].members = 64;
	assert_true(is_good_place(1, place));
	place.level[0].index = 3;
	assert_false(is_good_place(1, place));
	place = good;
	place.workers = AGGREGATE_MAX_TREE_WORKERS;
	assert_true(is_good_place(4, place));
	place.workers++;
	assert_false(is_good_place(4, place));
}

/* What refuses a part is a header, with the level of who is missing. */
TEST(a_refusal_says_at_which_level)
{
	uint8_t bytes[AGGREGATE_HEADER_BYTES];
	struct aggregate_message message;

	memcpy(bytes, digits_request, sizeof(bytes));
	aggregate_write_absence(bytes, 0, AGGREGATE_ABSENT_LEFT, 3, 5);
	aggregate_refuse(bytes, sizeof(bytes), AGGREGATE_STATUS_CODE, AGGREGATE_MISSING + 9);
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.reason, AGGREGATE_MISSING + 9);
	assert_int_equal(message.absence, AGGREGATE_ABSENT_LEFT);
	assert_int_equal(message.level, 3);
	assert_int_equal(message.detail, 5);
}
