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
netfc_append_head(struct netfc_program *program, const struct netfc_format *format,
	unsigned y_signed, unsigned decision, unsigned decide_table)
{
	netfc_append(program,
		(struct netfc_step){
			.kind = format->posit ? NETFC_STEP_UNPACK_POSIT : NETFC_STEP_UNPACK_IEEE,
			.dst = (uint8_t)y_signed,
			.imm = format->inf,
			.what = "operands to magnitudes and the decision's key"});
	netfc_append_lookup(program, decision, decide_table, y_signed + 3,
		"decide: how to go on and with which sign, or a special value");
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
			.imm = (int32_t)((UINT32_C(1) << bits) - 1),
			.what = what});
}
