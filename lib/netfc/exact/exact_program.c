/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which lanes go through the correctly rounded tables. */
#include "exact/exact_family.h"

/* The fields of the family's own. */
enum exact_field {
	FIELD_KEY = FIELD_FAMILY, /* of the next look-up */
	FIELD_A,                  /* a word about x, or a part made of x */
	FIELD_B,
	FIELD_S, /* the sum, product or quotient */
	FIELD_CODES,
	FIELD_EXPONENT,
	FIELD_BASE,
	FIELD_OFFSET,
	FIELD_WORD,
	EXACT_FIELDS,
};

static const char *const additive_names[] = {
	"index", "a", "b", "s", "codes", "correction", "base", "offset", "word"};
static const char *const multiplicative_names[] = {
	"index", "x norm", "y norm", "p", "class", "exponent", "base", "offset", "word"};

/* z = base + offset, unless the decision knows better. */
static void
append_tail(struct netfc_program *program, const struct netfc_format *format)
{
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_WORD, FIELD_BASE, FIELD_OFFSET, 16,
		"word = base + offset");
	netfc_append_select_signed(program, format, FIELD_WORD);
}

static void
append_align(struct netfc_program *program, const struct netfc_format *format, unsigned dst,
	unsigned operand, unsigned code_at, const char *key, const char *what)
{
	const unsigned f = format->fraction_bits;

	netfc_append(program,
		JOIN(FIELD_KEY, key, part(operand, 0, f, 0), part(operand, 15, 1, f),
			part(FIELD_CODES, code_at, EXACT_CODE_BITS, f + 1)));
	netfc_append_lookup(program, dst, EXACT_ALIGN, FIELD_KEY, what);
}

static void
write_additive(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits, w = format->exp_bits;
	const unsigned bits = exact_sum_bits(format);

	netfc_append(program,
		JOIN(FIELD_KEY, "both exponents", part(FIELD_MAGNITUDE_Y, f, w, 0),
			part(FIELD_MAGNITUDE_X, f, w, w)));
	netfc_append_lookup(program, FIELD_CODES, EXACT_EXPS, FIELD_KEY,
		"exps: how far to shift x and y, the larger exponent");
	append_align(program, format, FIELD_A, NETFC_X, exact_code_x_at(format),
		"x's shift, sign and fraction", "a = align[x]: its significand, shifted, signed");
	append_align(program, format, FIELD_B, FIELD_Y_SIGNED, exact_code_y_at(format),
		"y's shift, sign and fraction", "b = align[y']: the same of y");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_S, FIELD_A, FIELD_B, bits, "s = a + b");
	netfc_append(program,
		JOIN(FIELD_KEY, "the sum, and whether it can overflow", part(FIELD_S, 0, bits, 0),
			part(FIELD_CODES, exact_overflow_at(format), 1, bits)));
	netfc_append_lookup(program, FIELD_OFFSET, EXACT_NORM, FIELD_KEY,
		"norm: the sum normalised and rounded, less its base");
	netfc_append(program,
		JOIN(FIELD_KEY, "the sum, and the larger exponent if it is small",
			part(FIELD_S, 2, bits - 2, 0),
			part(FIELD_CODES, exact_small_at(format), EXACT_SHIFT_BITS, bits - 2)));
	netfc_append_lookup(program, FIELD_EXPONENT, EXACT_SUBN, FIELD_KEY,
		"subn: what the base lacks if the sum is subnormal");
	netfc_append(program,
		JOIN(FIELD_BASE, "the base: the larger exponent, less 1",
			part(FIELD_CODES, 0, w, f)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_BASE, FIELD_BASE, FIELD_EXPONENT, 16,
		"base = base + correction");
	append_tail(program, format);
}

/* A product or quotient as the sum of what two halves of x contribute. */
static void
append_halves(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits, half = f / 2;
	struct netfc_step high =
		JOIN(FIELD_KEY, "operation, high half of x's fraction, y's", part(FIELD_B, 0, f, 0),
			part(FIELD_A, half, half, f), part(NETFC_OP, 0, 1, half + f));
	struct netfc_step low = JOIN(FIELD_KEY, "operation, low half of x's fraction, y's",
		part(FIELD_B, 0, f, 0), part(FIELD_A, 0, half, f), part(NETFC_OP, 0, 1, half + f));

	low.imm = 1 << (half + f + 1);
	netfc_append(program, high);
	netfc_append_lookup(program, FIELD_OFFSET, EXACT_PART, FIELD_KEY,
		"t1 = part: of the product or quotient, by x's high half");
	netfc_append(program, low);
	netfc_append_lookup(
		program, FIELD_WORD, EXACT_PART, FIELD_KEY, "t2 = part: by x's low half");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_S, FIELD_OFFSET, FIELD_WORD,
		exact_point_bits(format) + 2, "p = t1 + t2");
}

static void
append_whole(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits;

	netfc_append(program,
		JOIN(FIELD_KEY, "operation, both fractions", part(FIELD_B, 0, f, 0),
			part(FIELD_A, 0, f, f), part(NETFC_OP, 0, 1, 2 * f)));
	netfc_append_lookup(
		program, FIELD_S, EXACT_PART, FIELD_KEY, "p = part: the product or quotient");
}

/* The exponents' sum or difference, and what it says of the result. */
static void
append_class(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits, bits = exact_exponent_bits(format);

	netfc_append(program, JOIN(FIELD_EXPONENT, "x's exponent", part(FIELD_A, f, 16 - f, 0)));
	netfc_append(program, JOIN(FIELD_KEY, "y's exponent", part(FIELD_B, f, 16 - f, 0)));
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_NEGATE_DIV,
			.dst = FIELD_BASE,
			.a = FIELD_KEY,
			.what = "y's exponent, or its negative to divide"});
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_EXPONENT, FIELD_EXPONENT, FIELD_BASE, bits,
		"exponent = x's + y's, or x's - y's");
	netfc_append(program,
		JOIN(FIELD_KEY, "operation, signs, exponent", part(FIELD_EXPONENT, 0, bits, 0),
			part(NETFC_Y, 15, 1, bits), part(NETFC_X, 15, 1, bits + 1),
			part(NETFC_OP, 0, 1, bits + 2)));
	netfc_append_lookup(program, FIELD_CODES, EXACT_CLASS, FIELD_KEY,
		"class: where to round, the base with its sign");
}

static void
write_multiplicative(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned top = exact_top_bits(format);
	const unsigned below = exact_has_halves(format) ? exact_point_bits(format) + 2 - top : 1;
	const struct netfc_part more =
		part_test(NETFC_PART_ANY, part(FIELD_S, 0, below, top + EXACT_CLASS_BITS));

	netfc_append_lookup(program, FIELD_A, EXACT_PRENORM, FIELD_MAGNITUDE_X,
		"prenorm[|x|]: fraction of the normalised significand, exponent");
	netfc_append_lookup(
		program, FIELD_B, EXACT_PRENORM, FIELD_MAGNITUDE_Y, "prenorm[|y|]: the same of y");
	if (exact_has_halves(format))
		append_halves(program, format);
	else
		append_whole(program, format);
	append_class(program, format);
	netfc_append(program,
		JOIN(FIELD_KEY, "class, top bits of p, whether any below is set",
			part(FIELD_S, below, top, 0),
			part(FIELD_CODES, EXACT_CLASS_AT, EXACT_CLASS_BITS, top), more));
	netfc_append_lookup(
		program, FIELD_OFFSET, EXACT_ROUND, FIELD_KEY, "round: p rounded, less its base");
	netfc_append(program, JOIN(FIELD_BASE, "the base", part(FIELD_CODES, 0, 16, 0)));
	append_tail(program, format);
}

void
exact_program(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	struct netfc_program *additive = &set->program[NETFC_ADDITIVE];
	struct netfc_program *multiplicative = &set->program[NETFC_MULTIPLICATIVE];

	netfc_program_start(additive, format, EXACT_DECIDE, additive_names, EXACT_FIELDS);
	write_additive(additive, format);
	netfc_program_start(
		multiplicative, format, EXACT_DECIDE, multiplicative_names, EXACT_FIELDS);
	write_multiplicative(multiplicative, format);
}
