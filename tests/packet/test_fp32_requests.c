/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of lanes of 32 bits that are computed, by every engine, and what is counted. */
#include "cases.h"
#include "eal.h"
#include "requests_fixture.h"

static int
set_up(void **state)
{
	return requests_set_up(state, "fp32_exact");
}

static unsigned int
op_of(unsigned int index)
{
	return NETFC_ADD + index % NETFC_DIV;
}

/* Bursts of both widths and all operations, in one segment each and cut within lanes. */
static void
check_bursts(struct fixture *f, uint64_t *seed)
{
	static const unsigned int lanes[] = {1, 2, 7, 8, 16, 17, 40, 121, 300};
	static const uint32_t cuts[] = {2048, 401, 57};

	for (unsigned int c = 0; c < RTE_DIM(cuts); c++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_ask(&f->asked[i], op_of(i / 2),
				i % 3 == 2 ? NETFC_FP16 : NETFC_FP32, lanes[i % RTE_DIM(lanes)],
				seed);
		requests_process(f, PIPELINE_BURST, cuts[c]);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_check_reply(f, i);
	}
}

TEST_WITH(every_engine_computes_both_widths, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 7;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
			requests_create_pipeline(f, match, isa);
			assert_int_equal(
				pipeline_describe_kernel(f->base.pipeline, NETFC_FP32) != NULL,
				match == MATCH_DIRECT || match == MATCH_FPU);
			check_bursts(f, &seed);
			fixture_free_pipeline(&f->base);
		}
	}
}

/* A burst of uniform requests, and again: the second one by the template. */
TEST_WITH(uniform_bursts, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 8;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int lanes = 1; lanes <= 121; lanes += 40) {
		for (unsigned int burst = 0; burst < 3; burst++) {
			for (unsigned int i = 0; i < PIPELINE_BURST; i++)
				request_ask(&f->asked[i], NETFC_MUL, NETFC_FP32, lanes, &seed);
			requests_process(f, PIPELINE_BURST, 2048);
			for (unsigned int i = 0; i < PIPELINE_BURST; i++)
				request_check_reply(f, i);
		}
	}
}

/* Wherever a packet is cut, even through the middle of a value, the bytes come out the same. */
TEST_WITH(cut_anywhere, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 9;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	request_ask(&f->asked[0], NETFC_DIV, NETFC_FP32, 5, &seed);
	for (uint32_t cut = 1; cut <= request_length(&f->asked[0]); cut++) {
		requests_process(f, 1, cut);
		request_check_reply(f, 0);
	}
}

/* More lanes than a batch has, of a datagram as long as there are. */
TEST_WITH(longest_datagram, set_up, requests_tear_down)
{
	static const enum match_kind matches[] = {MATCH_DIRECT, MATCH_HASH};
	struct fixture *f = *state;
	uint64_t seed = 10;

	for (unsigned int m = 0; m < RTE_DIM(matches); m++) {
		requests_create_pipeline(f, matches[m], vector_isa_best());
		request_ask(&f->asked[0], NETFC_ADD, NETFC_FP32, MAX_LANES, &seed);
		requests_process(f, 1, 1501);
		request_check_reply(f, 0);
		fixture_free_pipeline(&f->base);
	}
}

TEST_WITH(what_is_counted, set_up, requests_tear_down)
{
	const struct pipeline_counters *counters;
	struct fixture *f = *state;
	uint64_t seed = 15;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int i = 0; i < 8; i++) {
		request_ask(&f->asked[i], NETFC_DIV, NETFC_FP32, 3, &seed);
		for (unsigned int l = 0; l < 3; l++)
			f->asked[i].x[l] = f->asked[i].y[l] = 0x3f800000;
	}
	f->asked[0].y[0] = 0; /* divided by zero */
	f->asked[1].x[1] = f->asked[1].y[1] = 0;
	f->asked[2].op = NETFC_MIN;
	requests_process(f, 8, 2048);
	requests_process(f, 1, 60);
	counters = pipeline_worker_counters(f->base.worker);
	assert_int_equal(counters->netfc_packets, 9);
	assert_int_equal(counters->errors[NETFC_STATUS_OK], 8);
	assert_int_equal(counters->errors[NETFC_STATUS_FORMAT], 1);
	assert_int_equal(counters->lanes, 24);
	assert_int_equal(counters->exceptions[0], 1);
	assert_int_equal(counters->exceptions[1], 2);
	/* They are none of the operations that are counted by number. */
	for (unsigned int op = NETFC_ADD; op <= UINT8_MAX; op++)
		assert_int_equal(counters->extended[op], 0);
}

int
main(void)
{
	if (eal_start(1) != 0)
		return 1;
	return tests_run(NULL, NULL);
}
