/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of lanes of 32 bits that are refused: for their length, operation or format. */
#include <string.h>

#include "cases.h"
#include "requests_fixture.h"

/* Offsets of a frame over IPv4. */
#define IP_LENGTH_AT 16
#define IP_CHECKSUM_AT 24
#define UDP_LENGTH_AT 38

static int
set_up(void **state)
{
	return requests_set_up(state, "fp32_exact");
}

static void
put_16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Say another count, or that the datagram is shorter or longer. */
static void
change(uint8_t *frame, unsigned int count, uint32_t length)
{
	packet_write_count(frame, (uint16_t)count);
	put_16(frame + IP_LENGTH_AT, length - 14);
	put_16(frame + UDP_LENGTH_AT, length - 34);
	/* No checksums: IPv4's is not looked at, UDP's is none. */
	put_16(frame + IP_CHECKSUM_AT, 0);
	put_16(frame + UDP_LENGTH_AT + 2, 0);
}

TEST_WITH(lengths_and_counts, set_up, requests_tear_down)
{
	const uint32_t whole = PACKET_HEADERS + 10 * NETFC_WIDE_LANE_BYTES;
	const struct {
		unsigned int count;
		uint32_t length;
		enum netfc_status code;
	} cases[] = {
		{10, whole, NETFC_STATUS_OK},
		{10, whole + 1, NETFC_STATUS_OK},
		{9, whole, NETFC_STATUS_OK},
		{0, whole, NETFC_STATUS_LENGTH},
		{10, whole - 1, NETFC_STATUS_LENGTH},
		{11, whole, NETFC_STATUS_LENGTH},
		{20, whole, NETFC_STATUS_LENGTH}, /* 6 bytes a lane would fit */
		{21, whole, NETFC_STATUS_LENGTH},
		{5461, whole, NETFC_STATUS_LENGTH},
		{5462, whole, NETFC_STATUS_LENGTH}, /* 12 times it is 8 more than 2^16 */
		{10922, whole, NETFC_STATUS_LENGTH},
		{10923, whole, NETFC_STATUS_LENGTH},
		{65535, whole, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS + 12, NETFC_STATUS_OK},
		{1, PACKET_HEADERS + 11, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS + 6, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS, NETFC_STATUS_LENGTH},
	};
	struct fixture *f = *state;
	uint64_t seed = 11;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int c = 0; c < 2 * RTE_DIM(cases); c++) {
		const unsigned int n = c / 2;
		const uint32_t length = RTE_MAX(cases[n].length, whole);
		uint8_t before[PACKET_HEADERS + 11 * NETFC_WIDE_LANE_BYTES];

		request_ask(&f->asked[0], NETFC_ADD, NETFC_FP32, 10, &seed);
		request_write(f, 0);
		change(f->frames[0], cases[n].count, cases[n].length);
		memcpy(before, f->frames[0], length);
		frames_process(f, &length, 1, c % 2 == 0 ? 2048 : 57);
		assert_int_equal(
			packet_status(f->frames[0]) >> NETFC_STATUS_CODE_SHIFT & 7, cases[n].code);
		assert_true(packet_status(f->frames[0]) & NETFC_STATUS_REPLY);
		if (cases[n].code != NETFC_STATUS_OK)
			assert_memory_equal(f->frames[0] + PACKET_HEADERS, before + PACKET_HEADERS,
				length - PACKET_HEADERS);
	}
}

TEST_WITH(what_is_not_computed, set_up, requests_tear_down)
{
	static uint16_t z[NETFC_FUNCTION_ENTRIES];
	static uint8_t flags[NETFC_FUNCTION_ENTRIES];
	static const struct pipeline_function sqrt_fp16 = {"sqrt", 70, NETFC_FP16, z, flags};
	struct fixture *f = *state;

	f->base.config.functions = &sqrt_fp16;
	f->base.config.function_count = 1;
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		requests_create_pipeline(f, match, vector_isa_best());
		/* Operations that formats of 16 bits have. */
		for (unsigned int op = NETFC_MIN; op < NETFC_EXTRA_END; op++)
			requests_check_refused(f, op, NETFC_FP32, NETFC_STATUS_FORMAT);
		requests_check_refused(f, 70, NETFC_FP32, NETFC_STATUS_FORMAT);
		requests_check_refused(f, NETFC_OP_QUERY, NETFC_FP32, NETFC_STATUS_FORMAT);
		requests_check_refused(f, NETFC_OP_NAME, NETFC_FP32, NETFC_STATUS_FORMAT);
		/* Those that no format has. */
		requests_check_refused(f, 0, NETFC_FP32, NETFC_STATUS_OP);
		requests_check_refused(f, 71, NETFC_FP32, NETFC_STATUS_OP);
		requests_check_refused(f, NETFC_ADD, NETFC_SET_FORMAT_END, NETFC_STATUS_FORMAT);
		fixture_free_pipeline(&f->base);
	}
}

/* Without its table set, binary32 is a format like any that is not loaded. */
TEST_WITH(without_its_set, set_up, requests_tear_down)
{
	struct fixture *f = *state;

	f->base.config.sets[NETFC_FP32] = NULL;
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		requests_create_pipeline(f, match, vector_isa_best());
		assert_null(pipeline_describe_kernel(f->base.pipeline, NETFC_FP32));
		for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++)
			requests_check_refused(f, op, NETFC_FP32, NETFC_STATUS_FORMAT);
		fixture_free_pipeline(&f->base);
	}
}

/* With it alone. */
TEST_WITH(with_its_set_alone, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 13;

	f->base.config.sets[NETFC_FP16] = NULL;
	requests_create_pipeline(f, MATCH_LPM, vector_isa_best());
	request_ask(&f->asked[0], NETFC_SUB, NETFC_FP32, 9, &seed);
	request_ask(&f->asked[1], NETFC_SUB, NETFC_FP16, 9, &seed);
	requests_process(f, 2, 2048);
	request_check_reply(f, 0);
	request_check_error(f, 1, NETFC_STATUS_FORMAT);
}

/* The four have no names that could be asked for, not even an empty one. */
TEST_WITH(no_names, set_up, requests_tear_down)
{
	static const char *const names[] = {"", "add", "fp32"};
	struct fixture *f = *state;
	uint64_t seed = 14;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int n = 0; n < RTE_DIM(names); n++) {
		request_ask(&f->asked[0], NETFC_OP_NAME, NETFC_FP16, NETFC_NAME_LANES, &seed);
		memset(f->asked[0].x, 0, sizeof(f->asked[0].x));
		memset(f->asked[0].y, 0, sizeof(f->asked[0].y));
		for (size_t c = 0; c < strlen(names[n]); c++)
			f->asked[0].x[c / 2] |= (uint32_t)names[n][c] << (c % 2 == 0 ? 8 : 0);
		requests_process(f, 1, 2048);
		request_check_error(f, 0, NETFC_STATUS_OP);
	}
}
