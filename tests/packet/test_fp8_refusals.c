/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of lanes of 8 bits that are refused, and what they have that those of 32 bits have not:
 * functions, and padding. The argument is the table set.
 */
#include <string.h>

#include "cases.h"
#include "requests_fixture.h"

#define FUNCTION 70

static const char *set_name;
static unsigned int format;

static int
set_up(void **state)
{
	requests_set_up(state, set_name);
	requests_add_known(*state, FUNCTION, format);
	return 0;
}

/* Say that there are more lanes than the datagram has space for. */
TEST_WITH(lengths_and_counts, set_up, requests_tear_down)
{
	static const struct {
		unsigned int lanes, count;
		enum netfc_status code;
	} cases[] = {
		{10, 10, NETFC_STATUS_OK},
		{10, 9, NETFC_STATUS_OK}, /* in the places of 10 */
		{9, 9, NETFC_STATUS_OK},
		{9, 10, NETFC_STATUS_OK}, /* what fills up is a lane then */
		{9, 11, NETFC_STATUS_LENGTH},
		{10, 11, NETFC_STATUS_LENGTH},
		{10, 12, NETFC_STATUS_LENGTH},
		{10, 0, NETFC_STATUS_LENGTH},
		{10, 10922, NETFC_STATUS_LENGTH},
		{10, 10923, NETFC_STATUS_LENGTH},
		{10, 21845, NETFC_STATUS_LENGTH},
		{10, 21846, NETFC_STATUS_LENGTH},
		{10, 65535, NETFC_STATUS_LENGTH},
	};
	struct fixture *f = *state;
	uint64_t seed = 11;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int c = 0; c < 2 * RTE_DIM(cases); c++) {
		uint8_t *frame = f->frames[0], before[128];
		uint32_t length;

		request_ask(&f->asked[0], NETFC_ADD, format, cases[c / 2].lanes, &seed);
		request_write(f, 0);
		packet_write_count(frame, (uint16_t)cases[c / 2].count);
		length = request_length(&f->asked[0]);
		memcpy(before, frame, length);
		frames_process(f, &length, 1, c % 2 == 0 ? 2048 : 57);
		assert_true(packet_status(frame) & NETFC_STATUS_REPLY);
		assert_int_equal(
			packet_status(frame) >> NETFC_STATUS_CODE_SHIFT & 7, cases[c / 2].code);
		if (cases[c / 2].code != NETFC_STATUS_OK)
			assert_memory_equal(frame + PACKET_HEADERS, before + PACKET_HEADERS,
				length - PACKET_HEADERS);
	}
}

/* Without a set, and for what there is none of. */
TEST_WITH(what_is_not_computed, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 11;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	requests_check_refused(f, 71, format, NETFC_STATUS_OP);
	requests_check_refused(f, FUNCTION, NETFC_FP16, NETFC_STATUS_FORMAT);
	requests_check_refused(f, NETFC_ADD,
		format == NETFC_FP8_E4M3 ? NETFC_FP8_E5M2 : NETFC_FP8_E4M3, NETFC_STATUS_FORMAT);
	requests_check_refused(f, NETFC_ADD, 6, NETFC_STATUS_FORMAT);
	requests_check_refused(f, NETFC_ADD, 7, NETFC_STATUS_FORMAT);
	requests_check_refused(f, NETFC_ADD, NETFC_SET_FORMAT_END, NETFC_STATUS_FORMAT);
	requests_check_refused(f, NETFC_OP_QUERY, format, NETFC_STATUS_FORMAT);
	fixture_free_pipeline(&f->base);
	f->base.config.sets[format] = NULL;
	f->base.config.function_count = 0;
	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++)
		requests_check_refused(f, op, format, NETFC_STATUS_FORMAT);
	requests_check_refused(f, FUNCTION, format, NETFC_STATUS_OP);
	request_ask(&f->asked[0], NETFC_MAX, format, 33, &seed);
	requests_process(f, 1, 2048);
	request_check_reply(f, 0);
}

/* The name of a function stands in slots of two bytes. */
TEST_WITH(a_name_is_found, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 11;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	request_ask(&f->asked[0], NETFC_OP_NAME, format, NETFC_NAME_LANES, &seed);
	memset(f->asked[0].x, 0, sizeof(f->asked[0].x));
	memset(f->asked[0].y, 0, sizeof(f->asked[0].y));
	f->asked[0].x[0] = 's' << 8 | 'q';
	f->asked[0].x[1] = 'r' << 8 | 't';
	requests_process(f, 1, 2048);
	assert_int_equal(packet_status(f->frames[0]), NETFC_STATUS_REPLY);
	assert_int_equal(request_result(f, 0, 0), FUNCTION);
	assert_true(packet_checksum_is_right(f->frames[0]));
}

int
main(int argc, char **argv)
{
	return requests_main(argc, argv, &set_name, &format);
}
