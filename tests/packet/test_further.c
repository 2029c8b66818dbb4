/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations further to the four through the pipeline: every argument, against the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "eal.h"
#include "further_groups.h"
#include "packets.h"
#include "pipeline.h"

#define ENTRIES NETFC_FUNCTION_ENTRIES
#define MOST_FUNCTIONS 64
/* An operation above those of the library. */
#define OWN 193

struct fixture {
	struct rte_mempool *pool;
	struct pipeline_config config;
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct netfc_set *set;
	struct pipeline_function functions[2 * MOST_FUNCTIONS];
	uint16_t z[2 * MOST_FUNCTIONS][ENTRIES];
	uint8_t flags[2 * MOST_FUNCTIONS][ENTRIES];
};

static uint16_t
random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint16_t)(*state >> 48);
}

static void
add_function(struct fixture *f, unsigned int number, unsigned int format)
{
	const unsigned int index = f->config.function_count++;

	const struct netfc_function *known = netfc_function_by_number(number);

	f->functions[index] = (struct pipeline_function){
		.name = known != NULL ? netfc_function_name(known) : "own",
		.number = (uint8_t)number,
		.format = (uint8_t)format,
		.z = f->z[index],
		.flags = f->flags[index],
	};
}

static void
add_known(struct fixture *f, const struct netfc_function *function, unsigned int format)
{
	const unsigned int index = f->config.function_count;

	assert_int_equal(netfc_function_table(function, netfc_format_by_id(format), f->z[index],
				 f->flags[index]),
		NETFC_OK);
	add_function(f, netfc_function_number(function), format);
}

static void
create_pipeline(struct fixture *f)
{
	assert_int_equal(pipeline_create(&f->config, &f->pipeline), 0);
	f->worker = pipeline_worker_create(f->pipeline, SOCKET_ID_ANY);
	assert_non_null(f->worker);
}

static void
free_pipeline(struct fixture *f)
{
	pipeline_worker_free(f->worker);
	pipeline_free(f->pipeline);
	f->worker = NULL;
	f->pipeline = NULL;
}

/* A table set of fp16 alone, and no function. */
static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pool = rte_pktmbuf_pool_create("test", 8191, 0, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(f->pool);
	assert_int_equal(netfc_set_build("fp16_k8", &f->set), NETFC_OK);
	f->config = (struct pipeline_config){.match = MATCH_DIRECT,
		.isa = vector_isa_best(),
		.udp_port = NETFC_UDP_PORT,
		.queries = true,
		.socket_id = SOCKET_ID_ANY,
		.functions = f->functions};
	f->config.sets[NETFC_FP16] = f->set;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	free_pipeline(f);
	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	netfc_set_free(f->set);
	rte_mempool_free(f->pool);
	free(f);
	return 0;
}

/* What a request asks for: x, y and z. */
struct asked {
	unsigned int op, format;
	uint16_t lanes;
	uint16_t x[1024], y[1024], z[1024];
};

static void
write_request(uint8_t *frame, const struct asked *asked)
{
	packet_write(frame, asked->op, asked->format, asked->lanes, asked->x, asked->y);
	packet_write_results(frame, asked->lanes, asked->z);
}

static struct netfc_result
expected_of(const struct fixture *f, const struct asked *asked, uint16_t lane)
{
	const uint16_t x = asked->x[lane];

	if (asked->op < NETFC_EXTRA_END)
		return netfc_extra(netfc_format_by_id(asked->format), asked->op, x, asked->y[lane],
			asked->z[lane]);
	for (unsigned int i = 0; i < f->config.function_count; i++) {
		const struct pipeline_function *function = &f->functions[i];

		if (function->number == asked->op && function->format == asked->format)
			return (struct netfc_result){function->z[x], function->flags[x]};
	}
	fail_msg("nothing computes operation %u in format %u", asked->op, asked->format);
	return (struct netfc_result){0};
}

static void
check_reply(const struct fixture *f, const uint8_t *frame, const struct asked *asked)
{
	uint8_t flags = 0;

	for (uint16_t l = 0; l < asked->lanes; l++) {
		const struct netfc_result expected = expected_of(f, asked, l);

		assert_int_equal(packet_result(frame, asked->lanes, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY | flags);
	assert_true(packet_checksum_is_right(frame));
}

/* Refused with a code, and otherwise as it was. */
static void
check_error(const uint8_t *frame, const struct asked *asked, enum netfc_status code)
{
	assert_int_equal(packet_status(frame),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (uint16_t l = 0; l < asked->lanes; l++)
		assert_int_equal(packet_result(frame, asked->lanes, l), asked->z[l]);
	assert_true(packet_checksum_is_right(frame));
}

/* Requests as one burst, cut into segments; frames are what comes out. */
static void
process(struct fixture *f, const struct asked *asked, uint8_t (*frames)[8192], unsigned int count,
	uint32_t cut)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame parsed[PIPELINE_BURST];

	for (unsigned int i = 0; i < count; i++) {
		write_request(frames[i], &asked[i]);
		mbufs[i] = packet_of(f->pool, frames[i], packet_length(asked[i].lanes), cut);
		assert_non_null(mbufs[i]);
	}
	pipeline_process(f->worker, mbufs, parsed, (uint16_t)count);
	for (unsigned int i = 0; i < count; i++) {
		packet_bytes(mbufs[i], frames[i]);
		assert_true(parsed[i].answered);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
}

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
		process(f, asked, frames, count, 2048);
		for (unsigned int i = 0; i < count; i++)
			check_reply(f, frames[i], &asked[i]);
	}
}

static void
every_function(struct fixture *f, unsigned int format)
{
	const struct netfc_function *function;

	for (unsigned int i = 0; (function = netfc_function_known(i)) != NULL; i++)
		add_known(f, function, format);
	create_pipeline(f);
	for (unsigned int i = 0; (function = netfc_function_known(i)) != NULL; i++)
		check_arguments(f, netfc_function_number(function), format,
			(uint16_t[]){1, 7, 32, 243, 255}[i % 5]);
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

	add_known(f, netfc_function_by_name("ln"), NETFC_FP16);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		f->config.isa = isa;
		create_pipeline(f);
		for (unsigned int l = 0; l < RTE_DIM(lanes); l++)
			check_arguments(f, f->functions[0].number, NETFC_FP16, lanes[l]);
		free_pipeline(f);
	}
}

/* Operands that matter among those that are anything. */
static uint16_t
operand(uint64_t *seed)
{
	static const uint16_t edges[] = {0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0x7c00,
		0xfc00, 0x7e00, 0x7f80, 0xff80, 0x7fc0, 0x7fff, 0xffff, 0x4000, 0xc000};
	const uint16_t bits = random_bits(seed);

	return bits % 2 == 0 ? edges[bits / 2 % RTE_DIM(edges)] : random_bits(seed);
}

static void
fill_request(
	struct asked *request, unsigned int op, unsigned int format, uint16_t lanes, uint64_t *seed)
{
	*request = (struct asked){.op = op, .format = format, .lanes = lanes};
	for (uint16_t l = 0; l < lanes; l++) {
		request->x[l] = operand(seed);
		request->y[l] = operand(seed);
		request->z[l] = operand(seed);
	}
}

/* Min, max, compare and fma: of every format, whether or not it has a table set. */
static void
two_and_three_operands(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 1;

	create_pipeline(f);
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			fill_request(&asked[i], NETFC_MIN + i % 4, 1 + i / 4 % 4,
				(uint16_t)(1 + (round * 7 + i * 13) % 300), &seed);
		process(f, asked, frames, PIPELINE_BURST, 2048);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			check_reply(f, frames[i], &asked[i]);
	}
}

/* A packet cut anywhere, even through a slot, is computed as one that is whole. */
static void
segments_do_not_matter(void **state)
{
	struct fixture *f = *state;
	unsigned int ops[] = {NETFC_MAX, NETFC_FMA, 70};
	uint64_t seed = 2;

	add_known(f, netfc_function_by_number(70), NETFC_FP16);
	create_pipeline(f);
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		for (uint32_t cut = 1; cut < packet_length(5); cut++) {
			fill_request(&asked[0], ops[o], NETFC_FP16, 5, &seed);
			process(f, asked, frames, 1, cut);
			check_reply(f, frames[0], &asked[0]);
		}
	}
	/* More lanes than a batch has. */
	for (unsigned int o = 0; o < RTE_DIM(ops); o++) {
		fill_request(&asked[0], ops[o], NETFC_FP16, 1000, &seed);
		process(f, asked, frames, 1, 99);
		check_reply(f, frames[0], &asked[0]);
	}
}

/* What is not loaded is refused: unknown operations, then operations unknown to a format. */
static void
not_loaded(void **state)
{
	const struct {
		unsigned int op, format;
		enum netfc_status code;
	} cases[] = {
		{0, NETFC_FP16, NETFC_STATUS_OP},
		{9, NETFC_FP16, NETFC_STATUS_OP},
		{63, NETFC_FP16, NETFC_STATUS_OP},
		{71, NETFC_FP16, NETFC_STATUS_OP},
		{OWN + 1, NETFC_BF16, NETFC_STATUS_OP},
		{255, NETFC_FP16, NETFC_STATUS_OP},
		{70, NETFC_BF16, NETFC_STATUS_FORMAT},
		{70, 0, NETFC_STATUS_FORMAT},
		{70, NETFC_FORMAT_END, NETFC_STATUS_FORMAT},
		{70, 255, NETFC_STATUS_FORMAT},
		{OWN, NETFC_FP16, NETFC_STATUS_FORMAT},
		{NETFC_FMA, 0, NETFC_STATUS_FORMAT},
		{NETFC_FMA, 5, NETFC_STATUS_FORMAT},
		/* No table set is loaded for it. */
		{NETFC_ADD, NETFC_BF16, NETFC_STATUS_FORMAT},
	};
	struct fixture *f = *state;
	uint64_t seed = 3;

	add_known(f, netfc_function_by_number(70), NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	memset(f->flags[1], NETFC_INVALID, sizeof(f->flags[1]));
	add_function(f, OWN, NETFC_BF16);
	create_pipeline(f);
	for (unsigned int c = 0; c < RTE_DIM(cases); c++) {
		/* A packet that is computed before it, and one after it. */
		fill_request(&asked[0], 70, NETFC_FP16, 20, &seed);
		fill_request(&asked[1], cases[c].op, cases[c].format, 20, &seed);
		fill_request(&asked[2], OWN, NETFC_BF16, 20, &seed);
		process(f, asked, frames, 3, 2048);
		check_reply(f, frames[0], &asked[0]);
		check_error(frames[1], &asked[1], cases[c].code);
		check_reply(f, frames[2], &asked[2]);
	}
	fill_request(&asked[0], 70, NETFC_FP16, 0, &seed);
	process(f, asked, frames, 1, 2048);
	check_error(frames[0], &asked[0], NETFC_STATUS_LENGTH);
}

/* Requests of all kinds in one burst; what is counted of them. */
static void
together_with_the_four(void **state)
{
	static const uint16_t lanes[] = {1, 5, 12, 40};
	const unsigned int ops[] = {70, NETFC_ADD, NETFC_MIN, NETFC_MUL, OWN};
	const struct pipeline_counters *counters;
	struct fixture *f = *state;
	uint64_t seed = 4, computed = 0;

	add_known(f, netfc_function_by_number(70), NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	add_function(f, OWN, NETFC_FP16);
	create_pipeline(f);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		fill_request(&asked[i], ops[i % RTE_DIM(ops)], NETFC_FP16,
			lanes[i / RTE_DIM(ops) % RTE_DIM(lanes)], &seed);
		computed += asked[i].lanes;
	}
	process(f, asked, frames, PIPELINE_BURST, 2048);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		if (asked[i].op == NETFC_ADD || asked[i].op == NETFC_MUL) {
			for (uint16_t l = 0; l < asked[i].lanes; l++)
				assert_int_equal(packet_result(frames[i], asked[i].lanes, l),
					netfc_calc(
						f->set, asked[i].op, asked[i].x[l], asked[i].y[l])
						.z);
		} else {
			check_reply(f, frames[i], &asked[i]);
		}
	}
	counters = pipeline_worker_counters(f->worker);
	assert_int_equal(counters->netfc_packets, PIPELINE_BURST);
	assert_int_equal(counters->errors[NETFC_STATUS_OK], PIPELINE_BURST);
	assert_int_equal(counters->lanes, computed);
	/* Of 64 packets 13 are of each of the first four operations. */
	assert_int_equal(counters->further[70], 13);
	assert_int_equal(counters->further[NETFC_MIN], 13);
	assert_int_equal(counters->further[OWN], 12);
	assert_int_equal(counters->further[NETFC_ADD], 0);
	/* The general walk counts, too. */
	process(f, asked, frames, 1, 60);
	assert_int_equal(counters->further[70], 14);
}

/* A request for a name's number. */
static void
ask_name(struct asked *request, const char *name, unsigned int format)
{
	uint8_t bytes[NETFC_FUNCTION_NAME_SIZE] = {0};

	*request = (struct asked){
		.op = NETFC_OP_NAME, .format = format, .lanes = NETFC_NAME_LANES, .z = {9, 8, 7}};
	memcpy(bytes, name, strnlen(name, sizeof(bytes)));
	for (unsigned int l = 0; l < NETFC_NAME_LANES; l++) {
		request->x[l] = (uint16_t)(bytes[2 * l] << 8 | bytes[2 * l + 1]);
		request->y[l] = (uint16_t)(bytes[16 + 2 * l] << 8 | bytes[16 + 2 * l + 1]);
	}
}

static void
names(void **state)
{
	const struct {
		const char *name;
		unsigned int format, number;
		enum netfc_status code;
	} cases[] = {
		{"sqrt", NETFC_FP16, 70, NETFC_STATUS_OK},
		{"own", NETFC_BF16, OWN, NETFC_STATUS_OK},
		{"fma", NETFC_POSIT16, NETFC_FMA, NETFC_STATUS_OK},
		{"sqrt", NETFC_BF16, 0, NETFC_STATUS_FORMAT},
		{"sqrt", 9, 0, NETFC_STATUS_FORMAT},
		{"sqr", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"sqrt2", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"add", NETFC_FP16, 0, NETFC_STATUS_OP},
		{"a_name_that_takes_all_the_32_byte", NETFC_FP16, 0, NETFC_STATUS_OP},
	};
	struct fixture *f = *state;

	add_known(f, netfc_function_by_number(70), NETFC_FP16);
	memcpy(f->z[1], f->z[0], sizeof(f->z[0]));
	add_function(f, OWN, NETFC_BF16);
	create_pipeline(f);
	for (unsigned int c = 0; c < RTE_DIM(cases); c++) {
		ask_name(&asked[0], cases[c].name, cases[c].format);
		process(f, asked, frames, 1, c % 2 == 0 ? 2048 : 57);
		if (cases[c].code == NETFC_STATUS_OK)
			asked[0].z[0] = (uint16_t)cases[c].number;
		check_error(frames[0], &asked[0], cases[c].code);
	}
	ask_name(&asked[0], "sqrt", NETFC_FP16);
	asked[0].lanes = 7;
	process(f, asked, frames, 1, 2048);
	check_error(frames[0], &asked[0], NETFC_STATUS_LENGTH);
	assert_int_equal(pipeline_worker_counters(f->worker)->lanes, 0);
}

static void
twice_the_same(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline;

	add_known(f, netfc_function_by_number(70), NETFC_FP16);
	add_function(f, 70, NETFC_FP16);
	assert_int_equal(pipeline_create(&f->config, &pipeline), -EEXIST);
}

static void
too_many(void **state)
{
	static struct further_groups groups;

	(void)state;
	for (unsigned int g = 0; g < FURTHER_GROUPS; g++)
		assert_int_equal(further_add(&groups, 1 + g / 256, (uint8_t)g, "name", NULL), 0);
	assert_int_equal(further_add(&groups, 3, 0, "name", NULL), -E2BIG);
	further_clear(&groups);
	assert_false(further_is_known(&groups, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_function_of_fp16, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_function_of_posit16, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_function_of_bf16, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_function_of_posit16_es2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_instruction_set, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_and_three_operands, set_up, tear_down),
		cmocka_unit_test_setup_teardown(segments_do_not_matter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_loaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(together_with_the_four, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(twice_the_same, set_up, tear_down),
		cmocka_unit_test(too_many),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
