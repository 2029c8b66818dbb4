/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of binary32's table set. */
#include "fp32/fp32_family.h"

/* The entries of binary32's tables, and which of them operations look up. */

/* A subnormal number has the exponent of the least normal ones, without their hidden bit. */
static uint32_t
real_exponent(uint32_t exponent)
{
	return exponent == 0 ? 1 : exponent;
}

static uint32_t
align_places(uint32_t greater, uint32_t exponent)
{
	uint32_t places = greater - exponent;

	return places < FP32_MAX_ALIGN ? places : FP32_MAX_ALIGN;
}

static void
fill_exps(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t field_x = key >> FP32_EXPONENT_BITS, field_y = key & 0xff;
		uint32_t x = real_exponent(field_x), y = real_exponent(field_y);
		uint32_t greater = x > y ? x : y;

		if (field_x == FP32_EXPONENT_END || field_y == FP32_EXPONENT_END)
			continue;
		table->entries[key] = greater | align_places(greater, x) << FP32_SHIFT_X_AT |
			align_places(greater, y) << FP32_SHIFT_Y_AT |
			(uint32_t)(field_x != 0) << FP32_HIDDEN_X_AT |
			(uint32_t)(field_y != 0) << FP32_HIDDEN_Y_AT;
	}
}

static void
fill_lead(struct netfc_table *table)
{
	for (uint32_t key = 1; key < netfc_table_size(table); key++)
		table->entries[key] = (uint32_t)__builtin_clz(key) - (32 - FP32_HALF);
}

/*
 * Bit 26 of a sum is the leading one of a significand with the greater exponent. Where the result
 * is subnormal it is shifted less: to where the hidden bit of exponent 1 would be at bit 27.
 */
static uint32_t
norm_word(uint32_t greater, uint32_t places, uint32_t sign)
{
	int exponent = (int)greater + 1 - (int)places;
	uint32_t upper = 0;

	if (exponent >= FP32_EXPONENT_END) {
		upper = FP32_EXPONENT_END;
		places = FP32_NORM_CLEAR;
	} else if (exponent >= 1) {
		upper = (uint32_t)exponent - 1;
	} else {
		places = greater;
	}
	return places | (upper | sign << FP32_EXPONENT_BITS) << FP32_NORM_UPPER_AT;
}

static void
fill_norm(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t greater = key & low_mask(FP32_EXPONENT_BITS);
		uint32_t fine = key >> FP32_NORM_PLACES_AT & low_mask(FP32_LEAD_BITS);
		uint32_t coarse = key >> FP32_NORM_COARSE_AT & 1 ? FP32_HALF : 0;

		if (netfc_table_reachable(table, key))
			table->entries[key] =
				norm_word(greater, coarse + fine, key >> FP32_NORM_SIGN_AT);
	}
}

/* a + b and a - b are both even or both odd, so that rounding their squares down cancels. */
static void
fill_squares(struct netfc_table *square, struct netfc_table *differ)
{
	const int32_t size = 1 << FP32_SQUARE_KEY_BITS;

	for (int32_t key = 0; key < size; key++) {
		int32_t difference = key < size / 2 ? key : key - size;

		if (netfc_table_reachable(square, (uint32_t)key))
			square->entries[key] = (uint32_t)(key * key / 4);
		if (netfc_table_reachable(differ, (uint32_t)key))
			differ->entries[key] = (uint32_t)(difference * difference / 4);
	}
}

static void
fill_recip(struct netfc_table *table)
{
	const unsigned below = FP32_FRACTION - FP32_RECIP_KEY_BITS;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint64_t end = (UINT64_C(1) << FP32_RECIP_KEY_BITS | key) + 1;

		table->entries[key] = (uint32_t)((UINT64_C(1) << (FP32_RECIP_SCALE - below)) / end);
	}
}

static void
fill_cross(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t p = key >> FP32_CROSS_DIGIT, q = key & low_mask(FP32_CROSS_DIGIT);

		table->entries[key] = p * q << FP32_CROSS_DIGIT;
	}
}

/* With the leading one at the highest of 32 bits, a place to the right makes room for rounding. */
static uint32_t
scale_word(int exponent, uint32_t lead)
{
	uint32_t places = lead;

	if (exponent >= FP32_EXPONENT_END)
		return FP32_SCALE_CLEAR | FP32_EXPONENT_END << FP32_SCALE_BASE_AT;
	if (exponent >= 1)
		return places | (uint32_t)(exponent - 1) << FP32_SCALE_BASE_AT;
	places += (uint32_t)(1 - exponent);
	return places < FP32_SCALE_CLEAR ? places : FP32_SCALE_CLEAR;
}

static void
fill_scale(struct netfc_table *table)
{
	const int end = 1 << FP32_SCALE_EXPONENT_BITS;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		int exponent = (int)(key & low_mask(FP32_SCALE_EXPONENT_BITS));
		uint32_t lead = key >> FP32_SCALE_LEAD_AT & 1;

		if (!netfc_table_reachable(table, key))
			continue;
		if (key >> FP32_SCALE_DIV_AT & 1) {
			exponent -= exponent >= end / 2 ? end : 0;
			exponent += FP32_BIAS - 1;
		} else {
			exponent -= exponent > 2 * FP32_EXPONENT_END ? end : 0;
			exponent -= FP32_BIAS;
		}
		table->entries[key] = scale_word(exponent + (int)lead, lead);
	}
}

static void
fill_round(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		table->entries[key] = key >> 1 & (key >> 2 | key) & 1;
}

static int
fp32_fill(struct netfc_set *set)
{
	struct netfc_table *table = set->table;

	fill_exps(&table[FP32_EXPS]);
	fill_lead(&table[FP32_LEAD]);
	fill_norm(&table[FP32_NORM]);
	fill_squares(&table[FP32_SQUARE], &table[FP32_DIFFER]);
	fill_recip(&table[FP32_RECIP]);
	fill_cross(&table[FP32_CROSS]);
	fill_scale(&table[FP32_SCALE]);
	fill_round(&table[FP32_ROUND]);
	return NETFC_OK;
}

/* ---- what operations look up; test_fp32_entries reaches every entry ---- */

/* Exponents of numbers. */
static void
mark_exps(struct netfc_table *table)
{
	for (uint32_t x = 0; x < FP32_EXPONENT_END; x++)
		mark_range(table, x << FP32_EXPONENT_BITS,
			(x << FP32_EXPONENT_BITS) + FP32_EXPONENT_END);
}

/*
 * The least sum has its leading one at bit 3 where the exponents are the same: then it is a
 * multiple of 8. It is at bit 2 where they differ by one, which they do not if the greater one
 * is 1.
 */
static void
mark_norm(struct netfc_table *table)
{
	const uint32_t coarse = 1u << FP32_NORM_COARSE_AT, signs = 1u << FP32_NORM_SIGN_AT;

	for (uint32_t places = 0; places <= FP32_WIDE - 3; places++) {
		uint32_t key = places < FP32_HALF
			? places << FP32_NORM_PLACES_AT
			: coarse | (places - FP32_HALF) << FP32_NORM_PLACES_AT;
		uint32_t least = places == FP32_WIDE - 3 ? 2 : 1;

		mark_range(table, key + least, key + FP32_EXPONENT_END);
		mark_range(table, signs + key + least, signs + key + FP32_EXPONENT_END);
	}
}

/* Sums of digits go up to 2 * 4095, differences from -4095 to 4095. */
static void
mark_squares(struct netfc_table *square, struct netfc_table *differ)
{
	const uint32_t half = 1u << FP32_DIGIT;

	mark_range(square, 0, 2 * half - 1);
	mark_range(differ, 0, half);
	mark_range(differ, half + 1, 2 * half);
}

/* Exponents from `least` to `greatest` with that leading bit. */
static void
mark_scales(struct netfc_table *table, uint32_t above, int least, int greatest)
{
	for (int exponent = least; exponent <= greatest; exponent++)
		mark_reachable(
			table, above | ((uint32_t)exponent & low_mask(FP32_SCALE_EXPONENT_BITS)));
}

/*
 * Exponents of normalised operands go from -22 to 254. The least of them have significands of few
 * bits: at -22 it is a power of two, at -21 a multiple of 2^22.
 */
static void
mark_scale(struct netfc_table *table)
{
	const uint32_t lead = 1u << FP32_SCALE_LEAD_AT, div = 1u << FP32_SCALE_DIV_AT;
	const int least = 2 - FP32_SIGNIFICAND, greatest = FP32_EXPONENT_END - 1;

	mark_scales(table, 0, 2 * least, 2 * greatest);
	/* Neither 1 * 1 nor 1 * 1.5 is 2. */
	mark_scales(table, lead, 2 * least + 2, 2 * greatest);
	/* No dividend is less than a power of two; 1 / 1 leads. */
	mark_scales(table, div, least - greatest, greatest - least - 1);
	mark_scales(table, div | lead, least - greatest, greatest - least);
}

static void
fp32_mark(struct netfc_set *set)
{
	struct netfc_table *table = set->table;

	mark_exps(&table[FP32_EXPS]);
	mark_range(&table[FP32_LEAD], 1, netfc_table_size(&table[FP32_LEAD]));
	mark_norm(&table[FP32_NORM]);
	mark_squares(&table[FP32_SQUARE], &table[FP32_DIFFER]);
	mark_all(&table[FP32_RECIP]);
	mark_all(&table[FP32_CROSS]);
	mark_scale(&table[FP32_SCALE]);
	mark_all(&table[FP32_ROUND]);
}

/* A pass has at most four products: three for each of a quotient's digits. */
#define PRODUCTS 4

static const struct netfc_table tables[FP32_DECIDE] = {
	[FP32_EXPS] = {.name = "exps",
		.key_bits = 2 * FP32_EXPONENT_BITS,
		.value_bits = FP32_EXPS_BITS},
	[FP32_LEAD] = {.name = "lead",
		.key_bits = FP32_HALF,
		.value_bits = FP32_LEAD_BITS,
		.copies = 2},
	[FP32_NORM] = {.name = "norm",
		.key_bits = FP32_NORM_KEY_BITS,
		.value_bits = FP32_NORM_BITS},
	[FP32_SQUARE] = {.name = "square",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT,
		.copies = PRODUCTS},
	[FP32_DIFFER] = {.name = "differ",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT - 2,
		.key_signed = true,
		.copies = PRODUCTS},
	[FP32_RECIP] = {.name = "recip",
		.key_bits = FP32_RECIP_KEY_BITS,
		.value_bits = FP32_RECIP_BITS},
	[FP32_CROSS] = {.name = "cross",
		.key_bits = 2 * FP32_CROSS_DIGIT,
		.value_bits = FP32_CROSS_BITS,
		.copies = 2},
	[FP32_SCALE] = {.name = "scale",
		.key_bits = FP32_SCALE_KEY_BITS,
		.value_bits = FP32_SCALE_BITS},
	[FP32_ROUND] = {.name = "round", .key_bits = FP32_ROUND_KEY_BITS, .value_bits = 1},
};

static void
fp32_layout(struct netfc_set *set)
{
	netfc_describe_tables(set, tables, FP32_DECIDE);
}

const struct family netfc_fp32_family = {
	.layout = fp32_layout,
	.fill = fp32_fill,
	.mark = fp32_mark,
	.program = fp32_program,
	.calc = netfc_compute_one,
};
