/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each entry of fp32_exact's match tables that the set calls reachable is looked up by one of these
 * operations, whose results are right, and no other entry is. So none is wrong, and none of those
 * that compression may change matters.
 */
#include <stdlib.h>

#include "fp32/fp32_family.h"
#include "fp32_pairs.h"
#include "unit.h"

#define INFINITE_AND_NAN 0x7f800000u
#define ONE 0x3f800000u
#define MIN_EXPONENT (-22) /* of a normalised operand */
#define GREATEST_EXPONENT 254

static struct netfc_set *set;
static uint8_t *used[NETFC_MAX_TABLES];

static bool
is_special(uint32_t bits)
{
	uint32_t magnitude = bits & ~NETFC_FP32_SIGN;

	return magnitude == 0 || magnitude >= INFINITE_AND_NAN;
}

/* Note which entries lanes look up. A lane whose result the decision table gives needs none. */
static void
note(const struct netfc_step *step, const struct netfc_lanes *lanes, unsigned count)
{
	for (unsigned l = 0; l < count; l++) {
		if (netfc_decide_source(lanes->field[FIELD_DECISION][l]) == NETFC_FROM_STAGES)
			used[step->table][lanes->field[step->a][l]] = 1;
	}
}

static void
run(enum netfc_op op, const uint32_t *x, const uint32_t *y, unsigned count)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);
	static struct netfc_lanes lanes;
	uint32_t z[NETFC_BATCH];
	uint8_t flags[NETFC_BATCH];

	for (unsigned l = 0; l < count; l++) {
		lanes.field[NETFC_X][l] = x[l];
		lanes.field[NETFC_Y][l] = y[l];
		lanes.field[NETFC_OP][l] = op - NETFC_ADD;
	}
	for (unsigned s = 0; s < program->step_count; s++) {
		const struct netfc_step *step = &program->step[s];

		if (step->kind == NETFC_STEP_LOOKUP &&
			netfc_table_is_match(&set->table[step->table]))
			note(step, &lanes, count);
		netfc_run_step(set, step, &lanes, count);
	}
	fp32_processor(op, x, y, z, flags, count);
	assert_memory_equal(lanes.field[NETFC_Z], z, count * sizeof(*z));
}

static void
run_one(enum netfc_op op, uint32_t x, uint32_t y)
{
	assert_false(is_special(x) || is_special(y));
	run(op, &x, &y, 1);
}

static void
run_random(unsigned batches)
{
	uint32_t x[NETFC_BATCH], y[NETFC_BATCH];
	uint64_t seed = 7;

	for (unsigned b = 0; b < batches; b++) {
		fp32_random_pairs(&seed, x, y, NETFC_BATCH);
		FOREACH_OP(op)
		run(op, x, y, NETFC_BATCH);
	}
}

/* All pairs of exponents. */
static void
reach_exps(void)
{
	for (uint32_t x = 0; x < FP32_EXPONENT_END; x++) {
		for (uint32_t y = 0; y < FP32_EXPONENT_END; y++)
			run_one(NETFC_ADD, x << FP32_FRACTION | 1, y << FP32_FRACTION | 2);
	}
}

/* All upper halves of a significand, which are a subnormal number's or a normal one's. */
static void
reach_lead(void)
{
	for (uint32_t upper = 1; upper < 1u << FP32_HALF; upper++)
		run_one(NETFC_MUL, upper << (FP32_SIGNIFICAND - FP32_HALF), ONE);
}

/* x + y of greater exponent e, whose leading one is at that bit of 28. */
static void
reach_norm_at(uint32_t e, unsigned bit, uint32_t sign)
{
	const uint32_t exponent = e << FP32_FRACTION, minus = sign ^ NETFC_FP32_SIGN;

	if (bit == 27)
		run_one(NETFC_ADD, sign | exponent, sign | exponent);
	else if (bit == 26)
		run_one(NETFC_ADD, sign | exponent, sign | 1);
	else if (bit >= FP32_GUARD_BITS)
		run_one(NETFC_ADD, sign | exponent | 1u << (bit - FP32_GUARD_BITS),
			minus | exponent);
	else
		run_one(NETFC_ADD, sign | exponent, minus | (exponent - 1));
}

static void
reach_norm(void)
{
	for (uint32_t e = 1; e < FP32_EXPONENT_END; e++) {
		for (unsigned bit = e == 1 ? FP32_GUARD_BITS : 2; bit < FP32_WIDE; bit++) {
			reach_norm_at(e, bit, 0);
			reach_norm_at(e, bit, NETFC_FP32_SIGN);
		}
	}
}

/* Low digits i and j. */
static void
reach_squares(void)
{
	const uint32_t most = (1u << FP32_DIGIT) - 1;

	for (uint32_t digit = 0; digit <= most; digit++) {
		run_one(NETFC_MUL, ONE | digit, ONE);
		run_one(NETFC_MUL, ONE, ONE | digit);
		run_one(NETFC_MUL, ONE | digit, ONE | most);
	}
}

static void
reach_recip(void)
{
	for (uint32_t key = 0; key < 1u << FP32_RECIP_KEY_BITS; key++)
		run_one(NETFC_DIV, ONE, ONE | key << (FP32_FRACTION - FP32_RECIP_KEY_BITS));
}

/* 2^(e - 127), or one and a half times that: subnormal where e is not positive. */
static uint32_t
operand(int e, bool half)
{
	uint32_t significand = half ? 3u << (FP32_FRACTION - 1) : 1u << FP32_FRACTION;

	if (e <= 0)
		return significand >> (1 - e);
	return (uint32_t)(e - 1) * (1u << FP32_FRACTION) + significand;
}

static void
reach_scale(void)
{
	for (int x = MIN_EXPONENT; x <= GREATEST_EXPONENT; x++) {
		for (int y = MIN_EXPONENT; y <= GREATEST_EXPONENT; y++) {
			run_one(NETFC_MUL, operand(x, false), operand(y, false));
			run_one(NETFC_DIV, operand(x, false), operand(y, false));
			if (y == MIN_EXPONENT)
				continue;
			run_one(NETFC_DIV, operand(x, false), operand(y, true));
			if (x != MIN_EXPONENT)
				run_one(NETFC_MUL, operand(x, true), operand(y, true));
		}
	}
}

static void
expect_used(unsigned t)
{
	const struct netfc_table *table = &set->table[t];
	uint32_t count = 0;

	for (uint32_t i = 0; i < netfc_table_size(table); i++) {
		if (netfc_table_reachable(table, i) != used[t][i])
			fail_msg("%s[0x%x] is %s, though it is%s reachable", table->name, i,
				used[t][i] ? "used" : "not used", used[t][i] ? " not" : "");
		count += used[t][i];
	}
	REPORT("%s: all of %u reachable entries used, %u others not\n", table->name, count,
		netfc_table_size(table) - count);
}

TEST(all_entries_are_used_that_are_reachable)
{
	for (unsigned t = 0; t < set->table_count; t++) {
		used[t] = calloc(netfc_table_size(&set->table[t]), 1);
		assert_non_null(used[t]);
	}
	reach_exps();
	reach_lead();
	reach_norm();
	reach_squares();
	reach_recip();
	reach_scale();
	run_random(4000);
	for (unsigned t = 0; t < set->table_count; t++) {
		if (netfc_table_is_match(&set->table[t]))
			expect_used(t);
		free(used[t]);
	}
}

TEST(entries_fit_their_widths)
{
	for (unsigned t = 0; t < set->table_count; t++) {
		const struct netfc_table *table = &set->table[t];

		/* What a match stage holds. */
		if (netfc_table_is_match(table))
			assert_in_range(netfc_table_value_bits(table), 1, 24);
		for (uint32_t i = 0; i < netfc_table_size(table); i++)
			assert_int_equal(table->entries[i] >> table->value_bits, 0);
	}
}

int
main(void)
{
	int failed;

	set = must_build("fp32_exact");
	failed = tests_run(NULL, NULL);
	netfc_set_free(set);
	return failed;
}
