/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's family of table sets: logTable, miTable and expTable (paper, section III), scaled
 * by k (section IV.B).
 */
#include "log/log_family.h"

/* The order in which lanes go through the paper's tables (paper, algorithms 1 and 2). */

/* The fields of the family's own. */
enum log_field {
	FIELD_I = FIELD_FAMILY,
	FIELD_J,
	FIELD_THETA,
	FIELD_MI_KEY,
	FIELD_M,
	FIELD_N,
	FIELD_E,
	LOG_FIELDS,
};

static const char *const field_names[] = {"i", "j", "theta", "mi key", "m", "n", "|z|"};

/* What both programs start with: special values, magnitudes, logarithms. */
static void
append_head(struct netfc_program *program, const struct netfc_format *format)
{
	netfc_program_start(program, format, TABLE_DECIDE, field_names, LOG_FIELDS);
	netfc_append_lookup(program, FIELD_I, TABLE_LOG, FIELD_MAGNITUDE_X, "i = logTable[|x|]");
	netfc_append_lookup(program, FIELD_J, TABLE_LOG, FIELD_MAGNITUDE_Y, "j = logTable[|y|]");
}

static void
append_exp(struct netfc_program *program)
{
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_ADD_SAT,
			.dst = FIELD_N,
			.a = FIELD_I,
			.b = FIELD_M,
			.what = "n = sat(i + m)"});
	netfc_append_lookup(program, FIELD_E, TABLE_EXP, FIELD_N, "|z| = expTable[n]");
}

void
log_program(struct netfc_set *set)
{
	struct netfc_program *add = &set->program[NETFC_ADDITIVE];
	struct netfc_program *mul = &set->program[NETFC_MULTIPLICATIVE];

	append_head(add, set->id.format);
	netfc_append(add,
		(struct netfc_step){.kind = NETFC_STEP_SUB_SAT,
			.dst = FIELD_THETA,
			.a = FIELD_J,
			.b = FIELD_I,
			.what = "theta = sat(j - i)"});
	netfc_append(add,
		(struct netfc_step){.kind = NETFC_STEP_PAGE_KEY,
			.dst = FIELD_MI_KEY,
			.a = FIELD_DECISION,
			.b = FIELD_THETA,
			.what = "the decided miTable's key for theta"});
	netfc_append_lookup(add, FIELD_M, TABLE_MI, FIELD_MI_KEY, "m = miTable[theta]");
	append_exp(add);
	netfc_append(add,
		(struct netfc_step){.kind = NETFC_STEP_GUARD,
			.dst = FIELD_DECISION,
			.b = FIELD_THETA,
			.c = FIELD_M,
			.imm = log_guard_words(set),
			.what = "beyond the guard: z is x or y itself"});
	netfc_append_select(add, set->id.format, FIELD_E);

	append_head(mul, set->id.format);
	netfc_append(mul,
		(struct netfc_step){.kind = NETFC_STEP_NEGATE_DIV,
			.dst = FIELD_M,
			.a = FIELD_J,
			.what = "m = j, or -j to divide"});
	append_exp(mul);
	netfc_append_select(mul, set->id.format, FIELD_E);
}

static void
log_layout(struct netfc_set *set)
{
	static const struct netfc_table tables[TABLE_DECIDE] = {
		[TABLE_LOG] = {.name = "log",
			.key_bits = 15,
			.value_bits = 16,
			.pages = 1,
			.copies = 2,
			.value_signed = true},
		[TABLE_MI] = {.name = "mi",
			.page_name = {"mi0", "mi1", "mi2"},
			.key_bits = 16,
			.value_bits = 16,
			.pages = 3,
			.copies = 1,
			.key_signed = true,
			.value_signed = true},
		[TABLE_EXP] = {.name = "exp",
			.key_bits = 16,
			.value_bits = 15,
			.pages = 1,
			.copies = 1,
			.key_signed = true},
	};

	netfc_describe_tables(set, tables, TABLE_DECIDE);
}

static void
log_mark(struct netfc_set *set)
{
	struct netfc_table *mi = &set->table[TABLE_MI];
	int32_t guard = log_guard_words(set);

	mark_range(&set->table[TABLE_LOG], 1, set->id.format->inf);
	for (int32_t theta = INT16_MIN; theta <= INT16_MAX; theta++) {
		uint32_t key = (uint16_t)theta;

		if (theta > guard || theta < -guard)
			continue;
		mark_reachable(mi, key);
		if (theta <= 0)
			mark_reachable(mi, 1u << 16 | key);
		if (theta >= 0)
			mark_reachable(mi, 2u << 16 | key);
	}
	mark_all(&set->table[TABLE_EXP]);
	netfc_decide_mark(&set->table[TABLE_DECIDE]);
}

const struct family netfc_log_family = {
	.layout = log_layout,
	.fill = log_fill,
	.mark = log_mark,
	.program = log_program,
	.calc = log_calc,
};
