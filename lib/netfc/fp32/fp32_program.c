/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of binary32's programs. */
#include "fp32/fp32_family.h"

static const char *const field_names[FP32_FIELDS - FIELD_FAMILY] = {
	"e", "a", "b", "a1", "a0", "b1", "b0", "index", "t", "lost", "u", "v", "recip", "q"};

void
fp32_start(struct netfc_program *program)
{
	netfc_program_start(program, netfc_fp32_format(), FP32_DECIDE, field_names, FP32_FIELDS);
}

void
fp32_choose(struct netfc_program *program, unsigned dst, unsigned yes, unsigned no, unsigned sign,
	const char *what)
{
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_CHOOSE,
			.dst = (uint8_t)dst,
			.a = (uint8_t)yes,
			.b = (uint8_t)no,
			.c = (uint8_t)sign,
			.what = what});
}

void
fp32_append_lead(struct netfc_program *program, unsigned wide)
{
	const struct netfc_part upper = part(wide, FP32_HALF, FP32_HALF, 0);
	struct netfc_part none[3];

	/* 14 is 1110 in binary. */
	for (unsigned bit = 0; bit < 3; bit++) {
		none[bit] = part_test(NETFC_PART_NONE, upper);
		none[bit].at = (uint8_t)(bit + 1);
	}
	netfc_append(program,
		JOIN(FIELD_INDEX, "14 places if its upper half is zero, or 0", none[0], none[1],
			none[2]));
	netfc_append_alu(program, NETFC_STEP_SHIFT_LEFT, FIELD_U, wide, FIELD_INDEX, 32,
		"shifted left by them");
	netfc_append(
		program, JOIN(FIELD_V, "its upper half", part(FIELD_U, FP32_HALF, FP32_HALF, 0)));
	netfc_append_lookup(
		program, FIELD_V, FP32_LEAD, FIELD_V, "lead: the places before its leading one");
}

/* An operand's magnitude, normalised. */
static void
append_operand(
	struct netfc_program *program, unsigned magnitude, unsigned significand, unsigned exponent)
{
	const struct netfc_part field = part(magnitude, FP32_FRACTION, FP32_EXPONENT_BITS, 0);
	struct netfc_part hidden = part_test(NETFC_PART_ANY, field);

	hidden.at = FP32_WIDE - 1;
	netfc_append(program,
		JOIN(FIELD_T, "its significand, hidden bit and all",
			part(magnitude, 0, FP32_FRACTION, FP32_WIDE - FP32_SIGNIFICAND), hidden));
	fp32_append_lead(program, FIELD_T);
	netfc_append_alu(
		program, NETFC_STEP_SHIFT_LEFT, FIELD_U, FIELD_U, FIELD_V, 32, "normalised");
	netfc_append(program,
		JOIN(significand, "its 24 bits",
			part(FIELD_U, FP32_WIDE - FP32_SIGNIFICAND, FP32_SIGNIFICAND, 0)));
	netfc_append(program,
		JOIN(exponent, "its exponent, 1 if it is subnormal", field,
			part_test(NETFC_PART_NONE, field)));
	netfc_append_alu(program, NETFC_STEP_SUB, exponent, exponent, FIELD_INDEX,
		FP32_SCALE_EXPONENT_BITS, "less the places that it was shifted");
	netfc_append_alu(program, NETFC_STEP_SUB, exponent, exponent, FIELD_V,
		FP32_SCALE_EXPONENT_BITS, "less the others");
}

void
fp32_append_operands(struct netfc_program *program, enum netfc_step_kind join_exponents)
{
	append_operand(program, FIELD_MAGNITUDE_X, FIELD_A, FIELD_E);
	append_operand(program, FIELD_MAGNITUDE_Y, FIELD_B, FIELD_A1);
	netfc_append_alu(program, join_exponents, FIELD_E, FIELD_E, FIELD_A1,
		FP32_SCALE_EXPONENT_BITS,
		join_exponents == NETFC_STEP_ADD ? "e = x's exponent + y's"
						 : "e = x's exponent - y's");
}

void
fp32_append_product(
	struct netfc_program *program, unsigned dst, unsigned p, unsigned q, const char *what)
{
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_INDEX, p, q, FP32_SQUARE_KEY_BITS,
		"the digits' sum");
	netfc_append_lookup(
		program, FIELD_U, FP32_SQUARE, FIELD_INDEX, "square: a quarter of its square");
	netfc_append_alu(program, NETFC_STEP_SUB, FIELD_INDEX, p, q, FP32_SQUARE_KEY_BITS,
		"the digits' difference");
	netfc_append_lookup(
		program, dst, FP32_DIFFER, FIELD_INDEX, "differ: a quarter of its square");
	netfc_append_alu(program, NETFC_STEP_SUB, dst, FIELD_U, dst, 2 * FP32_DIGIT, what);
}

void
fp32_append_round(struct netfc_program *program, unsigned dst, unsigned field, unsigned last,
	struct netfc_part lost)
{
	netfc_append(program,
		JOIN(FIELD_INDEX, "the last bit, the next, whether there is any further",
			part(field, last, 1, 2), part(field, last - 1, 1, 1),
			part_test(NETFC_PART_ANY, part(field, 0, last - 1, 0)), lost));
	netfc_append_lookup(program, dst, FP32_ROUND, FIELD_INDEX, "round: whether to round up");
}

void
fp32_append_tail(struct netfc_program *program)
{
	const unsigned last = 31 - FP32_SIGNIFICAND;
	const struct netfc_step key = JOIN(FIELD_INDEX, "operation, leading bit, exponent",
		part(FIELD_E, 0, FP32_SCALE_EXPONENT_BITS, 0),
		part(FIELD_V, 31, 1, FP32_SCALE_LEAD_AT), part(NETFC_OP, 0, 1, FP32_SCALE_DIV_AT));

	netfc_append(program, key);
	netfc_append_lookup(program, FIELD_U, FP32_SCALE, FIELD_INDEX,
		"scale: how far to shift it right, the exponent");
	netfc_append(program, JOIN(FIELD_B, "the places", part(FIELD_U, 0, FP32_SHIFT_BITS, 0)));
	netfc_append_alu(program, NETFC_STEP_SHIFT_RIGHT, FIELD_T, FIELD_V, FIELD_B, 32,
		"t: shifted right, and what that lost");
	fp32_append_round(program, FIELD_A, FIELD_T, last,
		part_test(NETFC_PART_ANY, part(FIELD_LOST, 0, 31, 0)));
	netfc_append(program,
		JOIN(FIELD_V, "the significand", part(FIELD_T, last, FP32_SIGNIFICAND, 0)));
	netfc_append(program,
		JOIN(FIELD_B, "sign and exponent",
			part(FIELD_U, FP32_SCALE_BASE_AT, FP32_EXPONENT_BITS, FP32_FRACTION),
			part(FIELD_DECISION, 20, 1, 31)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_V, FIELD_V, FIELD_B, 32,
		"z = exponent + significand");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_V, FIELD_V, FIELD_A, 32, "z = z + round");
	netfc_append_select_signed(program, netfc_fp32_format(), FIELD_V);
}
