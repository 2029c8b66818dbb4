/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of binary32 numbers: align, add, normalise, round. */
#include "fp32/fp32_family.h"

/* An operand, its words in exps' word at those positions, and the field that has its sign. */
struct operand {
	unsigned magnitude, sign, shift_at, hidden_at, dst;
};

static void
append_aligned(struct netfc_program *program, const struct operand *o)
{
	netfc_append(program,
		JOIN(FIELD_T, "its significand, three bits behind it",
			part(o->magnitude, 0, FP32_FRACTION, FP32_GUARD_BITS),
			part(FIELD_E, o->hidden_at, 1, FP32_FRACTION + FP32_GUARD_BITS)));
	netfc_append(program,
		JOIN(FIELD_INDEX, "the places that it is shifted right",
			part(FIELD_E, o->shift_at, FP32_SHIFT_BITS, 0)));
	netfc_append_alu(program, NETFC_STEP_SHIFT_RIGHT, FIELD_T, FIELD_T, FIELD_INDEX, 32,
		"t: shifted right, and what that lost");
	netfc_append(program,
		JOIN(o->dst, "with a sticky bit", part(FIELD_T, 0, FP32_MAX_ALIGN, 0),
			part_test(NETFC_PART_ANY, part(FIELD_LOST, 0, FP32_MAX_ALIGN, 0))));
	netfc_append_alu(program, NETFC_STEP_SIGN, o->dst, o->dst, o->sign, 32, "with its sign");
}

static void
append_normalised(struct netfc_program *program)
{
	fp32_append_lead(program, FIELD_A);
	netfc_append(program,
		JOIN(FIELD_B, "sign, places, exponent", part(FIELD_E, 0, FP32_EXPONENT_BITS, 0),
			part(FIELD_V, 0, FP32_LEAD_BITS, FP32_NORM_PLACES_AT),
			part(FIELD_INDEX, 1, 1, FP32_NORM_COARSE_AT),
			part(FIELD_T, 31, 1, FP32_NORM_SIGN_AT)));
	netfc_append_lookup(program, FIELD_U, FP32_NORM, FIELD_B,
		"norm: how far to shift it left, sign and exponent");
	netfc_append(program, JOIN(FIELD_B, "the places", part(FIELD_U, 0, FP32_SHIFT_BITS, 0)));
	netfc_append_alu(
		program, NETFC_STEP_SHIFT_LEFT, FIELD_A, FIELD_A, FIELD_B, 32, "shifted left");
}

void
fp32_write_sum(struct netfc_program *program)
{
	const unsigned last = FP32_WIDE - FP32_SIGNIFICAND;
	const struct operand x = {
		FIELD_MAGNITUDE_X, NETFC_X, FP32_SHIFT_X_AT, FP32_HIDDEN_X_AT, FIELD_A};
	const struct operand y = {
		FIELD_MAGNITUDE_Y, FIELD_Y_SIGNED, FP32_SHIFT_Y_AT, FP32_HIDDEN_Y_AT, FIELD_B};

	fp32_start(program);
	netfc_append(program,
		JOIN(FIELD_INDEX, "both exponents",
			part(FIELD_MAGNITUDE_X, FP32_FRACTION, FP32_EXPONENT_BITS,
				FP32_EXPONENT_BITS),
			part(FIELD_MAGNITUDE_Y, FP32_FRACTION, FP32_EXPONENT_BITS, 0)));
	netfc_append_lookup(program, FIELD_E, FP32_EXPS, FIELD_INDEX,
		"exps: the greater exponent, shifts, hidden bits");
	append_aligned(program, &x);
	append_aligned(program, &y);
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_A, FIELD_B, 32, "t = a + b");
	netfc_append_alu(program, NETFC_STEP_SIGN, FIELD_A, FIELD_T, FIELD_T, 32, "its magnitude");
	append_normalised(program);
	fp32_append_round(program, FIELD_V, FIELD_A, last, part(FIELD_A, 0, 1, 0));
	netfc_append(program,
		JOIN(FIELD_T, "the significand", part(FIELD_A, last, FP32_SIGNIFICAND, 0)));
	netfc_append(program,
		JOIN(FIELD_B, "sign and exponent",
			part(FIELD_U, FP32_NORM_UPPER_AT, 1 + FP32_EXPONENT_BITS, FP32_FRACTION)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_T, FIELD_B, 32,
		"z = exponent + significand");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_T, FIELD_V, 32, "z = z + round");
	netfc_append_select_signed(program, netfc_fp32_format(), FIELD_T);
}
