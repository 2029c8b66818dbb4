/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of lanes of 32 or of 8 bits, of fp16 beside them, through a pipeline: computed by every
 * engine, and what is counted. The argument is the table set.
 */
#include <rte_random.h>

#include "cases.h"
#include "requests_fixture.h"

#define FUNCTION 70
#define CONVERSION 97

static const char *set_name;
static unsigned int format;
static uint64_t seed;

static int
set_up(void **state)
{
	seed = 7;
	requests_set_up(state, set_name);
	if (format != NETFC_FP32) {
		requests_add_known(*state, FUNCTION, format);
		requests_add_known(*state, CONVERSION, format);
	}
	return 0;
}

/* Beside 32 bits operands that matter there; beside 8 bits any, z too. */
static void
ask(struct asked *asked, unsigned int op, unsigned int of, unsigned int lanes)
{
	uint32_t mask;

	request_ask(asked, op, of, lanes, &seed);
	mask = UINT32_MAX >> (32 - 8 * asked->slot);
	for (unsigned int l = 0; l < lanes && format != NETFC_FP32; l++) {
		asked->x[l] = (uint32_t)rte_rand() & mask;
		asked->y[l] = (uint32_t)rte_rand() & mask;
		asked->z[l] = (uint32_t)rte_rand() & mask;
	}
}

/* All kinds of operations; of 32 bits there are the first four. */
static unsigned int
op_of(unsigned int index)
{
	static const unsigned int ops[] = {NETFC_ADD, NETFC_SUB, NETFC_MUL, NETFC_DIV, NETFC_MIN,
		NETFC_COMPARE, NETFC_FMA, FUNCTION, CONVERSION};

	return ops[index % (format == NETFC_FP32 ? NETFC_DIV : RTE_DIM(ops))];
}

static void
process(struct fixture *f, unsigned int count, uint32_t cut)
{
	requests_process(f, count, cut);
	for (unsigned int i = 0; i < count; i++)
		request_check_reply(f, i);
}

/* Bursts of both widths and all kinds of operations, in one segment each and cut within lanes. */
static void
check_bursts(struct fixture *f)
{
	static const unsigned int lanes[] = {
		1, 2, 3, 7, 8, 16, 17, 40, 63, 64, 65, 121, 127, 200, 300, 486, 487};
	static const uint32_t cuts[] = {2048, 401, 57};

	for (unsigned int n = 0; n < 2 * RTE_DIM(cuts); n++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
			const unsigned int count = lanes[(i + n) % RTE_DIM(lanes)];

			if (i % 3 == 2)
				ask(&f->asked[i], NETFC_ADD + i / 3 % 4, NETFC_FP16, count);
			else
				ask(&f->asked[i], op_of(i / 2), format, count);
		}
		process(f, PIPELINE_BURST, cuts[n / 2]);
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
	static const unsigned int lanes[] = {1, 7, 41, 81, 121, 486};
	struct fixture *f = *state;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int n = 0; n < 3 * RTE_DIM(lanes); n++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			ask(&f->asked[i], NETFC_MUL, format, lanes[n / 3]);
		process(f, PIPELINE_BURST, 2048);
	}
}

/*
 * Wherever a packet is cut, even through the middle of a value, the bytes come out the same; and of
 * more lanes than a batch has, of a datagram as long as there are.
 */
TEST_WITH(cut_anywhere, set_up, requests_tear_down)
{
	static const enum match_kind matches[] = {MATCH_DIRECT, MATCH_HASH};
	struct fixture *f = *state;

	for (unsigned int m = 0; m < RTE_DIM(matches); m++) {
		requests_create_pipeline(f, matches[m], vector_isa_best());
		ask(&f->asked[0], NETFC_DIV, format, 5);
		for (uint32_t cut = 1; cut <= request_length(&f->asked[0]); cut++)
			process(f, 1, cut);
		for (unsigned int lanes = 511; lanes <= 513; lanes++) {
			ask(&f->asked[0], NETFC_SUB, format, lanes);
			process(f, 1, 1001);
		}
		for (unsigned int lanes = MAX_LANES - 1; lanes <= MAX_LANES; lanes++) {
			ask(&f->asked[0], NETFC_ADD, format, lanes);
			process(f, 1, 1501);
		}
		fixture_free_pipeline(&f->base);
	}
}

TEST_WITH(what_is_counted, set_up, requests_tear_down)
{
	const uint32_t one = format == NETFC_FP32 ? 0x3f800000
		: format == NETFC_FP8_E4M3        ? 0x38
						  : 0x3c;
	const struct pipeline_counters *counters;
	struct fixture *f = *state;

	requests_create_pipeline(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int i = 0; i < 8; i++) {
		ask(&f->asked[i], NETFC_DIV, format, 3);
		for (unsigned int l = 0; l < 3; l++)
			f->asked[i].x[l] = f->asked[i].y[l] = one;
	}
	f->asked[0].y[0] = 0; /* divided by zero */
	f->asked[1].x[1] = f->asked[1].y[1] = 0;
	f->asked[2].format = NETFC_SET_FORMAT_END;
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
main(int argc, char **argv)
{
	return requests_main(argc, argv, &set_name, &format);
}
