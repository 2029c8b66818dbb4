/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended operations through the pipeline: every argument, against the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eal.h"
#include "extended_fixture.h"

static struct asked asked[PIPELINE_BURST];
static uint8_t frames[PIPELINE_BURST][8192];

/* Every argument of a function, in bursts of packets with that many lanes. */
static void
check_arguments(struct fixture *f, unsigned int op, unsigned int format, uint16_t lanes)
{
	for (uint32_t x = 0; x < ENTRIES;) {
		unsigned int count = 0;

		for (; count < PIPELINE_BURST && x < ENTRIES; count++) {
			struct asked *request = &asked[count];

			*request = (struct asked){.op = op, .format = format, .lanes = lanes};
			for (uint16_t l = 0; l < lanes; l++) {
				/* The last one goes round. */
				request->x[l] = (uint16_t)x++;
				request->z[l] = (uint16_t)(x * 40503);
			}
		}
		extended_process(f, asked, frames, count, 2048);
		for (unsigned int i = 0; i < count; i++)
			extended_check_reply(f, frames[i], &asked[i]);
	}
}

static void
every_function(struct fixture *f, unsigned int format)
{
	const struct netfc_function *function;

	/* test_conversions.c has that to binary32. */
	for (unsigned int i = 0; (function = netfc_function_known(i)) != NULL; i++) {
		if (netfc_function_number(function) != NETFC_TO_FP32)
			extended_add_known(f, function, format);
	}
	fixture_create_pipeline(&f->base);
	for (unsigned int i = 0; i < f->base.config.function_count; i++)
		check_arguments(
			f, f->functions[i].number, format, (uint16_t[]){1, 7, 32, 243, 255}[i % 5]);
}

static void
every_function_of_fp16(void **state)
{
	every_function(*state, NETFC_FP16);
}

static void
every_function_of_posit16(void **state)
{
	every_function(*state, NETFC_POSIT16);
}

static void
every_function_of_bf16(void **state)
{
	every_function(*state, NETFC_BF16);
}

static void
every_function_of_posit16_es2(void **state)
{
	every_function(*state, NETFC_POSIT16_ES2);
}

/* Every instruction set gives the same, whatever the number of lanes. */
static void
every_instruction_set(void **state)
{
	static const uint16_t lanes[] = {1, 2, 31, 32, 33, 63, 64, 65, 243, 1000};
	struct fixture *f = *state;

	extended_add_known(f, netfc_function_by_name("ln"), NETFC_FP16);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		f->base.config.isa = isa;
		fixture_create_pipeline(&f->base);
		for (unsigned int l = 0; l < RTE_DIM(lanes); l++)
			check_arguments(f, f->functions[0].number, NETFC_FP16, lanes[l]);
		fixture_free_pipeline(&f->base);
	}
}

/* Min, max, compare and fma: of every format, whether or not it has a table set. */
static void
two_and_three_operands(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 1;

	fixture_create_pipeline(&f->base);
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			extended_fill_request(&asked[i], NETFC_MIN + i % 4, 1 + i / 4 % 4,
				(uint16_t)(1 + (round * 7 + i * 13) % 300), &seed);
		extended_process(f, asked, frames, PIPELINE_BURST, 2048);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			extended_check_reply(f, frames[i], &asked[i]);
	}
}

/* A packet cut anywhere, even through a slot, is computed as one that is whole. */
static void
segments_do_not_matter(void **state)
{
	struct fixture *f = *state;
	unsigned int ops[] = {NETFC_MAX, NETFC_FMA, 70};
	uint64_t seed = 2;

	extended_add_known(f, netfc_function_by_number(70), NETFC_FP16);
	fixture_create_pipeline(&f->base);
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		for (uint32_t cut = 1; cut < packet_length(5); cut++) {
			extended_fill_request(&asked[0], ops[o], NETFC_FP16, 5, &seed);
			extended_process(f, asked, frames, 1, cut);
			extended_check_reply(f, frames[0], &asked[0]);
		}
	}
	/* More lanes than a batch has. */
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		extended_fill_request(&asked[0], ops[o], NETFC_FP16, 1000, &seed);
		extended_process(f, asked, frames, 1, 99);
		extended_check_reply(f, frames[0], &asked[0]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_function_of_fp16, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			every_function_of_posit16, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			every_function_of_bf16, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			every_function_of_posit16_es2, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			every_instruction_set, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			two_and_three_operands, extended_set_up, extended_tear_down),
		cmocka_unit_test_setup_teardown(
			segments_do_not_matter, extended_set_up, extended_tear_down),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
