/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of lanes of 8 bits, of fp16 beside them, through a pipeline: computed by every engine,
 * refused where they should be, and nothing else touched. The argument is the table set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_random.h>

#include "eal.h"
#include "packets.h"
#include "pipeline_fixture.h"

#define MOST_LANES 3000u /* several batches of the slow path, of an odd number of lanes */
#define MOST_WORDS ((MOST_LANES + 1) / 2)
#define FUNCTION 70
#define CONVERSION 97

static const char *set_name;
static unsigned int format;

/* Slots as bytes; those of fp16 and of conversions are two each. */
struct asked {
	unsigned int op, format, lanes, slot;
	uint8_t x[MOST_LANES], y[MOST_LANES], z[MOST_LANES];
};

struct fixture {
	struct pipeline_fixture base;
	struct asked asked[PIPELINE_BURST];
	uint8_t frames[PIPELINE_BURST][PACKET_HEADERS + 6 * MOST_WORDS + 2];
};

static uint16_t values[2][NETFC_FUNCTION_ENTRIES];
static uint8_t flags[2][NETFC_FUNCTION_ENTRIES];

static int
set_up(void **state)
{
	static struct pipeline_function functions[2] = {
		{"sqrt", FUNCTION, 0, values[0], flags[0]},
		{"to_fp16", CONVERSION, 0, values[1], flags[1]},
	};
	const char *const names[] = {"fp16_k8", set_name};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_set_up(&f->base, names, RTE_DIM(names));
	for (unsigned int n = 0; n < RTE_DIM(functions); n++) {
		functions[n].format = (uint8_t)format;
		assert_int_equal(
			netfc_function_table(netfc_function_by_number(functions[n].number),
				netfc_set_format(f->base.set[format]), values[n], flags[n]),
			NETFC_OK);
	}
	f->base.config.functions = functions;
	f->base.config.function_count = RTE_DIM(functions);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	fixture_tear_down(&f->base);
	free(f);
	return 0;
}

static void
create(struct fixture *f, enum match_kind match, enum vector_isa isa)
{
	f->base.config.match = match;
	f->base.config.isa = isa;
	fixture_create_pipeline(&f->base);
}

static void
ask(struct asked *asked, unsigned int op, unsigned int of, unsigned int lanes)
{
	*asked = (struct asked){.op = op, .format = of, .lanes = lanes};
	asked->slot = netfc_wire_slot_bytes(op, of);
	for (unsigned int b = 0; b < asked->slot * lanes; b++) {
		asked->x[b] = (uint8_t)rte_rand();
		asked->y[b] = (uint8_t)rte_rand();
		asked->z[b] = (uint8_t)rte_rand();
	}
}

static unsigned int
words_of(const struct asked *asked)
{
	return (asked->slot * asked->lanes + 1) / 2;
}

static uint32_t
length_of(const struct asked *asked)
{
	return packet_length(words_of(asked));
}

/* Bytes as words; what fills up is `fill`. */
static void
join(const struct asked *asked, const uint8_t *bytes, uint8_t fill, uint16_t *words)
{
	const unsigned int count = asked->slot * asked->lanes;

	for (unsigned int w = 0; w < words_of(asked); w++) {
		const uint8_t second = 2 * w + 1 < count ? bytes[2 * w + 1] : fill;

		words[w] = (uint16_t)(bytes[2 * w] << 8 | second);
	}
}

/* What fills up need not be 0. */
static void
write_request(struct fixture *f, unsigned int index)
{
	static uint16_t x[MOST_WORDS], y[MOST_WORDS], z[MOST_WORDS];
	const struct asked *asked = &f->asked[index];
	const uint16_t words = (uint16_t)words_of(asked);

	join(asked, asked->x, 0x7f, x);
	join(asked, asked->y, 0xff, y);
	join(asked, asked->z, 0x5a, z);
	packet_write(f->frames[index], asked->op, asked->format, words, x, y);
	packet_write_count(f->frames[index], (uint16_t)asked->lanes);
	packet_write_results(f->frames[index], words, z);
}

static void
process(struct fixture *f, unsigned int count, uint32_t cut)
{
	struct fixture_burst burst = {.count = count};

	for (unsigned int i = 0; i < count; i++) {
		write_request(f, i);
		burst.bytes[i] = f->frames[i];
		burst.length[i] = length_of(&f->asked[i]);
	}
	fixture_process(&f->base, &burst, cut);
}

static uint32_t
operand(const struct asked *asked, const uint8_t *bytes, unsigned int lane)
{
	return asked->slot == 1 ? bytes[lane]
				: (uint32_t)bytes[2 * lane] << 8 | bytes[2 * lane + 1];
}

static struct netfc_result
expected_of(const struct fixture *f, const struct asked *asked, unsigned int lane)
{
	const struct netfc_set *set = f->base.set[asked->format];
	const uint32_t x = operand(asked, asked->x, lane), y = operand(asked, asked->y, lane);

	if (asked->op == FUNCTION)
		return (struct netfc_result){values[0][x], flags[0][x]};
	if (asked->op == CONVERSION)
		return (struct netfc_result){values[1][x & UINT8_MAX], flags[1][x & UINT8_MAX]};
	if (asked->op > NETFC_DIV)
		return netfc_extra(
			netfc_set_format(set), asked->op, x, y, operand(asked, asked->z, lane));
	if (asked->format == format || f->base.config.match == MATCH_FPU)
		return netfc_exact(netfc_set_format(set), asked->op, x, y);
	return netfc_calc(set, asked->op, x, y);
}

/* x, y and what fills up are as they were. */
static void
check_operands(const struct fixture *f, unsigned int index)
{
	static uint16_t x[MOST_WORDS], y[MOST_WORDS];
	const struct asked *asked = &f->asked[index];
	const uint8_t *at = f->frames[index] + PACKET_HEADERS;
	const unsigned int words = words_of(asked);

	join(asked, asked->x, 0x7f, x);
	join(asked, asked->y, 0xff, y);
	for (unsigned int w = 0; w < words; w++) {
		assert_int_equal(at[2 * w] << 8 | at[2 * w + 1], x[w]);
		assert_int_equal(at[2 * (words + w)] << 8 | at[2 * (words + w) + 1], y[w]);
	}
	if (asked->slot * asked->lanes % 2 == 1)
		assert_int_equal(at[6 * words - 1], 0x5a);
}

static uint32_t
result_of(const struct fixture *f, unsigned int index, unsigned int lane)
{
	const struct asked *asked = &f->asked[index];

	return operand(asked, f->frames[index] + PACKET_HEADERS + 4 * words_of(asked), lane);
}

static void
check_reply(const struct fixture *f, unsigned int index)
{
	const struct asked *asked = &f->asked[index];
	uint8_t any = 0;

	for (unsigned int l = 0; l < asked->lanes; l++) {
		const struct netfc_result expected = expected_of(f, asked, l);

		assert_int_equal(result_of(f, index, l), expected.z);
		any |= expected.flags;
	}
	assert_int_equal(packet_status(f->frames[index]), NETFC_STATUS_REPLY | any);
	assert_true(packet_checksum_is_right(f->frames[index]));
	check_operands(f, index);
}

static void
check_error(const struct fixture *f, unsigned int index, enum netfc_status code)
{
	const struct asked *asked = &f->asked[index];

	assert_int_equal(packet_status(f->frames[index]),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (unsigned int l = 0; l < asked->lanes; l++)
		assert_int_equal(result_of(f, index, l), operand(asked, asked->z, l));
	assert_true(packet_checksum_is_right(f->frames[index]));
	check_operands(f, index);
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
		process(f, PIPELINE_BURST, cuts[c]);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			check_reply(f, i);
	}
}

static void
every_engine_computes_both_widths(void **state)
{
	struct fixture *f = *state;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
			create(f, match, isa);
			assert_int_equal(pipeline_kernel(f->base.pipeline, format) != NULL,
				match == MATCH_DIRECT || match == MATCH_FPU);
			check_bursts(f);
			fixture_free_pipeline(&f->base);
		}
	}
}

/* A burst of requests that are all alike, and again: the second one by the template. */
static void
bursts_that_are_alike(void **state)
{
	static const unsigned int lanes[] = {1, 7, 486};
	struct fixture *f = *state;

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int n = 0; n < 3 * RTE_DIM(lanes); n++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			ask(&f->asked[i], NETFC_MUL, format, lanes[n / 3]);
		process(f, PIPELINE_BURST, 2048);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			check_reply(f, i);
	}
}

/* Wherever a packet is cut, the bytes come out the same; and of more lanes than a batch has. */
static void
cut_anywhere(void **state)
{
	struct fixture *f = *state;

	create(f, MATCH_HASH, vector_isa_best());
	ask(&f->asked[0], NETFC_DIV, format, 5);
	for (uint32_t cut = 1; cut <= length_of(&f->asked[0]); cut++) {
		process(f, 1, cut);
		check_reply(f, 0);
	}
	for (unsigned int lanes = 511; lanes <= 513; lanes++) {
		ask(&f->asked[0], NETFC_SUB, format, lanes);
		process(f, 1, 1001);
		check_reply(f, 0);
	}
	ask(&f->asked[0], NETFC_ADD, format, MOST_LANES - 1);
	process(f, 1, 1501);
	check_reply(f, 0);
}

/* Say that there are more lanes than the datagram has space for. */
static void
lengths_and_counts(void **state)
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

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int c = 0; c < 2 * RTE_DIM(cases); c++) {
		struct fixture_burst burst = {.count = 1};
		uint8_t *frame = f->frames[0], before[128];

		ask(&f->asked[0], NETFC_ADD, format, cases[c / 2].lanes);
		write_request(f, 0);
		packet_write_count(frame, (uint16_t)cases[c / 2].count);
		burst.bytes[0] = frame;
		burst.length[0] = length_of(&f->asked[0]);
		memcpy(before, frame, burst.length[0]);
		fixture_process(&f->base, &burst, c % 2 == 0 ? 2048 : 57);
		assert_true(packet_status(frame) & NETFC_STATUS_REPLY);
		assert_int_equal(
			packet_status(frame) >> NETFC_STATUS_CODE_SHIFT & 7, cases[c / 2].code);
		if (cases[c / 2].code != NETFC_STATUS_OK)
			assert_memory_equal(frame + PACKET_HEADERS, before + PACKET_HEADERS,
				burst.length[0] - PACKET_HEADERS);
	}
}

static void
check_refused(struct fixture *f, unsigned int op, unsigned int of, enum netfc_status code)
{
	for (unsigned int i = 0; i < 3; i++)
		ask(&f->asked[i], NETFC_ADD, NETFC_FP16, 20);
	ask(&f->asked[1], op, of, 21);
	for (uint32_t cut = 59; cut <= 2048; cut += 1989) {
		process(f, 3, cut);
		check_reply(f, 0);
		check_error(f, 1, code);
		check_reply(f, 2);
	}
}

/* Without a set, and for what there is none of. */
static void
what_is_not_computed(void **state)
{
	struct fixture *f = *state;

	create(f, MATCH_DIRECT, vector_isa_best());
	check_refused(f, 71, format, NETFC_STATUS_OP);
	check_refused(f, FUNCTION, NETFC_FP16, NETFC_STATUS_FORMAT);
	check_refused(f, NETFC_ADD, format == NETFC_FP8_E4M3 ? NETFC_FP8_E5M2 : NETFC_FP8_E4M3,
		NETFC_STATUS_FORMAT);
	check_refused(f, NETFC_ADD, 6, NETFC_STATUS_FORMAT);
	check_refused(f, NETFC_ADD, 7, NETFC_STATUS_FORMAT);
	check_refused(f, NETFC_ADD, NETFC_SET_FORMAT_END, NETFC_STATUS_FORMAT);
	check_refused(f, NETFC_OP_QUERY, format, NETFC_STATUS_FORMAT);
	fixture_free_pipeline(&f->base);
	f->base.config.sets[format] = NULL;
	f->base.config.function_count = 0;
	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++)
		check_refused(f, op, format, NETFC_STATUS_FORMAT);
	check_refused(f, FUNCTION, format, NETFC_STATUS_OP);
	ask(&f->asked[0], NETFC_MAX, format, 33);
	process(f, 1, 2048);
	check_reply(f, 0);
}

/* The name of a function stands in slots of two bytes. */
static void
a_name_is_found(void **state)
{
	struct fixture *f = *state;

	create(f, MATCH_DIRECT, vector_isa_best());
	ask(&f->asked[0], NETFC_OP_NAME, format, NETFC_NAME_LANES);
	memset(f->asked[0].x, 0, sizeof(f->asked[0].x));
	memset(f->asked[0].y, 0, sizeof(f->asked[0].y));
	memcpy(f->asked[0].x, "sqrt", 4);
	process(f, 1, 2048);
	assert_int_equal(packet_status(f->frames[0]), NETFC_STATUS_REPLY);
	assert_int_equal(result_of(f, 0, 0), FUNCTION);
	assert_true(packet_checksum_is_right(f->frames[0]));
}

int
main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_engine_computes_both_widths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bursts_that_are_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lengths_and_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_computed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_name_is_found, set_up, tear_down),
	};
	struct netfc_set_id id;

	if (argc != 2 || netfc_set_parse_name(argv[1], &id) != NETFC_OK || eal_start(1) != 0)
		return 1;
	set_name = argv[1];
	format = netfc_format_id(id.format);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
