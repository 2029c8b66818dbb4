/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of lanes of 8 bits, of fp16 beside them, through a pipeline: computed by every engine,
 * refused where they should be, and nothing else touched. The argument is the table set.
 */
#include <string.h>

#include <rte_random.h>

#include "cases.h"
#include "eal.h"
#include "requests_fixture.h"

#define FUNCTION 70
#define CONVERSION 97

static const char *set_name;
static unsigned int format;

static int
set_up(void **state)
{
	requests_set_up(state, set_name);
	requests_add_known(*state, FUNCTION, format);
	requests_add_known(*state, CONVERSION, format);
	return 0;
}

/* All operands are random, z too. */
static void
ask(struct asked *asked, unsigned int op, unsigned int of, unsigned int lanes)
{
	uint32_t mask;

	request_set(asked, op, of, lanes);
	mask = UINT32_MAX >> (32 - 8 * asked->slot);
	for (unsigned int l = 0; l < lanes; l++) {
		asked->x[l] = (uint32_t)rte_rand() & mask;
		asked->y[l] = (uint32_t)rte_rand() & mask;
		asked->z[l] = (uint32_t)rte_rand() & mask;
	}
}

/* Bursts of both widths and all kinds of operations, in one segment each and cut within lanes. */
static void
check_bursts(struct fixture *f)
{
	static const unsigned int lanes[] = {1, 2, 3, 8, 16, 17, 63, 64, 65, 127, 486};
	static const unsigned int ops[] = {NETFC_ADD, NETFC_SUB, NETFC_MUL, NETFC_DIV, NETFC_MIN,
		NETFC_COMPARE, NETFC_FMA, FUNCTION, CONVERSION};
	static const uint32_t cuts[] = {2048, 401, 57};

	for (unsigned int c = 0; c < RTE_DIM(cuts); c++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
			const bool wide = i % 5 == 4;
			const unsigned int op = wide ? NETFC_ADD + i % 4 : ops[i % RTE_DIM(ops)];

			ask(&f->asked[i], op, wide ? NETFC_FP16 : format,
				RTE_MIN(lanes[i % RTE_DIM(lanes)], wide ? 200u : 486u));
		}
		requests_process(f, PIPELINE_BURST, cuts[c]);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_check_reply(f, i);
	}
}

TEST_WITH(every_engine_computes_both_widths, set_up, requests_tear_down)
{
	struct fixture *f = *state;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
			requests_create_pipeline(f, match, isa);
			assert_int_equal(pipeline_describe_kernel(f->base.pipeline, format) != NULL,
				match == MATCH_DIRECT || match == MATCH_FPU);
			check_bursts(f);
			fixture_free_pipeline(&f->base);
		}
	}
}

/* A burst of uniform requests, and again: the second one by the template. */
TEST_WITH(uniform_bursts, set_up, requests_tear_down)
{
	static const unsigned int lanes[] = {1, 7, 486};
	struct fixture *f = *state;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int n = 0; n < 3 * RTE_DIM(lanes); n++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			ask(&f->asked[i], NETFC_MUL, format, lanes[n / 3]);
		requests_process(f, PIPELINE_BURST, 2048);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_check_reply(f, i);
	}
}

/* Wherever a packet is cut, the bytes come out the same; and of more lanes than a batch has. */
TEST_WITH(cut_anywhere, set_up, requests_tear_down)
{
	struct fixture *f = *state;

	requests_create_pipeline(f, MATCH_HASH, vector_isa_best());
	ask(&f->asked[0], NETFC_DIV, format, 5);
	for (uint32_t cut = 1; cut <= request_length(&f->asked[0]); cut++) {
		requests_process(f, 1, cut);
		request_check_reply(f, 0);
	}
	for (unsigned int lanes = 511; lanes <= 513; lanes++) {
		ask(&f->asked[0], NETFC_SUB, format, lanes);
		requests_process(f, 1, 1001);
		request_check_reply(f, 0);
	}
	ask(&f->asked[0], NETFC_ADD, format, 2999);
	requests_process(f, 1, 1501);
	request_check_reply(f, 0);
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

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int c = 0; c < 2 * RTE_DIM(cases); c++) {
		uint8_t *frame = f->frames[0], before[128];
		uint32_t length;

		ask(&f->asked[0], NETFC_ADD, format, cases[c / 2].lanes);
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
	ask(&f->asked[0], NETFC_MAX, format, 33);
	requests_process(f, 1, 2048);
	request_check_reply(f, 0);
}

/* The name of a function stands in slots of two bytes. */
TEST_WITH(a_name_is_found, set_up, requests_tear_down)
{
	struct fixture *f = *state;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	ask(&f->asked[0], NETFC_OP_NAME, format, NETFC_NAME_LANES);
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
	struct netfc_set_id id;

	if (argc != 2 || netfc_set_parse_name(argv[1], &id) != NETFC_OK || eal_start(1) != 0)
		return 1;
	set_name = argv[1];
	format = netfc_format_id(id.format);
	return tests_run(NULL, NULL);
}
