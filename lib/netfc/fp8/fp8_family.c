/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of table sets of 8 bits: all four operations in some hundred entries. */
#include "fp8/fp8_family.h"

/* The order in which lanes go through the tables of 8 bits. */

/* The fields of the family's own. */
enum fp8_field {
	FIELD_A = FIELD_FAMILY, /* wide encodings: x's, y's */
	FIELD_B,
	FIELD_LARGER,
	FIELD_SMALLER, /* always behind LARGER */
	FIELD_KEY,     /* of the next look-up */
	FIELD_OFFSET,
	FIELD_BASE,
	FIELD_MAGNITUDE,
	FP8_FIELDS,
};

static const char *const additive_names[] = {
	"a", "b", "larger", "smaller", "index", "offset", "difference", "|z|"};
static const char *const multiplicative_names[] = {
	"a", "b", "exponent a", "exponent b", "index", "part", "class", "|z|"};

static void
append_decode(struct netfc_program *program)
{
	netfc_append_lookup(program, FIELD_A, FP8_DECODE, FIELD_MAGNITUDE_X,
		"a = decode[|x|]: exponent and fraction, normalised");
	netfc_append_lookup(
		program, FIELD_B, FP8_DECODE, FIELD_MAGNITUDE_Y, "b = decode[|y|]: the same of y");
}

/* The difference; one that is too great for the key becomes another that changes nothing. */
static struct netfc_step
join_difference(const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits, bits = fp8_difference_bits(format);
	const uint32_t far = fp8_far_difference(format);
	struct netfc_step step = JOIN(FIELD_KEY, "the difference, the larger one's fraction, signs",
		part(FIELD_BASE, 0, bits, 0), part(FIELD_LARGER, 0, f, bits),
		part_test(NETFC_PART_ANY, part(FIELD_DECISION, 18, 2, bits + f)));

	for (unsigned at = 0; at < bits; at++) {
		if (far >> at & 1)
			step.part[step.part_count++] = part_test(NETFC_PART_ANY,
				part(FIELD_BASE, bits, fp8_exponent_bits(format) + f - bits, at));
	}
	return step;
}

static void
write_additive(struct netfc_program *program, const struct netfc_format *format)
{
	append_decode(program);
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_SORT,
			.dst = FIELD_LARGER,
			.a = FIELD_A,
			.b = FIELD_B,
			.what = "the larger and the smaller one"});
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_DISTANCE,
			.dst = FIELD_BASE,
			.a = FIELD_A,
			.b = FIELD_B,
			.what = "their difference"});
	netfc_append(program, join_difference(format));
	netfc_append_lookup(program, FIELD_OFFSET, FP8_DIFFER, FIELD_KEY,
		"differ: what the larger one lacks to be the result, rounded");
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_KEY, FIELD_LARGER, FIELD_OFFSET,
		fp8_wide_bits(format), "larger + offset");
	netfc_append_lookup(program, FIELD_MAGNITUDE, FP8_ENCODE, FIELD_KEY,
		"|z| = encode: subnormal, or too large, or as it is");
	netfc_append_select(program, format, FIELD_MAGNITUDE);
}

/*
 * A wide exponent less its bias, 6 bits, in the upper ones of 7. Below y's stands whether to
 * divide: x's less y's is then one less where that bit is dropped.
 */
static struct netfc_step
join_exponent(const struct netfc_format *format, unsigned dst, unsigned wide, const char *what)
{
	const unsigned f = format->fraction_bits, top = f + fp8_exponent_bits(format) - 1;

	return JOIN(dst, what, part(wide, f, fp8_exponent_bits(format) - 1, 1),
		part_test(NETFC_PART_NONE, part(wide, top, 1, fp8_exponent_bits(format))),
		part_test(NETFC_PART_NONE, part(wide, top, 1, fp8_exponent_bits(format) + 1)));
}

static void
append_exponents(struct netfc_program *program, const struct netfc_format *format)
{
	struct netfc_step y =
		join_exponent(format, FIELD_KEY, FIELD_B, "y's exponent, and whether to divide");

	y.part[y.part_count++] = part(NETFC_OP, 0, 1, 0);
	netfc_append(program, join_exponent(format, FIELD_LARGER, FIELD_A, "x's exponent"));
	netfc_append(program, y);
	netfc_append(program,
		(struct netfc_step){.kind = NETFC_STEP_NEGATE_DIV,
			.dst = FIELD_SMALLER,
			.a = FIELD_KEY,
			.what = "y's exponent, or its negative to divide"});
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_LARGER, FIELD_LARGER, FIELD_SMALLER,
		fp8_sum_bits(format) + 1, "exponent = x's + y's, or x's - y's - 1");
}

static void
write_multiplicative(struct netfc_program *program, const struct netfc_format *format)
{
	const unsigned f = format->fraction_bits, bits = f + FP8_GUARD_BITS;

	append_decode(program);
	append_exponents(program, format);
	netfc_append(program,
		JOIN(FIELD_KEY, "operation, both fractions", part(FIELD_B, 0, f, 0),
			part(FIELD_A, 0, f, f), part(NETFC_OP, 0, 1, 2 * f)));
	netfc_append_lookup(program, FIELD_OFFSET, FP8_PART, FIELD_KEY,
		"part: the product or quotient of the significands");
	netfc_append(program,
		JOIN(FIELD_KEY, "exponent, and whether it is one more",
			part(FIELD_LARGER, 1, fp8_sum_bits(format), 1),
			part(FIELD_OFFSET, bits, 1, 0)));
	netfc_append_lookup(
		program, FIELD_BASE, FP8_CLASS, FIELD_KEY, "class: where to round, the base");
	netfc_append(program,
		JOIN(FIELD_KEY, "class, fraction", part(FIELD_OFFSET, 0, bits, 0),
			part(FIELD_BASE, FP8_CLASS_AT, fp8_class_bits(format), bits)));
	netfc_append_lookup(
		program, FIELD_OFFSET, FP8_ROUND, FIELD_KEY, "round: the fraction, rounded");
	netfc_append(
		program, JOIN(FIELD_KEY, "the base", part(FIELD_BASE, 0, FP8_MAGNITUDE_BITS, 0)));
	netfc_append_alu(program, NETFC_STEP_ADD, FIELD_MAGNITUDE, FIELD_KEY, FIELD_OFFSET,
		FP8_MAGNITUDE_BITS, "|z| = base + rounded");
	netfc_append_select(program, format, FIELD_MAGNITUDE);
}

void
fp8_program(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	struct netfc_program *additive = &set->program[NETFC_ADDITIVE];
	struct netfc_program *multiplicative = &set->program[NETFC_MULTIPLICATIVE];

	netfc_program_start(additive, format, FP8_DECIDE, additive_names, FP8_FIELDS);
	write_additive(additive, format);
	netfc_program_start(multiplicative, format, FP8_DECIDE, multiplicative_names, FP8_FIELDS);
	write_multiplicative(multiplicative, format);
}

static void
fp8_layout(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	const unsigned f = format->fraction_bits;
	const struct netfc_table tables[FP8_DECIDE] = {
		[FP8_DECODE] = {.name = "decode",
			.key_bits = FP8_MAGNITUDE_BITS,
			.value_bits = fp8_exponent_bits(format) + f,
			.pages = 1,
			.copies = 2},
		[FP8_DIFFER] = {.name = "differ",
			.key_bits = 1 + f + fp8_difference_bits(format),
			.value_bits = fp8_offset_bits(format),
			.pages = 1,
			.copies = 1},
		[FP8_ENCODE] = {.name = "encode",
			.key_bits = fp8_wide_bits(format),
			.value_bits = FP8_MAGNITUDE_BITS,
			.pages = 1,
			.copies = 1},
		[FP8_PART] = {.name = "part",
			.key_bits = 1 + 2 * f,
			.value_bits = 1 + f + FP8_GUARD_BITS,
			.pages = 1,
			.copies = 1},
		[FP8_CLASS] = {.name = "class",
			.key_bits = fp8_sum_bits(format) + 1,
			.value_bits = FP8_CLASS_AT + fp8_class_bits(format),
			.pages = 1,
			.copies = 1},
		[FP8_ROUND] = {.name = "round",
			.key_bits = fp8_class_bits(format) + f + FP8_GUARD_BITS,
			.value_bits = f + 1,
			.pages = 1,
			.copies = 1},
	};

	netfc_describe_tables(set, tables, FP8_DECIDE);
}

const struct family netfc_fp8_family = {
	.layout = fp8_layout,
	.fill = fp8_fill,
	.mark = fp8_mark,
	.program = fp8_program,
	.calc = netfc_compute_one,
};
