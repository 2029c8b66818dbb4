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
			.value_bits = exact_code_x_at(format) + EXACT_CODE_BITS,
			.pages = 1,
			.copies = 1},
		[EXACT_ALIGN] = {.name = "align",
			.key_bits = EXACT_CODE_BITS + 1 + f,
			.value_bits = sum_bits,
			.pages = 1,
			.copies = 2,
			.value_signed = true},
		[EXACT_NORM] = {.name = "norm",
			.page_name = {"norm", "norminf"},
			.key_bits = sum_bits,
			.value_bits = 16,
			.pages = 2,
			.copies = 1,
			.key_signed = true,
			.value_signed = true},
		[EXACT_SUBN] = {.name = "subn",
			.key_bits = EXACT_SHIFT_BITS + sum_bits - 2,
			.value_bits = 16,
			.pages = 1,
			.copies = 1,
			.value_signed = true,
			.sparse = true},
		[EXACT_PRENORM] = {.name = "prenorm",
			.key_bits = 15,
			.value_bits = 16,
			.pages = 1,
			.copies = 2},
		[EXACT_PART] = {.name = "part",
			.page_name = {"parthi", "partlo"},
			.key_bits = halves ? 1 + f / 2 + f : 1 + 2 * f,
			.value_bits =
				halves ? exact_point_bits(format) + 2 : exact_top_bits(format) + 1,
			.pages = halves ? 2 : 1,
			.copies = 1},
		[EXACT_CLASS] = {.name = "class",
			.key_bits = 3 + exact_exponent_bits(format),
			.value_bits = EXACT_CLASS_AT + EXACT_CLASS_BITS,
			.pages = 1,
			.copies = 1},
		[EXACT_ROUND] = {.name = "round",
			.page_name = {"roundeq", "roundne"},
			.key_bits = EXACT_CLASS_BITS + exact_top_bits(format),
			.value_bits = f + 2,
			.pages = 2,
			.copies = 1},
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
	netfc_decide_mark(&table[EXACT_DECIDE]);
}

const struct family netfc_exact_family = {
	.layout = exact_layout,
	.fill = exact_fill,
	.mark = exact_mark,
	.program = exact_program,
	.calc = netfc_compute_one,
};
