/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of binary32 numbers: digits of 12 bits, quarter squares. */
#include "fp32/fp32_family.h"

static void
append_digits(struct netfc_program *program, unsigned word, unsigned high, unsigned low)
{
	netfc_append(program, JOIN(high, "its high digit", part(word, FP32_DIGIT, FP32_DIGIT, 0)));
	netfc_append(program, JOIN(low, "its low digit", part(word, 0, FP32_DIGIT, 0)));
}

void
fp32_write_product(struct netfc_program *program)
{
	const unsigned digit = FP32_DIGIT;

	fp32_start(program);
	fp32_append_operands(program, NETFC_STEP_ADD);
	append_digits(program, FIELD_A, FIELD_A1, FIELD_A0);
	append_digits(program, FIELD_B, FIELD_B1, FIELD_B0);
	fp32_append_product(program, FIELD_A, FIELD_A1, FIELD_B0, "a1 * b0");
	fp32_append_product(program, FIELD_B, FIELD_A0, FIELD_B1, "a0 * b1");
	netfc_append_alu(
		program, NETFC_STEP_ADD, FIELD_A, FIELD_A, FIELD_B, 32, "a1 * b0 + a0 * b1");
	fp32_append_product(program, FIELD_B, FIELD_A0, FIELD_B0, "a0 * b0");
	netfc_append(program, JOIN(FIELD_T, "its high digit", part(FIELD_B, digit, digit, 0)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_A, FIELD_A, FIELD_T, 32,
		"a: the product's digits above its lowest, but for a1 * b1");
	fp32_append_product(program, FIELD_V, FIELD_A1, FIELD_B1, "a1 * b1");
	netfc_append(program, JOIN(FIELD_T, "a's upper bits", part(FIELD_A, digit, digit + 2, 0)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_V, FIELD_T, 2 * FP32_DIGIT,
		"t: the product's 24 upper bits");
	netfc_append(program,
		JOIN(FIELD_V, "eight more, and whether there is any further",
			part(FIELD_T, 0, 2 * digit, 8), part(FIELD_A, digit - 8, 8, 0),
			part_test(NETFC_PART_ANY, part(FIELD_A, 0, digit - 8, 0)),
			part_test(NETFC_PART_ANY, part(FIELD_B, 0, digit, 0))));
	fp32_append_tail(program);
}
