/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotients of binary32 numbers: long division with two digits of 12 bits, and a bit before and
 * after them. The remainder is exact, so that the quotient's 26 bits are, and whether anything
 * follows them. docs/exact.md proves that a digit's estimate is right or one too small.
 */
#include "fp32/fp32_family.h"

#define FP32_ESTIMATE_BITS 11 /* behind an estimate's binary point */

/*
 * The remainder in T is less than twice the divisor in B: take that off if it fits, into A. Whether
 * it did, a bit, into INDEX.
 */
static void
append_subtract(struct netfc_program *program)
{
	netfc_append_alu(program, NETFC_STEP_SUB, FIELD_A, FIELD_T, FIELD_B, 32,
		"the remainder less the divisor");
	netfc_append(program,
		JOIN(FIELD_INDEX, "whether that is not negative",
			part_test(NETFC_PART_NONE, part(FIELD_A, 31, 1, 0))));
	fp32_choose(program, FIELD_A, FIELD_A, FIELD_T, FIELD_A, "a: the new remainder");
}

/*
 * The digit's estimate into A1: the remainder's 12 upper bits times the reciprocal's, and the
 * 4 bits behind either of them times the 4 highest ones of the other.
 */
static void
append_estimate(struct netfc_program *program)
{
	const unsigned four = FP32_CROSS_DIGIT, digit = FP32_DIGIT;

	netfc_append(program,
		JOIN(FIELD_A1, "the remainder's upper bits", part(FIELD_A, digit, digit, 0)));
	netfc_append(program,
		JOIN(FIELD_V, "the reciprocal's upper bits", part(FIELD_RECIP, four, digit, 0)));
	fp32_append_product(program, FIELD_T, FIELD_A1, FIELD_V, "t: their product");
	netfc_append(program,
		JOIN(FIELD_INDEX, "the remainder's highest bits, the reciprocal's lowest",
			part(FIELD_A, 2 * digit - four, four, four),
			part(FIELD_RECIP, 0, four, 0)));
	netfc_append_lookup(
		program, FIELD_V, FP32_CROSS, FIELD_INDEX, "cross: 16 times their product");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_T, FIELD_V, 32, "t = t + cross");
	netfc_append(program,
		JOIN(FIELD_INDEX, "the reciprocal's highest bits, the remainder's next ones",
			part(FIELD_RECIP, digit, four, four),
			part(FIELD_A, digit - four, four, 0)));
	netfc_append_lookup(
		program, FIELD_V, FP32_CROSS, FIELD_INDEX, "cross: 16 times their product");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_T, FIELD_V, 32, "t = t + cross");
	netfc_append(program,
		JOIN(FIELD_A1, "the digit's estimate",
			part(FIELD_T, FP32_ESTIMATE_BITS, digit, 0)));
}

/* The next digit of the quotient into A1: the remainder in A, times 2^12, becomes the next one. */
static void
append_digit(struct netfc_program *program)
{
	append_estimate(program);
	fp32_append_product(
		program, FIELD_T, FIELD_A1, FIELD_B1, "the digit * the divisor's high digit");
	netfc_append_alu(
		program, NETFC_STEP_SUB, FIELD_A, FIELD_A, FIELD_T, 32, "the remainder less that");
	fp32_append_product(
		program, FIELD_V, FIELD_A1, FIELD_B0, "the digit * the divisor's low digit");
	netfc_append(program,
		JOIN(FIELD_T, "the remainder * 2^12",
			part(FIELD_A, 0, 32 - FP32_DIGIT, FP32_DIGIT)));
	netfc_append_alu(
		program, NETFC_STEP_SUB, FIELD_T, FIELD_T, FIELD_V, 32, "the remainder less that");
	append_subtract(program);
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_A1, FIELD_A1, FIELD_INDEX, FP32_DIGIT,
		"a1: the digit, corrected");
}

void
fp32_write_quotient(struct netfc_program *program)
{
	const unsigned digit = FP32_DIGIT;

	fp32_start(program);
	fp32_append_operands(program, NETFC_STEP_SUB);
	netfc_append(program,
		JOIN(FIELD_INDEX, "the divisor's bits behind its leading one",
			part(FIELD_B, FP32_FRACTION - FP32_RECIP_KEY_BITS, FP32_RECIP_KEY_BITS,
				0)));
	netfc_append_lookup(program, FIELD_RECIP, FP32_RECIP, FIELD_INDEX, "recip: its reciprocal");
	netfc_append(program,
		JOIN(FIELD_B1, "the divisor's high digit", part(FIELD_B, digit, digit, 0)));
	netfc_append(
		program, JOIN(FIELD_B0, "the divisor's low digit", part(FIELD_B, 0, digit, 0)));
	netfc_append(program, JOIN(FIELD_T, "the dividend", part(FIELD_A, 0, FP32_SIGNIFICAND, 0)));
	append_subtract(program);
	netfc_append(
		program, JOIN(FIELD_A0, "the quotient's first bit", part(FIELD_INDEX, 0, 1, 0)));
	append_digit(program);
	netfc_append(program,
		JOIN(FIELD_Q, "q: the quotient so far", part(FIELD_A0, 0, 1, digit),
			part(FIELD_A1, 0, digit, 0)));
	append_digit(program);
	netfc_append(
		program, JOIN(FIELD_T, "the remainder * 2", part(FIELD_A, 0, FP32_SIGNIFICAND, 1)));
	append_subtract(program);
	netfc_append(program,
		JOIN(FIELD_V, "all digits, the last bit, whether there is any further",
			part(FIELD_Q, 0, digit + 1, 19), part(FIELD_A1, 0, digit, 7),
			part(FIELD_INDEX, 0, 1, 6),
			part_test(NETFC_PART_ANY, part(FIELD_A, 0, FP32_SIGNIFICAND, 0))));
	fp32_append_tail(program);
}
