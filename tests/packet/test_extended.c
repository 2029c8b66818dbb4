/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended operations through the pipeline: every argument, against the library. */
#include "cases.h"
#include "requests_fixture.h"

/* From min on. */
#define OPS (NETFC_EXTRA_END - NETFC_MIN)

static int
set_up(void **state)
{
	return requests_set_up(state, NULL);
}

/* Every argument of a function, in bursts of packets with that many lanes. */
static void
check_arguments(struct fixture *f, unsigned int op, unsigned int format, uint16_t lanes)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES;) {
		unsigned int count = 0;

		for (; count < PIPELINE_BURST && x < NETFC_FUNCTION_ENTRIES; count++) {
			struct asked *request = &f->asked[count];

			request_set(request, op, format, lanes);
			for (uint16_t l = 0; l < lanes; l++) {
				/* The last one goes round. */
				request->x[l] = (uint16_t)x++;
				request->y[l] = 0;
				request->z[l] = (uint16_t)(x * 40503);
			}
		}
		requests_process(f, count, 2048);
		for (unsigned int i = 0; i < count; i++)
			request_check_reply(f, i);
	}
}

static void
every_function(struct fixture *f, unsigned int format)
{
	const struct netfc_function *function;

	/* test_conversions.c has that to binary32. */
	for (unsigned int i = 0; (function = netfc_function_known(i)) != NULL; i++) {
		if (netfc_function_number(function) != NETFC_TO_FP32)
			requests_add_known(f, netfc_function_number(function), format);
	}
	fixture_create_pipeline(&f->base);
	for (unsigned int i = 0; i < f->base.config.function_count; i++)
		check_arguments(
			f, f->functions[i].number, format, (uint16_t[]){1, 7, 32, 243, 255}[i % 5]);
}

TEST_WITH(every_function_of_fp16, set_up, requests_tear_down)
{
	every_function(*state, NETFC_FP16);
}

TEST_WITH(every_function_of_posit16, set_up, requests_tear_down)
{
	every_function(*state, NETFC_POSIT16);
}

TEST_WITH(every_function_of_bf16, set_up, requests_tear_down)
{
	every_function(*state, NETFC_BF16);
}

TEST_WITH(every_function_of_posit16_es2, set_up, requests_tear_down)
{
	every_function(*state, NETFC_POSIT16_ES2);
}

/* Every instruction set gives the same, whatever the number of lanes. */
TEST_WITH(every_instruction_set, set_up, requests_tear_down)
{
	static const uint16_t lanes[] = {1, 2, 31, 32, 33, 63, 64, 65, 243, 1000};
	struct fixture *f = *state;

	requests_add_known(f, netfc_function_number(netfc_function_by_name("ln")), NETFC_FP16);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		f->base.config.isa = isa;
		fixture_create_pipeline(&f->base);
		for (unsigned int l = 0; l < RTE_DIM(lanes); l++)
			check_arguments(f, f->functions[0].number, NETFC_FP16, lanes[l]);
		fixture_free_pipeline(&f->base);
	}
}

/* Of every format, whether or not it has a table set. */
TEST_WITH(two_and_three_operands, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	uint64_t seed = 1;

	fixture_create_pipeline(&f->base);
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_ask_edges(&f->asked[i], NETFC_MIN + i % OPS, 1 + i / OPS % 4,
				(uint16_t)(1 + (round * 7 + i * 13) % 300), &seed);
		requests_process(f, PIPELINE_BURST, 2048);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			request_check_reply(f, i);
	}
}

/* A packet cut anywhere, even through a slot, is computed as one that is whole. */
TEST_WITH(segments_do_not_matter, set_up, requests_tear_down)
{
	struct fixture *f = *state;
	unsigned int ops[] = {NETFC_MAX, NETFC_FMA, 70};
	uint64_t seed = 2;

	requests_add_known(f, 70, NETFC_FP16);
	fixture_create_pipeline(&f->base);
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		for (uint32_t cut = 1; cut < packet_length(5); cut++) {
			request_ask_edges(&f->asked[0], ops[o], NETFC_FP16, 5, &seed);
			requests_process(f, 1, cut);
			request_check_reply(f, 0);
		}
	}
	/* More lanes than a batch has. */
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		request_ask_edges(&f->asked[0], ops[o], NETFC_FP16, 1000, &seed);
		requests_process(f, 1, 99);
		request_check_reply(f, 0);
	}
}
