/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and replies, byte by byte, and the cookies' hash. */
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>
#include <aggregate_registers.h>

#include "cases.h"
#include "jobs/cookie.h"

static const uint8_t sum_request[] = {
	0x4e, 0x46, 1, 33, 5, 0, 0, 2, /* magic, version, op, format, status, count */
	0x80, 0, 0, 3,                 /* chunk */
	0x12, 0x34, 7, 0,              /* job, worker, reason */
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, /* token */
	0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0,                /* 1, -2 */
};

static const uint8_t join_request[] = {
	0x4e, 0x46, 1, 32, 0, 0, 0, 0,                  /* header */
	0, 0, 0, 9,                                     /* id */
	0, 1, 3, 0,                                     /* job, worker, reason */
	0xff, 0, 0, 0, 0, 0, 0, 1,                      /* token */
	4, 0, 0x02, 0x00, 0x05, 0xa8, 0, 0,             /* workers, shards, slots, bytes, 0 */
	0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, /* cookie */
	0x80, 0, 0, 0, 0, 0, 0, 0x21,                   /* incarnation */
};

/* In memory of just that size, so that sanitizers see what is read beyond. */
static int
parse(const uint8_t *bytes, size_t length, struct aggregate_message *message)
{
	uint8_t *copy = malloc(length);
	int code;

	assert_true(copy != NULL || length == 0);
	if (length > 0)
		memcpy(copy, bytes, length);
	code = aggregate_parse_request(copy, length, message);
	if (code == 0 && message->values != NULL) {
		assert_ptr_equal(message->values, copy + AGGREGATE_HEADER_BYTES);
		message->values = bytes + AGGREGATE_HEADER_BYTES;
	}
	free(copy);
	return code;
}

TEST(a_request_is_read)
{
	struct aggregate_message message;

	assert_int_equal(parse(sum_request, sizeof(sum_request), &message), 0);
	assert_int_equal(message.op, AGGREGATE_SUM);
	assert_int_equal(message.format, AGGREGATE_FP32);
	assert_int_equal(message.count, 2);
	assert_int_equal(message.id, 0x80000003);
	assert_int_equal(message.job, 0x1234);
	assert_int_equal(message.worker, 7);
	assert_true(message.token == 0x0123456789abcdef);
	assert_ptr_equal(message.values, sum_request + 24);
	assert_int_equal(aggregate_message_bytes(&message), sizeof(sum_request));
}

TEST(a_join_is_read)
{
	struct aggregate_message message;

	assert_int_equal(parse(join_request, sizeof(join_request), &message), 0);
	assert_int_equal(message.op, AGGREGATE_JOIN);
	assert_int_equal(message.join.workers, 4);
	assert_int_equal(message.join.slots, 512);
	assert_int_equal(message.join.bytes, 1448);
	assert_true(message.join.cookie == 0xfedcba9876543210);
	assert_true(message.join.incarnation == 0x8000000000000021);
	assert_null(message.values);
	assert_int_equal(aggregate_message_bytes(&message), sizeof(join_request));
}

TEST(what_is_built_is_what_was_read)
{
	uint8_t built[sizeof(join_request)];
	struct aggregate_message message;

	assert_int_equal(parse(join_request, sizeof(join_request), &message), 0);
	memset(built, 0x55, sizeof(built));
	aggregate_build_request(built, &message);
	assert_memory_equal(built, join_request, sizeof(join_request));
	assert_int_equal(parse(sum_request, sizeof(sum_request), &message), 0);
	aggregate_build_request(built, &message);
	assert_memory_equal(built, sum_request, AGGREGATE_HEADER_BYTES);
}

static int
parse_changed(size_t at, uint8_t byte, size_t length)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[at] = byte;
	return parse(bytes, length, &message);
}

TEST(what_is_wrong_is_told_in_order)
{
	const size_t all = sizeof(sum_request);
	struct aggregate_message message;

	assert_int_equal(parse_changed(0, 0x4f, all), AGGREGATE_NOT_OURS);
	assert_int_equal(parse_changed(5, 0x80, all), AGGREGATE_NOT_OURS);
	assert_int_equal(parse_changed(2, 2, all), NETFC_STATUS_VERSION);
	assert_int_equal(parse_changed(3, 1, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(3, 38, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(3, 39, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(3, 41, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(4, 0, all), NETFC_STATUS_FORMAT);
	assert_int_equal(parse_changed(4, 15, all), NETFC_STATUS_FORMAT);
	assert_int_equal(parse_changed(7, 0, all), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(7, 3, all), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(6, 0xff, all), NETFC_STATUS_LENGTH);
	assert_int_equal(parse_changed(7, 1, all), 0);
	/* No owner is called so. */
	assert_int_equal(parse_changed(15, 63, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(15, 128 + 63, all), NETFC_STATUS_OP);
	assert_int_equal(parse_changed(15, 127, all), 0);
	/* Values with a leave; a join that is too short. */
	assert_int_equal(parse_changed(3, 40, all), NETFC_STATUS_LENGTH);
	assert_int_equal(
		parse(join_request, sizeof(join_request) - 1, &message), NETFC_STATUS_LENGTH);
}

TEST(packets_may_end_anywhere)
{
	struct aggregate_message message;

	for (size_t length = 0; length < sizeof(sum_request); length++)
		assert_int_equal(parse(sum_request, length, &message),
			length < 6 ? AGGREGATE_NOT_OURS : NETFC_STATUS_LENGTH);
	/* Of what is too short to be whole, the header is looked at first. */
	assert_int_equal(parse_changed(2, 2, 12), NETFC_STATUS_VERSION);
	assert_int_equal(parse_changed(2, 2, 11), NETFC_STATUS_LENGTH);
}

TEST(a_refusal_changes_status_and_reason_alone)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	aggregate_refuse(bytes, sizeof(bytes), AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NO_JOB);
	assert_int_equal(bytes[5], 0xf0);
	assert_int_equal(bytes[15], 3);
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.code, AGGREGATE_STATUS_CODE);
	assert_int_equal(message.reason, AGGREGATE_REASON_NO_JOB);
	bytes[5] = 0;
	bytes[15] = 0;
	assert_memory_equal(bytes, sum_request, sizeof(bytes));
	aggregate_refuse(bytes, 6, NETFC_STATUS_LENGTH, 0);
	assert_int_equal(bytes[5], 0xc0);
	assert_memory_equal(bytes + 6, sum_request + 6, sizeof(bytes) - 6);
}

TEST(a_result_is_a_reply_to_each_worker)
{
	const uint8_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message request, message;

	assert_int_equal(parse(sum_request, sizeof(sum_request), &request), 0);
	aggregate_build_result(
		bytes, &request, 2, AGGREGATE_ROUNDED, NETFC_OVERFLOW, values, sizeof(values));
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.worker, 2);
	assert_int_equal(message.flags, NETFC_OVERFLOW);
	assert_int_equal(message.code, 0);
	assert_int_equal(message.id, request.id);
	assert_memory_equal(message.values, values, sizeof(values));
	assert_int_equal(
		aggregate_parse_request(bytes, sizeof(bytes), &message), AGGREGATE_NOT_OURS);
	assert_int_equal(
		aggregate_parse_reply(bytes, sizeof(bytes) - 1, &message), AGGREGATE_NOT_OURS);
	assert_int_equal(aggregate_parse_reply(sum_request, sizeof(sum_request), &message),
		AGGREGATE_NOT_OURS);
}

/* What a switch sends that leaves the rounding to the workers. */
TEST(sums_are_read)
{
	uint8_t bytes[AGGREGATE_HEADER_BYTES + 2 * AGGREGATE_SUMS_BYTES] = {0};
	struct aggregate_message message;

	memcpy(bytes, sum_request, AGGREGATE_HEADER_BYTES);
	bytes[4] = AGGREGATE_FP16;
	bytes[5] = NETFC_STATUS_REPLY;
	bytes[15] = AGGREGATE_SUMS;
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.code, 0);
	assert_int_equal(message.reason, AGGREGATE_SUMS);
	assert_int_equal(message.count, 2);
	assert_ptr_equal(message.values, bytes + AGGREGATE_HEADER_BYTES);
	assert_int_equal(
		aggregate_parse_reply(bytes, sizeof(bytes) - 1, &message), AGGREGATE_NOT_OURS);
	for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++) {
		bytes[3] = (uint8_t)op;
		assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message),
			op <= AGGREGATE_MEAN ? 0 : AGGREGATE_NOT_OURS);
	}
	bytes[3] = AGGREGATE_SUM;
	bytes[15] = AGGREGATE_ZEROS + 1;
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), AGGREGATE_NOT_OURS);
	bytes[15] = AGGREGATE_SUMS;
	bytes[4] = AGGREGATE_FP8_E4M3;
	assert_int_equal(aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES + 8, &message), 0);
	assert_int_equal(aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES + 7, &message),
		AGGREGATE_NOT_OURS);
	bytes[4] = AGGREGATE_BF16;
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), AGGREGATE_NOT_OURS);
	/* Refused, it is a reason. */
	bytes[5] = NETFC_STATUS_REPLY | AGGREGATE_STATUS_CODE << NETFC_STATUS_CODE_SHIFT;
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.reason, AGGREGATE_REASON_OFF);
}

/* Of a copy, the owner's packet has values and no other has. */
TEST(copies_have_their_owner_s_values)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[3] = AGGREGATE_COPY;
	bytes[15] = AGGREGATE_OWNER + 7;
	assert_int_equal(parse(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.owner, AGGREGATE_OWNER + 7);
	assert_int_equal(message.reason, 0);
	assert_ptr_equal(message.values, bytes + AGGREGATE_HEADER_BYTES);
	assert_int_equal(aggregate_message_bytes(&message), sizeof(bytes));
	assert_int_equal(parse(bytes, sizeof(bytes) - 1, &message), NETFC_STATUS_LENGTH);
	/* Another's. */
	bytes[15] = AGGREGATE_OWNER + 6;
	assert_int_equal(parse(bytes, sizeof(bytes), &message), NETFC_STATUS_LENGTH);
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_null(message.values);
	assert_int_equal(message.count, 2);
	assert_int_equal(aggregate_message_bytes(&message), AGGREGATE_HEADER_BYTES);
	/* A barrier. */
	bytes[15] = bytes[7] = 0;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES + 1, &message), NETFC_STATUS_LENGTH);
}

static const uint8_t pair_request[] = {
	0x4e, 0x46, 1, 33, 0x58, 0, 0, 2,               /* fp8_e4m3, results fp32 */
	0, 0, 0, 3,                                     /* chunk */
	0x12, 0x34, 7, 0,                               /* job, worker, reason */
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, /* session */
	0x38, 0xc0,                                     /* 1, -2 */
};

TEST(results_may_have_another_format)
{
	const uint8_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t bytes[AGGREGATE_HEADER_BYTES + 8], changed[sizeof(pair_request)];
	struct aggregate_message request, message;

	assert_int_equal(parse(pair_request, sizeof(pair_request), &request), 0);
	assert_int_equal(aggregate_values_format(request.format), AGGREGATE_FP8_E4M3);
	assert_int_equal(aggregate_results_format(request.format), AGGREGATE_FP32);
	assert_int_equal(aggregate_message_bytes(&request), sizeof(pair_request));
	aggregate_build_result(bytes, &request, 2, AGGREGATE_ROUNDED, 0, values, sizeof(values));
	assert_int_equal(bytes[4], 0x58);
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_memory_equal(message.values, values, sizeof(values));
	assert_int_equal(
		aggregate_parse_reply(bytes, sizeof(bytes) - 1, &message), AGGREGATE_NOT_OURS);
	/* One that refuses has what the request had. */
	memcpy(changed, pair_request, sizeof(changed));
	aggregate_refuse(
		changed, sizeof(changed), AGGREGATE_STATUS_CODE, AGGREGATE_REASON_MISMATCH);
	assert_int_equal(aggregate_parse_reply(changed, sizeof(changed), &message), 0);
}

/* Formats that values or results cannot have: unknown, narrower, the same, of another operation. */
TEST(results_of_other_formats_are_refused)
{
	static const uint8_t pairs[] = {0x18, 0x38, 0x58, 0x19, 0x39, 0x59, 0x51, 0x53};
	uint8_t bytes[sizeof(pair_request) + 8] = {0};
	struct aggregate_message message;

	memcpy(bytes, pair_request, sizeof(pair_request));
	for (unsigned int format = AGGREGATE_FORMAT_END; format <= UINT8_MAX; format++) {
		bool known = memchr(pairs, (int)format, sizeof(pairs)) != NULL;

		bytes[4] = (uint8_t)format;
		for (uint8_t op = AGGREGATE_SUM; op <= AGGREGATE_COPY; op++) {
			bytes[3] = op;
			assert_int_equal(parse(bytes, sizeof(bytes), &message),
				known && op <= AGGREGATE_MEAN ? 0 : NETFC_STATUS_FORMAT);
		}
		assert_int_equal(aggregate_format_name(format) != NULL, known);
		assert_int_equal(aggregate_value_bytes(format) != 0, known);
		assert_int_equal(aggregate_result_value_bytes(format) != 0, known);
		for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++)
			assert_int_equal(
				aggregate_kernel(isa, AGGREGATE_MEAN, format) != NULL, known);
	}
}

TEST(acknowledgements_have_no_values)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message request, message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[15] = AGGREGATE_OWNER + 7;
	assert_int_equal(parse(bytes, sizeof(bytes), &request), 0);
	aggregate_build_result(bytes, &request, 2, AGGREGATE_ACKNOWLEDGED, NETFC_OVERFLOW, NULL, 0);
	assert_int_equal(aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_int_equal(message.reason, AGGREGATE_ACKNOWLEDGED);
	assert_int_equal(message.count, 2);
	assert_int_equal(message.worker, 2);
	assert_int_equal(message.flags, NETFC_OVERFLOW);
	assert_null(message.values);
	/* What claims to be a result and is none. */
	bytes[15] = AGGREGATE_ROUNDED;
	assert_int_equal(
		aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES, &message), AGGREGATE_NOT_OURS);
}

/* Who is missing, and why, is told in count where there are no values. */
TEST(an_absence_needs_no_values)
{
	uint8_t bytes[AGGREGATE_HEADER_BYTES];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[3] = AGGREGATE_COPY;
	aggregate_write_absence(bytes, 0, AGGREGATE_ABSENT_LATE, 0, 3);
	aggregate_refuse(bytes, sizeof(bytes), AGGREGATE_STATUS_CODE, AGGREGATE_MISSING + 9);
	assert_int_equal(aggregate_parse_reply(bytes, sizeof(bytes), &message), 0);
	assert_int_equal(message.reason, AGGREGATE_MISSING + 9);
	assert_int_equal(message.absence, AGGREGATE_ABSENT_LATE);
	assert_int_equal(message.detail, 3);
}

TEST(names_are_told)
{
	assert_string_equal(aggregate_reason_name(AGGREGATE_REASON_NO_JOB), "no-job");
	assert_string_equal(aggregate_reason_name(64), "missing");
	assert_string_equal(aggregate_reason_name(127), "missing");
	assert_null(aggregate_reason_name(128));
	assert_null(aggregate_reason_name(7));
	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++)
		if (aggregate_is_format(format))
			assert_int_equal(
				aggregate_format_by_name(aggregate_format_name(format)), format);
	assert_int_equal(aggregate_format_by_name("fp128"), 0);
	assert_null(aggregate_op_name(38));
	assert_null(aggregate_op_name(255));
	assert_null(aggregate_format_name(0));
	assert_null(aggregate_format_name(AGGREGATE_FORMAT_END));
}

/* Aumasson and Bernstein, SipHash: a fast short-input PRF, appendix A; and the reference's vectors.
 */
TEST(the_hash_is_siphash)
{
	uint8_t key[AGGREGATE_KEY_BYTES], bytes[64];

	for (uint8_t i = 0; i < sizeof(key); i++)
		key[i] = i;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_true(aggregate_siphash(key, bytes, 15) == 0xa129ca6149be45e5);
	assert_true(aggregate_siphash(key, bytes, 0) == 0x726fdb47dd0e0e31);
	assert_true(aggregate_siphash(key, bytes, 8) == 0x93f5f5799a932462);
	assert_true(aggregate_siphash(key, bytes, 63) == 0x958a324ceb064572);
}

/* A copy of nothing, which begins a call. */
TEST(labels_are_read)
{
	static const uint8_t labelled[] = {0x4e, 0x46, 1, 37, 5, 1, 0, 0, 0, 0, 0, 3, 0x12, 0x34, 7,
		0, 1, 2, 3, 4, 5, 6, 7, 8, 0x89, 0xab, 0, 1};
	uint8_t bytes[sizeof(labelled) + 1];
	struct aggregate_message message;

	memcpy(bytes, labelled, sizeof(labelled));
	assert_int_equal(parse(bytes, sizeof(labelled), &message), 0);
	assert_int_equal(message.label, 0x89ab0001);
	assert_int_equal(aggregate_message_bytes(&message), sizeof(labelled));
	memset(bytes, 0x55, sizeof(bytes));
	aggregate_build_request(bytes, &message);
	assert_memory_equal(bytes, labelled, sizeof(labelled));
	/* Cut, too long, 0, of something, of a sum; not announced; of an owner. */
	for (size_t length = AGGREGATE_HEADER_BYTES; length < sizeof(labelled); length++)
		assert_int_equal(parse(bytes, length, &message), NETFC_STATUS_LENGTH);
	assert_int_equal(parse(bytes, sizeof(bytes), &message), NETFC_STATUS_LENGTH);
	memset(bytes + AGGREGATE_HEADER_BYTES, 0, AGGREGATE_LABEL_BYTES);
	assert_int_equal(parse(bytes, sizeof(labelled), &message), NETFC_STATUS_LENGTH);
	bytes[AGGREGATE_HEADER_BYTES] = 1;
	bytes[7] = 1;
	assert_int_equal(parse(bytes, sizeof(labelled), &message), NETFC_STATUS_LENGTH);
	bytes[3] = 33;
	assert_int_equal(parse(bytes, sizeof(labelled), &message), NETFC_STATUS_LENGTH);
	memcpy(bytes, labelled, sizeof(labelled));
	bytes[5] = 0;
	assert_int_equal(parse(bytes, sizeof(labelled), &message), NETFC_STATUS_LENGTH);
	memcpy(bytes, labelled, sizeof(labelled));
	bytes[15] = 64;
	assert_int_equal(parse(bytes, sizeof(labelled), &message), NETFC_STATUS_LENGTH);
}

/* A chunk of zeros has its count and nothing behind the header. */
TEST(zeros_are_read)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[5] = AGGREGATE_OF_ZEROS;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_true(message.zeros);
	assert_null(message.values);
	assert_int_equal(message.count, 2);
	assert_int_equal(message.flags, 0);
	assert_int_equal(aggregate_message_bytes(&message), AGGREGATE_HEADER_BYTES);
	memset(bytes, 0x55, sizeof(bytes));
	aggregate_build_request(bytes, &message);
	bytes[5] = 0;
	assert_memory_equal(bytes, sum_request, AGGREGATE_HEADER_BYTES);
	/* Not announced, it is a chunk that was cut. */
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), NETFC_STATUS_LENGTH);
	/* An owner's copy is of zeros, too. */
	bytes[3] = AGGREGATE_COPY;
	bytes[5] = AGGREGATE_OF_ZEROS;
	bytes[15] = AGGREGATE_OWNER + 7;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_true(message.zeros);
}

TEST(zeros_in_place_of_anything_but_values_are_refused)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message message;

	memcpy(bytes, sum_request, sizeof(bytes));
	bytes[5] = AGGREGATE_OF_ZEROS;
	for (size_t length = AGGREGATE_HEADER_BYTES + 1; length <= sizeof(bytes); length++)
		assert_int_equal(parse(bytes, length, &message), NETFC_STATUS_LENGTH);
	/* Of digits, of no values, of another's copy, of a label, of a barrier. */
	bytes[15] = AGGREGATE_DIGITS;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), NETFC_STATUS_LENGTH);
	bytes[15] = 0;
	bytes[7] = 0;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), NETFC_STATUS_LENGTH);
	bytes[3] = AGGREGATE_COPY;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), NETFC_STATUS_LENGTH);
	bytes[5] |= AGGREGATE_LABELLED;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES + AGGREGATE_LABEL_BYTES, &message),
		NETFC_STATUS_LENGTH);
	bytes[5] = AGGREGATE_OF_ZEROS;
	bytes[7] = 2;
	bytes[15] = AGGREGATE_OWNER + 6;
	assert_int_equal(parse(bytes, AGGREGATE_HEADER_BYTES, &message), NETFC_STATUS_LENGTH);
}

TEST(results_of_zeros_are_a_header_alone)
{
	uint8_t bytes[sizeof(sum_request)];
	struct aggregate_message request, message;

	assert_int_equal(parse(sum_request, sizeof(sum_request), &request), 0);
	aggregate_build_result(bytes, &request, 2, AGGREGATE_ZEROS, 0, NULL, 0);
	assert_int_equal(aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES, &message), 0);
	assert_int_equal(message.reason, AGGREGATE_ZEROS);
	assert_int_equal(message.count, 2);
	assert_null(message.values);
	assert_int_equal(aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES + 1, &message),
		AGGREGATE_NOT_OURS);
	bytes[5] |= NETFC_UNDERFLOW;
	assert_int_equal(
		aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES, &message), AGGREGATE_NOT_OURS);
	bytes[5] = NETFC_STATUS_REPLY;
	bytes[7] = 0;
	assert_int_equal(
		aggregate_parse_reply(bytes, AGGREGATE_HEADER_BYTES, &message), AGGREGATE_NOT_OURS);
}
