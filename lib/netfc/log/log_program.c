/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which lanes go through the paper's tables (paper, algorithms 1 and 2). */
#include "log/log_family.h"

/* Fields of the programs, behind those that every program has. */
enum log_field {
	FIELD_Y_SIGNED = NETFC_OWN_FIELDS, /* y, negated for sub */
	FIELD_MAGNITUDE_X,
	FIELD_MAGNITUDE_Y,
	FIELD_KEY,
	FIELD_DECISION,
	FIELD_I,
	FIELD_J,
	FIELD_THETA,
	FIELD_MI_KEY,
	FIELD_M,
	FIELD_N,
	FIELD_E,
	LOG_FIELDS,
};

/* What both programs start with: special values, magnitudes, logarithms. */
static void
append_head(struct netfc_program *program, const struct netfc_format *format)
{
	netfc_append_head(program, format, FIELD_Y_SIGNED, FIELD_DECISION, TABLE_DECIDE);
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

static void
append_select(struct netfc_program *program, const struct netfc_format *format)
{
	netfc_append(program,
		(struct netfc_step){
			.kind = format->posit ? NETFC_STEP_SELECT_POSIT : NETFC_STEP_SELECT_IEEE,
			.dst = NETFC_Z,
			.a = FIELD_DECISION,
			.b = FIELD_Y_SIGNED,
			.c = FIELD_E,
			.imm = format->inf,
			.what = "z: |z| with the decided sign, or the decided value"});
}

void
log_program(struct netfc_set *set)
{
	static const char *const names[LOG_FIELDS] = {"x", "y", "op", "z", "flags", "y'", "|x|",
		"|y|", "key", "decision", "i", "j", "theta", "mi key", "m", "n", "|z|"};
	struct netfc_program *add = &set->program[NETFC_ADDITIVE];
	struct netfc_program *mul = &set->program[NETFC_MULTIPLICATIVE];

	for (unsigned branch = 0; branch < NETFC_BRANCHES; branch++) {
		set->program[branch].field_count = LOG_FIELDS;
		for (unsigned f = 0; f < LOG_FIELDS; f++)
			set->program[branch].field_name[f] = names[f];
		append_head(&set->program[branch], set->id.format);
	}
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
	append_select(add, set->id.format);

	netfc_append(mul,
		(struct netfc_step){.kind = NETFC_STEP_NEGATE_DIV,
			.dst = FIELD_M,
			.a = FIELD_J,
			.what = "m = j, or -j to divide"});
	append_exp(mul);
	append_select(mul, set->id.format);
}
