/* SPDX-License-Identifier: BSD-3-Clause */
/* What the families write their programs with. */
#include "internal.h"

void
netfc_append(struct netfc_program *program, struct netfc_step step)
{
	program->step[program->step_count++] = step;
}

void
netfc_append_lookup(
	struct netfc_program *program, unsigned dst, unsigned table, unsigned key, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_LOOKUP,
			.dst = (uint8_t)dst,
			.a = (uint8_t)key,
			.table = (uint8_t)table,
			.what = what});
}

void
netfc_append_alu(struct netfc_program *program, enum netfc_step_kind kind, unsigned dst, unsigned a,
	unsigned b, unsigned bits, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = kind,
			.dst = (uint8_t)dst,
			.a = (uint8_t)a,
			.b = (uint8_t)b,
			.imm = (int32_t)(UINT32_MAX >> (32 - bits)),
			.what = what});
}

static const char *const common_names[FIELD_FAMILY] = {
	"x", "y", "op", "z", "flags", "y'", "|x|", "|y|", "key", "decision"};

static enum netfc_step_kind
unpack_kind(const struct netfc_format *format)
{
	return format->posit ? NETFC_STEP_UNPACK_POSIT : NETFC_STEP_UNPACK_IEEE;
}

static uint8_t
step_rules(const struct netfc_format *format)
{
	return (format->no_infinity ? NETFC_RULE_NO_INFINITY : 0) |
		(format->saturates ? NETFC_RULE_SATURATES : 0);
}

void
netfc_program_start(struct netfc_program *program, const struct netfc_format *format,
	unsigned decide_table, const char *const *names, unsigned field_count)
{
	program->field_count = field_count;
	for (unsigned f = 0; f < field_count; f++)
		program->field_name[f] =
			f < FIELD_FAMILY ? common_names[f] : names[f - FIELD_FAMILY];
	netfc_append(program,
		(struct netfc_step){.kind = unpack_kind(format),
			.dst = FIELD_Y_SIGNED,
			.imm = format->inf,
			.width = (uint8_t)format->width,
			.rules = step_rules(format),
			.what = "operands to magnitudes and the decision's key"});
	netfc_append_lookup(program, FIELD_DECISION, decide_table, FIELD_DECIDE_KEY,
		"decide: how to go on and with which sign, or a special value");
}

static void
append_last(struct netfc_program *program, enum netfc_step_kind kind,
	const struct netfc_format *format, unsigned from, const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = kind,
			.dst = NETFC_Z,
			.a = FIELD_DECISION,
			.b = FIELD_Y_SIGNED,
			.c = (uint8_t)from,
			.imm = (int32_t)format->inf,
			.width = (uint8_t)format->width,
			.rules = step_rules(format),
			.what = what});
}

void
netfc_append_select(
	struct netfc_program *program, const struct netfc_format *format, unsigned magnitude)
{
	append_last(program, format->posit ? NETFC_STEP_SELECT_POSIT : NETFC_STEP_SELECT_IEEE,
		format, magnitude, "z: |z| with the decided sign, or the decided value");
}

void
netfc_append_select_signed(
	struct netfc_program *program, const struct netfc_format *format, unsigned word)
{
	append_last(program, NETFC_STEP_SELECT_SIGNED, format, word,
		"z: the word, or the decided value");
}
