/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, walks and operations, and a few results worked by hand. */
#include <string.h>

#include "unit.h"

struct example {
	enum netfc_op op;
	uint16_t x, y;
	struct netfc_result result;
};

static void
expect_examples(const char *name, const struct example *examples, unsigned count)
{
	struct netfc_set *set = must_build(name);

	for (unsigned e = 0; e < count; e++) {
		const struct example *example = &examples[e];
		struct netfc_result result = netfc_calc(set, example->op, example->x, example->y);

		assert_int_equal(result.z, example->result.z);
		assert_int_equal(result.flags, example->result.flags);
	}
	netfc_set_free(set);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * 3 and 7: i = R(1623.00) = 1623, j = R(2874.73) = 2875, theta = 1252.
 * add: mi0 = R(1778.84) = 1779, 2^(3402/1024) = 10.0023, to the nearest 1/128: 10.
 * sub: mi2 = R(425.47) = 425, 2^(2048/1024) = 4.
 * mul: 2^(4498/1024) = 21.0038, to the nearest 1/64: 21. div: 2^(-1252/1024) = 1755.1/4096.
 * Last, 1.999 and 1.998 share log word 1023: mi1 = R(-10781.96), 2^(-9759/1024) = 2^-10 * 1.3848.
 */
TEST(examples_to_the_nearest)
{
	static const struct example examples[] = {
		{NETFC_ADD, 0x4200, 0x4700, {0x4900, 0}},
		{NETFC_SUB, 0x4200, 0x4700, {0xc400, 0}},
		{NETFC_MUL, 0x4200, 0x4700, {0x4d40, 0}},
		{NETFC_DIV, 0x4200, 0x4700, {0x36db, 0}},
		{NETFC_SUB, 0x3fff, 0x3ffe, {0x158a, 0}},
	};

	expect_examples("fp16_k1024", examples, COUNT(examples));
}

/*
 * Now j = 2874 and theta = 1251.
 * add: mi0 = floor(1778.14), 2^(3401/1024) = 9.9956, down to 1279/128.
 * sub: mi2 = floor(423.72), 2^(2046/1024) = 3.9946, down to 2045/512.
 * mul: 2^(4497/1024) = 20.9896, down to 1343/64. div: 2^(-1251/1024) = 1756.3/4096.
 * Last, the log words of 1021 and 1020 parts of 1024 above 1, 1021.83 and 1021.11, become one.
 */
TEST(examples_rounded_down)
{
	static const struct example examples[] = {
		{NETFC_ADD, 0x4200, 0x4700, {0x48ff, 0}},
		{NETFC_SUB, 0x4200, 0x4700, {0xc3fd, 0}},
		{NETFC_MUL, 0x4200, 0x4700, {0x4d3f, 0}},
		{NETFC_DIV, 0x4200, 0x4700, {0x36dc, 0}},
		{NETFC_SUB, 0x3ffd, 0x3ffc, {0x0000, NETFC_UNDERFLOW}},
	};

	expect_examples("fp16_k1024_floor", examples, COUNT(examples));
}

/*
 * 3 is 0 10 1 1000..., 7 is 0 110 0 11000...: i = R(811.50) = 812, j = R(1437.37) = 1437.
 * add: theta = 625, mi0 = R(888.67) = 889, 2^(1701/512) = 10.0023, to the nearest 1/256: 2561/256.
 * mul: 2^(2249/512) = 21.0038, to the nearest 1/64: 21. 0 is unsigned, x/0 is NaR.
 */
TEST(examples_of_posits)
{
	static const struct example examples[] = {
		{NETFC_ADD, 0x5800, 0x6600, {0x6a01, 0}},
		{NETFC_MUL, 0x5800, 0x6600, {0x7140, 0}},
		{NETFC_SUB, 0x5800, 0x5800, {0x0000, 0}},
		{NETFC_MUL, 0x9a00, 0x0000, {0x0000, 0}},
		{NETFC_DIV, 0x5800, 0x0000, {0x8000, NETFC_DIVBYZERO}},
		{NETFC_DIV, 0x0000, 0x0000, {0x8000, NETFC_INVALID}},
		{NETFC_ADD, 0x8000, 0x5800, {0x8000, 0}},
	};

	expect_examples("posit16_k512", examples, COUNT(examples));
}

TEST(examples_of_special_values_and_flags)
{
	static const struct example examples[] = {
		{NETFC_ADD, 0x7c00, 0xfc00, {0x7e00, NETFC_INVALID}},
		{NETFC_SUB, 0x7c00, 0xfc00, {0x7c00, 0}},
		{NETFC_ADD, 0x7d01, 0x3c00, {0x7e00, 0}},
		{NETFC_ADD, 0x8000, 0x8000, {0x8000, 0}},
		{NETFC_SUB, 0x8000, 0x8000, {0x0000, 0}},
		{NETFC_MUL, 0x8000, 0x7c00, {0x7e00, NETFC_INVALID}},
		{NETFC_MUL, 0x8000, 0x3c00, {0x8000, 0}},
		{NETFC_DIV, 0xbc00, 0x0000, {0xfc00, NETFC_DIVBYZERO}},
		{NETFC_DIV, 0x7c00, 0x8000, {0xfc00, 0}},
		{NETFC_DIV, 0x0000, 0x8000, {0x7e00, NETFC_INVALID}},
		{NETFC_MUL, 0x7bff, 0xc000, {0xfc00, NETFC_OVERFLOW}},
		{NETFC_MUL, 0x8001, 0x0001, {0x8000, NETFC_UNDERFLOW}},
	};

	expect_examples("fp16_k1024", examples, COUNT(examples));
}

/* What a walk has shown, by the names of the fields. */
struct shown {
	unsigned steps;
	uint32_t value[NETFC_MAX_FIELDS];
	const struct netfc_program *program;
};

static void
show_step(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	struct shown *shown = arg;

	assert_ptr_equal(step, &program->step[shown->steps]);
	assert_true(strlen(step->what) > 0);
	shown->program = program;
	shown->steps++;
	for (unsigned f = 0; f < program->field_count; f++)
		shown->value[f] = lanes->field[f][0];
}

static void
expect_field(const struct shown *shown, const char *name, int expected)
{
	for (unsigned f = 0; f < shown->program->field_count; f++) {
		if (strcmp(shown->program->field_name[f], name) == 0) {
			assert_int_equal((int16_t)shown->value[f], expected);
			return;
		}
	}
	fail_msg("no field %s", name);
}

TEST(a_walk_shows_every_intermediate_value)
{
	struct netfc_set *set = must_build("fp16_k1024");
	struct shown shown = {.steps = 0};
	struct netfc_result result = netfc_walk(set, NETFC_ADD, 0x4200, 0x4700, show_step, &shown);

	assert_int_equal(result.z, 0x4900);
	assert_int_equal(result.flags, 0);
	assert_ptr_equal(shown.program, netfc_set_program(set, NETFC_ADDITIVE));
	assert_int_equal(shown.steps, shown.program->step_count);
	expect_field(&shown, "|x|", 0x4200);
	expect_field(&shown, "|y|", 0x4700);
	expect_field(&shown, "i", 1623);
	expect_field(&shown, "j", 2875);
	expect_field(&shown, "theta", 1252);
	expect_field(&shown, "m", 1779);
	expect_field(&shown, "n", 3402);
	expect_field(&shown, "|z|", 0x4900);
	expect_field(&shown, "z", 0x4900);
	netfc_set_free(set);
}

#define LANES 600
#define UNTOUCHED 0xabcd

/* Products are 1, but from some lane on they underflow. */
static void
fill_operands(uint16_t *x, uint16_t *y, unsigned first_underflow)
{
	for (unsigned l = 0; l < LANES; l++) {
		x[l] = l < first_underflow ? 0x3c00 : 0x0001;
		y[l] = l < first_underflow ? 0x3c00 : 0x0001;
	}
}

TEST(any_number_of_lanes_is_computed_and_no_more)
{
	static const uint32_t counts[] = {0, 1, 255, 256, 257, 512, LANES - 1};
	struct netfc_set *set = must_build("fp16_k1");
	uint16_t x[LANES], y[LANES], z[LANES];
	uint8_t flags[LANES];

	fill_operands(x, y, LANES);
	for (unsigned c = 0; c < COUNT(counts); c++) {
		memset(flags, 0xff, sizeof(flags));
		for (unsigned l = 0; l < LANES; l++)
			z[l] = UNTOUCHED;
		assert_int_equal(netfc_compute(set, NETFC_MUL, x, y, z, flags, counts[c]), 0);
		for (unsigned l = 0; l < LANES; l++) {
			assert_int_equal(z[l], l < counts[c] ? 0x3c00 : UNTOUCHED);
			assert_int_equal(flags[l], l < counts[c] ? 0 : 0xff);
		}
	}
	netfc_set_free(set);
}

TEST(flags_of_all_lanes_are_ored)
{
	struct netfc_set *set = must_build("fp16_k1");
	uint16_t x[LANES], y[LANES], z[LANES];

	fill_operands(x, y, LANES - 1);
	assert_int_equal(netfc_compute(set, NETFC_MUL, x, y, z, NULL, LANES - 1), 0);
	assert_int_equal(netfc_compute(set, NETFC_MUL, x, y, z, NULL, LANES), NETFC_UNDERFLOW);
	x[0] = 0x7c00;
	y[0] = 0;
	assert_int_equal(netfc_compute(set, NETFC_MUL, x, y, z, NULL, LANES),
		NETFC_UNDERFLOW | NETFC_INVALID);
	netfc_set_free(set);
}

TEST(results_may_replace_operands)
{
	struct netfc_set *set = must_build("fp16_k1024");
	uint16_t x[LANES], y[LANES], z[LANES];
	uint64_t seed = 1;

	for (unsigned l = 0; l < LANES; l++) {
		x[l] = (uint16_t)next_random(&seed);
		y[l] = (uint16_t)next_random(&seed);
	}
	netfc_compute(set, NETFC_SUB, x, y, z, NULL, LANES);
	netfc_compute(set, NETFC_SUB, x, y, x, NULL, LANES);
	assert_memory_equal(x, z, sizeof(z));
	netfc_set_free(set);
}

TEST(operations_have_names)
{
	static const char *const names[] = {"add", "sub", "mul", "div"};
	static const char *const symbols[] = {"+", "-", "x", "/"};

	for (unsigned op = NETFC_ADD; op <= NETFC_DIV; op++) {
		assert_string_equal(netfc_op_name(op), names[op - NETFC_ADD]);
		assert_string_equal(netfc_op_symbol(op), symbols[op - NETFC_ADD]);
		assert_int_equal(netfc_op_branch((enum netfc_op)op),
			op <= NETFC_SUB ? NETFC_ADDITIVE : NETFC_MULTIPLICATIVE);
	}
	assert_null(netfc_op_name(0));
	assert_null(netfc_op_name(NETFC_DIV + 1));
	assert_null(netfc_op_symbol(0));
	assert_null(netfc_op_symbol(NETFC_DIV + 1));
}

#define KINDS (NETFC_STEP_CHOOSE + 1)

/* By kind of a step, of the fields that it says it writes, from the first one on. */
struct writes {
	bool said[KINDS][NETFC_STEP_WRITES], seen[KINDS][NETFC_STEP_WRITES];
};

static void
run_and_note(const struct netfc_set *set, const struct netfc_step *step, struct netfc_lanes *lanes,
	struct writes *writes)
{
	static struct netfc_lanes before;
	uint8_t fields[NETFC_STEP_WRITES];
	const unsigned count = netfc_step_writes(step, fields);

	memcpy(&before, lanes, sizeof(before));
	netfc_run_step(set, step, lanes, NETFC_BATCH);
	for (unsigned n = 0; n < count; n++) {
		const size_t bytes = sizeof(before.field[0]);

		writes->said[step->kind][n] = true;
		if (memcmp(before.field[fields[n]], lanes->field[fields[n]], bytes) != 0)
			writes->seen[step->kind][n] = true;
		memcpy(before.field[fields[n]], lanes->field[fields[n]], bytes);
	}
	assert_memory_equal(&before, lanes, sizeof(before));
}

TEST(steps_write_the_fields_that_they_say)
{
	static const char *const names[] = {"fp16_k8", "posit16_k8", "fp16_exact", "posit16_exact",
		"fp16_exact_small", "fp8_e4m3_exact", "fp32_exact"};
	static struct netfc_lanes lanes;
	struct writes writes = {0};
	uint64_t seed = 9;

	for (unsigned n = 0; n < COUNT(names) * NETFC_DIV; n++) {
		struct netfc_set *set = must_build(names[n / NETFC_DIV]);
		const enum netfc_op op = NETFC_ADD + n % NETFC_DIV;
		const unsigned width = netfc_format_width(netfc_set_format(set));
		const struct netfc_program *program = netfc_set_op_program(set, op);

		for (unsigned f = 0; f < NETFC_MAX_FIELDS; f++)
			for (unsigned l = 0; l < NETFC_BATCH; l++)
				lanes.field[f][l] = (uint32_t)(next_random(&seed) >> 32) >>
					(f <= NETFC_Y ? 32 - width : 0);
		for (unsigned l = 0; l < NETFC_BATCH; l++)
			lanes.field[NETFC_OP][l] = op - NETFC_ADD;
		for (unsigned s = 0; s < program->step_count; s++)
			run_and_note(set, &program->step[s], &lanes, &writes);
		netfc_set_free(set);
	}
	for (unsigned kind = 0; kind < KINDS; kind++)
		assert_true(writes.said[kind][0]);
	assert_memory_equal(writes.said, writes.seen, sizeof(writes.said));
}
