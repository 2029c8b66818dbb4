/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of binary32: sums align, add, normalise, round; products are made of digits of 12 bits
 * by quarter squares; quotients are a long division.
 */
#include "fp32/fp32_family.h"

static const char *const field_names[FP32_FIELDS - FIELD_FAMILY] = {
	"e", "a", "b", "a1", "a0", "b1", "b0", "index", "t", "lost", "u", "v", "recip", "q"};

/* Name the fields, unpack the operands, look up the decision. */
static void
start(struct netfc_program *program)
{
	netfc_program_start(program, netfc_fp32_format(), FP32_DECIDE, field_names, FP32_FIELDS);
}

/*
 * The 28 bits of `wide` shifted left until the highest is one, into U; the places that it moved:
 * 14 or 0 into INDEX, the others into V.
 */
static void
append_lead(struct netfc_program *program, unsigned wide)
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
	append_lead(program, FIELD_T);
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

/*
 * Operands, normalised: significands to A and B, the sum of their exponents, or their difference,
 * to E.
 */
static void
append_operands(struct netfc_program *program, enum netfc_step_kind join_exponents)
{
	append_operand(program, FIELD_MAGNITUDE_X, FIELD_A, FIELD_E);
	append_operand(program, FIELD_MAGNITUDE_Y, FIELD_B, FIELD_A1);
	netfc_append_alu(program, join_exponents, FIELD_E, FIELD_E, FIELD_A1,
		FP32_SCALE_EXPONENT_BITS,
		join_exponents == NETFC_STEP_ADD ? "e = x's exponent + y's"
						 : "e = x's exponent - y's");
}

/* The product of two digits, p * q, by way of INDEX and U. dst is neither p nor q. */
static void
append_product(
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

/*
 * Look up, into dst, whether to round up a word whose last bit is bit `last` of `field`; `lost`
 * says, at bit 0, whether anything was lost below bit 0.
 */
static void
append_round(struct netfc_program *program, unsigned dst, unsigned field, unsigned last,
	struct netfc_part lost)
{
	netfc_append(program,
		JOIN(FIELD_INDEX, "the last bit, the next, whether there is any further",
			part(field, last, 1, 2), part(field, last - 1, 1, 1),
			part_test(NETFC_PART_ANY, part(field, 0, last - 1, 0)), lost));
	netfc_append_lookup(program, dst, FP32_ROUND, FIELD_INDEX, "round: whether to round up");
}

/*
 * The end of products and quotients: 32 bits of which the highest or the next one is the leading
 * one and the lowest is sticky, in V, and the exponent in E.
 */
static void
append_tail(struct netfc_program *program)
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
	append_round(program, FIELD_A, FIELD_T, last,
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

/* ---- sums ---- */

/* An operand, its words in exps' word at those positions, and the field that has its sign. */
struct operand {
	unsigned magnitude, sign, shift_at, hidden_at, dst;
};

static void
append_aligned(struct netfc_program *program, const struct operand *o)
{
	netfc_append(program,
		JOIN(FIELD_T, "its significand, three bits after it",
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
	append_lead(program, FIELD_A);
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

static void
write_sum(struct netfc_program *program)
{
	const unsigned last = FP32_WIDE - FP32_SIGNIFICAND;
	const struct operand x = {
		FIELD_MAGNITUDE_X, NETFC_X, FP32_SHIFT_X_AT, FP32_HIDDEN_X_AT, FIELD_A};
	const struct operand y = {
		FIELD_MAGNITUDE_Y, FIELD_Y_SIGNED, FP32_SHIFT_Y_AT, FP32_HIDDEN_Y_AT, FIELD_B};

	start(program);
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
	append_round(program, FIELD_V, FIELD_A, last, part(FIELD_A, 0, 1, 0));
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

/* ---- products ---- */

static void
append_digits(struct netfc_program *program, unsigned word, unsigned high, unsigned low)
{
	netfc_append(program, JOIN(high, "its high digit", part(word, FP32_DIGIT, FP32_DIGIT, 0)));
	netfc_append(program, JOIN(low, "its low digit", part(word, 0, FP32_DIGIT, 0)));
}

static void
write_product(struct netfc_program *program)
{
	const unsigned digit = FP32_DIGIT;

	start(program);
	append_operands(program, NETFC_STEP_ADD);
	append_digits(program, FIELD_A, FIELD_A1, FIELD_A0);
	append_digits(program, FIELD_B, FIELD_B1, FIELD_B0);
	append_product(program, FIELD_A, FIELD_A1, FIELD_B0, "a1 * b0");
	append_product(program, FIELD_B, FIELD_A0, FIELD_B1, "a0 * b1");
	netfc_append_alu(
		program, NETFC_STEP_ADD, FIELD_A, FIELD_A, FIELD_B, 32, "a1 * b0 + a0 * b1");
	append_product(program, FIELD_B, FIELD_A0, FIELD_B0, "a0 * b0");
	netfc_append(program, JOIN(FIELD_T, "its high digit", part(FIELD_B, digit, digit, 0)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_A, FIELD_A, FIELD_T, 32,
		"a: the product's digits above its lowest, but for a1 * b1");
	append_product(program, FIELD_V, FIELD_A1, FIELD_B1, "a1 * b1");
	netfc_append(program, JOIN(FIELD_T, "a's upper bits", part(FIELD_A, digit, digit + 2, 0)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_T, FIELD_V, FIELD_T, 2 * FP32_DIGIT,
		"t: the product's 24 upper bits");
	netfc_append(program,
		JOIN(FIELD_V, "eight more, and whether there is any further",
			part(FIELD_T, 0, 2 * digit, 8), part(FIELD_A, digit - 8, 8, 0),
			part_test(NETFC_PART_ANY, part(FIELD_A, 0, digit - 8, 0)),
			part_test(NETFC_PART_ANY, part(FIELD_B, 0, digit, 0))));
	append_tail(program);
}

/* ---- quotients ---- */

/*
 * Long division with two digits of 12 bits, and a bit before and
 * after them. The remainder is exact, so that the quotient's 26 bits are, and whether anything
 * follows them. docs/exact.md proves that a digit's estimate is right or one too small.
 */

#define FP32_ESTIMATE_BITS 11 /* after an estimate's binary point */

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
	netfc_append_step(program, NETFC_STEP_CHOOSE, FIELD_A, FIELD_A, FIELD_T, FIELD_A,
		"a: the new remainder");
}

/*
 * The digit's estimate into A1: the remainder's 12 upper bits times the reciprocal's, and the
 * 4 bits after either of them times the 4 highest ones of the other.
 */
static void
append_estimate(struct netfc_program *program)
{
	const unsigned four = FP32_CROSS_DIGIT, digit = FP32_DIGIT;

	netfc_append(program,
		JOIN(FIELD_A1, "the remainder's upper bits", part(FIELD_A, digit, digit, 0)));
	netfc_append(program,
		JOIN(FIELD_V, "the reciprocal's upper bits", part(FIELD_RECIP, four, digit, 0)));
	append_product(program, FIELD_T, FIELD_A1, FIELD_V, "t: their product");
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
	append_product(
		program, FIELD_T, FIELD_A1, FIELD_B1, "the digit * the divisor's high digit");
	netfc_append_alu(
		program, NETFC_STEP_SUB, FIELD_A, FIELD_A, FIELD_T, 32, "the remainder less that");
	append_product(program, FIELD_V, FIELD_A1, FIELD_B0, "the digit * the divisor's low digit");
	netfc_append(program,
		JOIN(FIELD_T, "the remainder * 2^12",
			part(FIELD_A, 0, 32 - FP32_DIGIT, FP32_DIGIT)));
	netfc_append_alu(
		program, NETFC_STEP_SUB, FIELD_T, FIELD_T, FIELD_V, 32, "the remainder less that");
	append_subtract(program);
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_A1, FIELD_A1, FIELD_INDEX, FP32_DIGIT,
		"a1: the digit, corrected");
}

static void
write_quotient(struct netfc_program *program)
{
	const unsigned digit = FP32_DIGIT;

	start(program);
	append_operands(program, NETFC_STEP_SUB);
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
	append_tail(program);
}

void
fp32_program(struct netfc_set *set)
{
	write_sum(&set->program[FP32_SUM]);
	write_product(&set->program[FP32_PRODUCT]);
	write_quotient(&set->program[FP32_QUOTIENT]);
}
