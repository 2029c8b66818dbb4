/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which lanes go through the small correctly rounded tables. */
#include "exact/small_family.h"

/* The fields of the family's own. */
enum small_field {
	FIELD_INDEX = FIELD_FAMILY, /* of the next look-up */
	FIELD_A,                    /* the larger operand, x */
	FIELD_B,                    /* the smaller one, y; always after A */
	FIELD_EXPONENT_A,
	FIELD_EXPONENT_B,
	FIELD_U, /* on the way */
	FIELD_V,
	FIELD_T,
	FIELD_SUM, /* the sum, product or quotient */
	FIELD_NORM,
	FIELD_EXPONENT,
	FIELD_SCALE,
	FIELD_BODY,
	FIELD_MAGNITUDE,
	SMALL_FIELDS,
};

static const char *const field_names[] = {"index", "a", "b", "exponent a", "exponent b", "u", "v",
	"t", "sum", "norm", "exponent", "scale", "body", "|z|"};

/* A program, and what it is written for. */
struct writer {
	struct netfc_program *program;
	const struct netfc_format *format;
	struct small_shape shape;
};

/*
 * A significand or body, `value`, shifted right by as much as `shift` says, into V: two look-ups
 * of its halves and their sum.
 */
static void
append_align(const struct writer *w, struct netfc_part shift, unsigned value)
{
	const unsigned low = w->shape.low, high = w->shape.wide - low;
	const unsigned bits = w->shape.wide + SMALL_GUARD_BITS + SMALL_ALIGNED_AT;
	struct netfc_step step;

	shift.at = (uint8_t)high;
	netfc_append(w->program,
		JOIN(FIELD_INDEX, "shift, high half", part(value, low, high, 0), shift));
	netfc_append_lookup(w->program, FIELD_V, SMALL_ALIGN, FIELD_INDEX,
		"v = align: the high half, shifted right");
	step = JOIN(FIELD_INDEX, "shift, low half", part(value, 0, low, 0), shift);
	step.imm = 1 << (SMALL_SHIFT_BITS + high);
	netfc_append(w->program, step);
	netfc_append_lookup(w->program, FIELD_T, SMALL_ALIGN, FIELD_INDEX,
		"t = align: the low half, shifted right");
	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_V, FIELD_V, FIELD_T, bits, "v = v + t");
}

/* IEEE: the exponent, which is 1 where it says 0, and the significand with its hidden bit. */
static void
append_unpack_ieee(
	const struct writer *w, unsigned operand, unsigned exponent, unsigned significand)
{
	const unsigned f = w->shape.fraction, bits = w->shape.exponent;

	netfc_append(w->program,
		JOIN(exponent, "its exponent, at least 1", part(operand, f, bits, 0),
			part_test(NETFC_PART_NONE, part(operand, f, bits, 0))));
	netfc_append(w->program,
		JOIN(significand, "its significand", part(operand, 0, f, 0),
			part_test(NETFC_PART_ANY, part(operand, f, bits, f))));
}

static void
append_unpack_posit(
	const struct writer *w, unsigned operand, unsigned exponent, unsigned significand)
{
	const unsigned f = w->shape.fraction;
	struct netfc_step step;

	netfc_append_lookup(
		w->program, FIELD_T, SMALL_DECODE, operand, "decode: its exponent and fraction");
	netfc_append(
		w->program, JOIN(exponent, "its exponent", part(FIELD_T, f, w->shape.exponent, 0)));
	step = JOIN(significand, "its significand", part(FIELD_T, 0, f, 0));
	step.imm = 1 << f;
	netfc_append(w->program, step);
}

/* The larger operand in A, the smaller in B, to their sum or difference. */
static void
append_sum(const struct writer *w)
{
	const unsigned s = w->shape.significand, bits = w->shape.exponent;
	void (*unpack)(const struct writer *, unsigned, unsigned, unsigned) =
		w->shape.posit ? append_unpack_posit : append_unpack_ieee;

	netfc_append_step(w->program, NETFC_STEP_SORT, FIELD_A, FIELD_MAGNITUDE_X,
		FIELD_MAGNITUDE_Y, 0, "a, b: the larger and the smaller magnitude");
	unpack(w, FIELD_A, FIELD_EXPONENT, FIELD_U);
	unpack(w, FIELD_B, FIELD_EXPONENT_B, FIELD_NORM);
	netfc_append_alu(w->program, NETFC_STEP_SUB, FIELD_EXPONENT_B, FIELD_EXPONENT,
		FIELD_EXPONENT_B, bits, "their exponents' difference");
	netfc_append_lookup(w->program, FIELD_EXPONENT_B, SMALL_SHIFT, FIELD_EXPONENT_B,
		"shift: by how much b's significand is");
	append_align(w, part(FIELD_EXPONENT_B, 0, SMALL_SHIFT_BITS, 0), FIELD_NORM);
	netfc_append(w->program,
		JOIN(FIELD_BODY, "b's significand, sticky bit and all",
			part(FIELD_V, SMALL_ALIGNED_AT, s + SMALL_GUARD_BITS, 0),
			part_test(NETFC_PART_ANY, part(FIELD_V, 0, SMALL_ALIGNED_AT, 0))));
	netfc_append(w->program,
		JOIN(FIELD_T, "a's significand with guard bits",
			part(FIELD_U, 0, s, SMALL_GUARD_BITS)));
	netfc_append_step(w->program, NETFC_STEP_ADD_OR_SUB, FIELD_SUM, FIELD_T, FIELD_BODY,
		FIELD_DECISION, "sum = a's + b's, or a's - b's where signs differ");
	netfc_append(w->program,
		JOIN(FIELD_INDEX, "the sum but for two bits", part(FIELD_SUM, 2, s + 2, 0)));
	netfc_append(w->program,
		JOIN(FIELD_B, "three bits of it below the significand", part(FIELD_SUM, 0, 3, 0)));
}

/* IEEE: the normalised significand with its exponent, plus the bias. */
static void
append_normalise(const struct writer *w, unsigned operand, unsigned exponent, unsigned significand)
{
	const unsigned f = w->shape.fraction, bits = w->shape.exponent;
	struct netfc_step step;

	netfc_append(w->program,
		JOIN(FIELD_INDEX, "its fraction, and whether it is subnormal",
			part(operand, 0, f, 0),
			part_test(NETFC_PART_NONE, part(operand, f, bits, f))));
	netfc_append_lookup(w->program, FIELD_T, SMALL_DECODE, FIELD_INDEX, "prenorm: normalised");
	netfc_append(w->program, JOIN(exponent, "its exponent", part(operand, f, bits, 0)));
	netfc_append(w->program,
		JOIN(FIELD_V, "its exponent's correction", part(FIELD_T, f, SMALL_SHIFT_BITS, 0)));
	netfc_append_alu(w->program, NETFC_STEP_ADD, exponent, exponent, FIELD_V, w->shape.sum,
		"exponent + correction");
	step = JOIN(significand, "its significand", part(FIELD_T, 0, f, 0));
	step.imm = 1 << f;
	netfc_append(w->program, step);
}

/* square[index], into dst. */
static void
append_square(const struct writer *w, unsigned dst)
{
	const unsigned digit = w->shape.significand + 1;
	struct netfc_step step;

	if (!small_has_wide_squares(w->shape)) {
		netfc_append_lookup(w->program, dst, SMALL_SQUARE, FIELD_INDEX,
			"square: a quarter of its square");
		return;
	}
	netfc_append_lookup(w->program, FIELD_NORM, SMALL_SQUARE, FIELD_INDEX,
		"square: a quarter of its square, low half");
	step = JOIN(FIELD_SCALE, "the high half's index", part(FIELD_INDEX, 0, digit + 1, 0));
	step.imm = 1 << (digit + 1);
	netfc_append(w->program, step);
	netfc_append_lookup(
		w->program, FIELD_BODY, SMALL_SQUARE, FIELD_SCALE, "square: the high half");
	netfc_append(w->program,
		JOIN(dst, "a quarter of its square", part(FIELD_NORM, 0, digit, 0),
			part(FIELD_BODY, 0, digit, digit)));
}

/* The product of U, x's significand, with V: quarter squares of sum and difference. */
static void
append_product(const struct writer *w, unsigned dst)
{
	const unsigned s = w->shape.significand;

	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_INDEX, FIELD_U, FIELD_V, s + 2, "u + v");
	append_square(w, FIELD_T);
	netfc_append_step(
		w->program, NETFC_STEP_DISTANCE, FIELD_INDEX, FIELD_U, FIELD_V, 0, "|u - v|");
	append_square(w, dst);
	netfc_append_alu(w->program, NETFC_STEP_SUB, dst, FIELD_T, dst, 2 * s + 2,
		"u * v, the squares' difference");
}

/* x's significand in U times y's, or y's reciprocal, in B. */
static void
append_multiply(const struct writer *w)
{
	const unsigned f = w->shape.fraction, s = w->shape.significand;
	struct netfc_step step;

	step = JOIN(FIELD_INDEX, "operation, y's fraction", part(FIELD_B, 0, f, 0),
		part(NETFC_OP, 0, 1, f));
	netfc_append(w->program, step);
	netfc_append_lookup(w->program, FIELD_V, SMALL_FACTOR, FIELD_INDEX,
		"v = factor: of y's significand or its reciprocal the high digit");
	append_product(w, FIELD_A);
	step.imm = 1 << (f + 1);
	netfc_append(w->program, step);
	netfc_append_lookup(
		w->program, FIELD_V, SMALL_FACTOR, FIELD_INDEX, "v = factor: the low digit");
	append_product(w, FIELD_MAGNITUDE);
	netfc_append(w->program,
		JOIN(FIELD_T, "the high product in its place", part(FIELD_A, 0, 2 * s + 1, 1)));
	netfc_append(w->program,
		JOIN(FIELD_V, "the low product without its lowest digit",
			part(FIELD_MAGNITUDE, s, s + 1, 0)));
	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_SUM, FIELD_T, FIELD_V, 2 * s + 2,
		"sum: the product or quotient");
	netfc_append(w->program, JOIN(FIELD_INDEX, "its upper half", part(FIELD_SUM, s, s + 2, 0)));
	netfc_append(w->program,
		JOIN(FIELD_B, "its bits below the significand",
			part_test(NETFC_PART_ANY, part(FIELD_SUM, 0, s, 0)),
			part(FIELD_SUM, s, 1, 2)));
}

static void
append_quotient_or_product(const struct writer *w)
{
	if (w->shape.posit) {
		append_unpack_posit(w, FIELD_MAGNITUDE_X, FIELD_EXPONENT, FIELD_U);
		append_unpack_posit(w, FIELD_MAGNITUDE_Y, FIELD_EXPONENT_B, FIELD_B);
	} else {
		append_normalise(w, FIELD_MAGNITUDE_X, FIELD_EXPONENT, FIELD_U);
		append_normalise(w, FIELD_MAGNITUDE_Y, FIELD_EXPONENT_B, FIELD_B);
	}
	netfc_append_step(w->program, NETFC_STEP_NEGATE_DIV, FIELD_EXPONENT_A, FIELD_EXPONENT_B, 0,
		0, "y's exponent, or its negative to divide");
	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_EXPONENT, FIELD_EXPONENT,
		FIELD_EXPONENT_A, w->shape.sum, "exponent = x's + y's, or x's - y's");
	append_multiply(w);
}

/*
 * What both programs end with: the sum in INDEX, without its last bits, which are in B; the
 * exponent in EXPONENT.
 */
static void
append_tail(const struct writer *w)
{
	const unsigned f = w->shape.fraction, tail = w->shape.tail;
	const unsigned left_at = SMALL_FRACTION_AT + f;
	struct netfc_step body;

	netfc_append_lookup(w->program, FIELD_NORM, SMALL_NORM, FIELD_INDEX,
		"norm: its fraction, the places it moved");
	netfc_append(w->program,
		JOIN(FIELD_T, "the places", part(FIELD_NORM, left_at, SMALL_LEFT_BITS, 0)));
	netfc_append_alu(w->program, NETFC_STEP_SUB, FIELD_EXPONENT, FIELD_EXPONENT, FIELD_T,
		w->shape.sum, "exponent - places");
	netfc_append(w->program,
		JOIN(FIELD_INDEX, "operation, exponent", part(FIELD_EXPONENT, 0, w->shape.sum, 0),
			part(NETFC_OP, 0, 2, w->shape.sum)));
	netfc_append_lookup(w->program, FIELD_SCALE, SMALL_SCALE, FIELD_INDEX,
		"scale: the base, and how much of the body does not fit");
	if (tail != 0) {
		body = JOIN(FIELD_BODY, "the body: exponent bits, fraction",
			part(FIELD_NORM, SMALL_FRACTION_AT, f, 0),
			part(FIELD_SCALE, SMALL_TAIL_AT, tail, f));
	} else {
		body = JOIN(FIELD_BODY, "the body: the significand",
			part(FIELD_NORM, SMALL_FRACTION_AT, f, 0));
		body.imm = 1 << f;
	}
	netfc_append(w->program, body);
	append_align(w, part(FIELD_SCALE, SMALL_RIGHT_AT, SMALL_SHIFT_BITS, 0), FIELD_BODY);
	netfc_append(w->program,
		JOIN(FIELD_INDEX, "all that rounding depends on", part(FIELD_B, 0, 3, 0),
			part(FIELD_NORM, 0, SMALL_FRACTION_AT, 3),
			part_test(NETFC_PART_ANY,
				part(FIELD_SCALE, SMALL_RIGHT_AT, SMALL_SHIFT_BITS, 5)),
			part_test(NETFC_PART_ANY, part(FIELD_V, 0, SMALL_ALIGNED_AT, 6)),
			part(FIELD_V, SMALL_ALIGNED_AT, 4, 7), part(FIELD_SCALE, 0, 1, 10)));
	netfc_append_lookup(
		w->program, FIELD_T, SMALL_INC, FIELD_INDEX, "inc: whether to round up");
	netfc_append(w->program,
		JOIN(FIELD_BODY, "the body, shifted",
			part(FIELD_V, SMALL_ALIGNED_AT + SMALL_GUARD_BITS, w->shape.wide, 0)));
	netfc_append(w->program,
		JOIN(FIELD_MAGNITUDE, "the base", part(FIELD_SCALE, 0, SMALL_BASE_BITS, 0)));
	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_MAGNITUDE, FIELD_MAGNITUDE, FIELD_BODY,
		SMALL_BASE_BITS, "|z| = base + body");
	netfc_append_alu(w->program, NETFC_STEP_ADD, FIELD_MAGNITUDE, FIELD_MAGNITUDE, FIELD_T,
		SMALL_BASE_BITS, "|z| = |z| + inc");
	netfc_append_select(w->program, w->format, FIELD_MAGNITUDE);
}

void
small_program(struct netfc_set *set)
{
	for (unsigned branch = 0; branch < NETFC_BRANCHES; branch++) {
		const struct writer writer = {
			&set->program[branch], set->id.format, small_shape(set->id.format)};

		netfc_program_start(
			writer.program, writer.format, SMALL_DECIDE, field_names, SMALL_FIELDS);
		if (branch == NETFC_ADDITIVE)
			append_sum(&writer);
		else
			append_quotient_or_product(&writer);
		append_tail(&writer);
	}
}
