/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family of table sets, laid out for the fewest pipeline stages: look up,
 * look up, add, look up, add (docs/exact.md).
 */
#include "exact/exact_family.h"

static void
exact_layout(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	const unsigned f = format->fraction_bits, w = format->exp_bits;
	const unsigned sum_bits = exact_sum_bits(format);
	const bool halves = exact_has_halves(format);
	const struct netfc_table tables[EXACT_DECIDE] = {
		[EXACT_EXPS] = {.name = "exps",
			.key_bits = 2 * w,
			.value_bits = exact_code_x_at(format) + EXACT_CODE_BITS},
		[EXACT_ALIGN] = {.name = "align",
			.key_bits = EXACT_CODE_BITS + 1 + f,
			.value_bits = sum_bits,
			.copies = 2,
			.value_signed = true},
		[EXACT_NORM] = {.name = "norm",
			.page_name = {"norm", "norminf"},
			.key_bits = sum_bits,
			.value_bits = 16,
			.pages = 2,
			.key_signed = true,
			.value_signed = true},
		[EXACT_SUBN] = {.name = "subn",
			.key_bits = EXACT_SHIFT_BITS + sum_bits - 2,
			.value_bits = 16,
			.value_signed = true,
			.sparse = true},
		[EXACT_PRENORM] = {.name = "prenorm",
			.key_bits = 15,
			.value_bits = 16,
			.copies = 2},
		[EXACT_PART] = {.name = "part",
			.page_name = {"parthi", "partlo"},
			.key_bits = halves ? 1 + f / 2 + f : 1 + 2 * f,
			.value_bits =
				halves ? exact_point_bits(format) + 2 : exact_top_bits(format) + 1,
			.pages = halves ? 2 : 1},
		[EXACT_CLASS] = {.name = "class",
			.key_bits = 3 + exact_exponent_bits(format),
			.value_bits = EXACT_CLASS_AT + EXACT_CLASS_BITS},
		[EXACT_ROUND] = {.name = "round",
			.page_name = {"roundeq", "roundne"},
			.key_bits = EXACT_CLASS_BITS + exact_top_bits(format),
			.value_bits = f + 2,
			.pages = 2},
	};

	netfc_describe_tables(set, tables, EXACT_DECIDE);
}

/* Exponents of finite numbers. */
static void
mark_exps(const struct netfc_format *format, struct netfc_table *table)
{
	for (uint32_t ex = 0; ex <= exact_top_exponent(format); ex++) {
		for (uint32_t ey = 0; ey <= exact_top_exponent(format); ey++)
			mark_reachable(table, ex << format->exp_bits | ey);
	}
}

/* No shift above the greatest; no zero significand. */
static void
mark_align(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned f = format->fraction_bits;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		bool hidden = key >> (f + 1) & 1, fraction = (key & low_mask(f)) != 0;

		if (key >> (f + 2) <= exact_max_shift(format) && (hidden || fraction))
			mark_reachable(table, key);
	}
}

/*
 * Sums are at most twice the greatest significand. Below the half of a normal significand there
 * are but differences of operands whose exponents differ by 1 at most, and so multiples of 4.
 */
static bool
sum_occurs(const struct netfc_format *format, int32_t sum)
{
	int32_t magnitude = sum < 0 ? -sum : sum, one = INT32_C(1) << format->fraction_bits;

	if (magnitude == 0 || magnitude > (2 * one - 1) << (EXACT_GUARD_BITS + 1))
		return false;
	return magnitude >= one << (EXACT_GUARD_BITS - 1) || magnitude % 4 == 0;
}

static void
mark_sums(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	const unsigned bits = exact_sum_bits(format);
	const int32_t end = INT32_C(1) << (bits - 1);

	for (int32_t sum = -end; sum < end; sum++) {
		uint32_t key = (uint32_t)sum & low_mask(bits);

		if (!sum_occurs(format, sum))
			continue;
		mark_reachable(&set->table[EXACT_NORM], key);
		mark_reachable(&set->table[EXACT_NORM], 1u << bits | key);
		/* Numbers of the least exponent are not shifted: their sums are multiples of 8. */
		for (uint32_t small = 0; small <= exact_small_exponent(format); small++)
			if (small != 1 || sum % 8 == 0)
				mark_reachable(
					&set->table[EXACT_SUBN], small << (bits - 2) | key >> 2);
	}
}

/* Exponents of prenorm: sums for mul, differences for div. */
static void
mark_class(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned bits = exact_exponent_bits(format);
	const int32_t top = (int32_t)(exact_top_exponent(format) + exact_bias(format));

	for (uint32_t signs = 0; signs < 4; signs++) {
		for (int32_t e = 0; e <= 2 * top; e++)
			mark_reachable(table, signs << bits | (uint32_t)e);
		for (int32_t e = -top; e <= top; e++)
			mark_reachable(table, (4 | signs) << bits | ((uint32_t)e & low_mask(bits)));
	}
}

static void
mark_round(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned bits = exact_top_bits(format);

	for (uint32_t index = 0; index < netfc_table_size(table); index++) {
		uint32_t class = index >> bits & low_mask(EXACT_CLASS_BITS);
		uint32_t top = index & low_mask(bits);

		if (top >= 1u << (bits - 2) && class <= EXACT_GREATEST &&
			(class >= EXACT_NOTHING || class <= format->fraction_bits + 1u))
			mark_reachable(table, index);
	}
}

static void
exact_mark(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	struct netfc_table *table = set->table;

	mark_exps(format, &table[EXACT_EXPS]);
	mark_align(format, &table[EXACT_ALIGN]);
	mark_sums(set);
	mark_range(&table[EXACT_PRENORM], 1, format->inf);
	mark_all(&table[EXACT_PART]);
	mark_class(format, &table[EXACT_CLASS]);
	mark_round(format, &table[EXACT_ROUND]);
}

/* ---- the order in which lanes go through the tables ---- */

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
	netfc_append_step(program, NETFC_STEP_NEGATE_DIV, FIELD_BASE, FIELD_KEY, 0, 0,
		"y's exponent, or its negative to divide");
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

static void
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

const struct family netfc_exact_family = {
	.layout = exact_layout,
	.fill = exact_fill,
	.mark = exact_mark,
	.program = exact_program,
	.calc = netfc_compute_one,
};
