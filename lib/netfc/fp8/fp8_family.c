/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of table sets of 8 bits: all four operations in some hundred entries. */
#include "fp8/fp8_family.h"

/* The entries of the tables of 8 bits, and which of them operations look up. */

/* The quotient by a power of two, to nearest, ties to even. */
static uint32_t
round_shifted(uint32_t value, unsigned places)
{
	const uint32_t half = UINT32_C(1) << (places - 1), odd = value >> places & 1;

	return (value + half - 1 + odd) >> places;
}

static uint32_t
wide_of(const struct netfc_format *format, uint32_t magnitude)
{
	const struct number number = netfc_unpack(format, magnitude);
	const unsigned f = format->fraction_bits;

	return (uint32_t)(number.exponent + fp8_bias(format)) << f |
		((uint32_t)(number.significand >> (63 - f)) & low_mask(f));
}

/* Of a key of the encode table; sums may be too large. */
static uint32_t
magnitude_of(const struct netfc_format *format, uint32_t key)
{
	const uint32_t wide = key - fp8_offset_bias(format);
	const unsigned f = format->fraction_bits;
	const uint64_t significand = UINT64_C(1) << f | (wide & low_mask(f));

	if (key < fp8_offset_bias(format))
		return 0;
	return netfc_round_nearest(format,
		(struct number){
			(int)(wide >> f) - fp8_bias(format), significand << (63 - f), false});
}

/* What the larger operand's wide encoding lacks to be that of the result. */
static int32_t
offset_of(const struct netfc_format *format, uint32_t key)
{
	const unsigned f = format->fraction_bits, bits = fp8_difference_bits(format);
	const uint32_t fraction = key >> bits & low_mask(f), difference = key & low_mask(bits);
	const bool signs_differ = key >> (bits + f) & 1;
	/* The smaller one's, with an exponent that is great enough for all differences. */
	const uint32_t exponent = UINT32_C(1) << 3, larger = exponent << f | fraction;
	const uint32_t smaller = larger - difference;
	const uint32_t a = (UINT32_C(1) << f | fraction) << exponent;
	const uint32_t b = (UINT32_C(1) << f | (smaller & low_mask(f))) << (smaller >> f);
	const uint32_t sum = signs_differ ? a - b : a + b;
	uint32_t rounded;
	int drop;

	if (sum == 0)
		return 0;
	drop = 31 - __builtin_clz(sum) - (int)f;
	rounded = drop > 0 ? round_shifted(sum, (unsigned)drop) : sum << -drop;
	/* A carry out of the significand is meant to add to the exponent. */
	return (int32_t)(((uint32_t)drop << f) + rounded - (UINT32_C(1) << f)) - (int32_t)larger;
}

static void
fill_sum(const struct netfc_format *format, struct netfc_table *table)
{
	for (uint32_t magnitude = 1; magnitude < format->inf; magnitude++)
		table[FP8_DECODE].entries[magnitude] = wide_of(format, magnitude);
	for (uint32_t key = 0; key < netfc_table_size(&table[FP8_DIFFER]); key++)
		table[FP8_DIFFER].entries[key] =
			(uint32_t)offset_of(format, key) + fp8_offset_bias(format);
	for (uint32_t key = 0; key < netfc_table_size(&table[FP8_ENCODE]); key++)
		table[FP8_ENCODE].entries[key] = magnitude_of(format, key);
}

/* The significands' product or quotient, cut off after the guard bits; the last one is sticky. */
static uint32_t
part_of(const struct netfc_format *format, uint32_t key)
{
	const unsigned f = format->fraction_bits, bits = f + FP8_GUARD_BITS;
	const uint32_t y = UINT32_C(1) << f | (key & low_mask(f));
	const uint32_t x = UINT32_C(1) << f | (key >> f & low_mask(f));
	const bool div = key >> 2 * f & 1, more = div ? x >= y : x * y >= UINT32_C(2) << 2 * f;
	/* As a fraction. */
	const uint32_t dividend = div ? x << (bits + !more) : x * y << bits;
	const uint32_t divisor = div ? y : UINT32_C(1) << (2 * f + more);
	const uint32_t quotient = dividend / divisor;

	return (uint32_t)more << bits | (quotient & low_mask(bits)) | (dividend % divisor != 0);
}

/* The exponent of the least product with that sum of exponents, and whether it is one more. */
static uint32_t
class_of(const struct netfc_format *format, uint32_t key)
{
	const int bias = fp8_format_bias(format), end = 1 << fp8_sum_bits(format);
	const int greatest = (int)(format->inf - 1) >> format->fraction_bits;
	int exponent = (int)(key >> 1);

	if (exponent >= end / 2)
		exponent -= end;
	exponent += (int)(key & 1) + bias;
	if (exponent > greatest)
		return fp8_nothing_class(format) << FP8_CLASS_AT | format->inf;
	if (exponent >= 1)
		return (exponent == greatest ? fp8_greatest_class(format) : FP8_NORMAL)
			<< FP8_CLASS_AT |
			(uint32_t)exponent << format->fraction_bits;
	if (exponent >= -(int)format->fraction_bits)
		return (uint32_t)(1 - exponent) << FP8_CLASS_AT;
	return fp8_nothing_class(format) << FP8_CLASS_AT;
}

static uint32_t
round_of(const struct netfc_format *format, uint32_t key)
{
	const unsigned f = format->fraction_bits, bits = f + FP8_GUARD_BITS;
	const uint32_t fraction = key & low_mask(bits), class = key >> bits;
	const uint32_t most = format->inf & low_mask(f), rounded = round_shifted(fraction, 2);

	if (class >= fp8_nothing_class(format))
		return 0;
	if (class == FP8_NORMAL)
		return rounded;
	/* Infinity has a fraction of zero, and so follows by a carry. */
	if (class == fp8_greatest_class(format))
		return most != 0 && rounded > most ? most : rounded;
	return round_shifted(UINT32_C(1) << bits | fraction, FP8_GUARD_BITS + class);
}

static void
fill_product(const struct netfc_format *format, struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(&table[FP8_PART]); key++)
		table[FP8_PART].entries[key] = part_of(format, key);
	for (uint32_t key = 0; key < netfc_table_size(&table[FP8_CLASS]); key++)
		table[FP8_CLASS].entries[key] = class_of(format, key);
	for (uint32_t key = 0; key < netfc_table_size(&table[FP8_ROUND]); key++)
		table[FP8_ROUND].entries[key] = round_of(format, key);
}

static int
fp8_fill(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;

	fill_sum(format, set->table);
	fill_product(format, set->table);
	return NETFC_OK;
}

/* ---- what operations look up ---- */

/* x is the larger one. */
static void
mark_sum(const struct netfc_format *format, struct netfc_table *table, uint32_t x, uint32_t y)
{
	const unsigned f = format->fraction_bits, bits = fp8_difference_bits(format);
	const uint32_t larger = wide_of(format, x), difference = larger - wide_of(format, y);
	const uint32_t far = difference >> bits != 0 ? fp8_far_difference(format) : 0;
	const uint32_t near = (difference & low_mask(bits)) | far;

	for (uint32_t signs_differ = 0; signs_differ <= 1; signs_differ++) {
		const uint32_t key = (signs_differ << f | (larger & low_mask(f))) << bits | near;

		if (x == y && signs_differ)
			continue;
		mark_reachable(&table[FP8_DIFFER], key);
		mark_reachable(&table[FP8_ENCODE],
			larger + (uint32_t)offset_of(format, key) + fp8_offset_bias(format));
	}
}

static void
mark_product(const struct netfc_format *format, struct netfc_table *table, uint32_t x, uint32_t y)
{
	const unsigned f = format->fraction_bits, bits = f + FP8_GUARD_BITS;
	const uint32_t a = wide_of(format, x), b = wide_of(format, y);

	for (uint32_t div = 0; div <= 1; div++) {
		const uint32_t key = (div << f | (a & low_mask(f))) << f | (b & low_mask(f));
		const uint32_t part = part_of(format, key);
		const uint32_t exponent = div
			? (a >> f) - (b >> f) - 1
			: (a >> f) + (b >> f) - 2 * (uint32_t)fp8_bias(format);
		const uint32_t class =
			(exponent & low_mask(fp8_sum_bits(format))) << 1 | part >> bits;

		mark_reachable(&table[FP8_PART], key);
		mark_reachable(&table[FP8_CLASS], class);
		mark_reachable(&table[FP8_ROUND],
			class_of(format, class) >> FP8_CLASS_AT << bits | (part & low_mask(bits)));
	}
}

static void
fp8_mark(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	struct netfc_table *table = set->table;

	mark_range(&table[FP8_DECODE], 1, format->inf);
	for (uint32_t x = 1; x < format->inf; x++) {
		for (uint32_t y = 1; y < format->inf; y++) {
			if (y <= x)
				mark_sum(format, table, x, y);
			mark_product(format, table, x, y);
		}
	}
}

/* The order in which lanes go through the tables of 8 bits. */

/* The fields of the family's own. */
enum fp8_field {
	FIELD_A = FIELD_FAMILY, /* wide encodings: x's, y's */
	FIELD_B,
	FIELD_LARGER,
	FIELD_SMALLER, /* always after LARGER */
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
	netfc_append_step(program, NETFC_STEP_SORT, FIELD_LARGER, FIELD_A, FIELD_B, 0,
		"the larger and the smaller one");
	netfc_append_step(
		program, NETFC_STEP_DISTANCE, FIELD_BASE, FIELD_A, FIELD_B, 0, "their difference");
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
	netfc_append_step(program, NETFC_STEP_NEGATE_DIV, FIELD_SMALLER, FIELD_KEY, 0, 0,
		"y's exponent, or its negative to divide");
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

static void
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
			.copies = 2},
		[FP8_DIFFER] = {.name = "differ",
			.key_bits = 1 + f + fp8_difference_bits(format),
			.value_bits = fp8_offset_bits(format)},
		[FP8_ENCODE] = {.name = "encode",
			.key_bits = fp8_wide_bits(format),
			.value_bits = FP8_MAGNITUDE_BITS},
		[FP8_PART] = {.name = "part",
			.key_bits = 1 + 2 * f,
			.value_bits = 1 + f + FP8_GUARD_BITS},
		[FP8_CLASS] = {.name = "class",
			.key_bits = fp8_sum_bits(format) + 1,
			.value_bits = FP8_CLASS_AT + fp8_class_bits(format)},
		[FP8_ROUND] = {.name = "round",
			.key_bits = fp8_class_bits(format) + f + FP8_GUARD_BITS,
			.value_bits = f + 1},
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
