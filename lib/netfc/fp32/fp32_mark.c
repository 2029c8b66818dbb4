/* SPDX-License-Identifier: BSD-3-Clause */
/* Which entries of binary32's tables operations look up. test_fp32_entries reaches every one. */
#include "fp32/fp32_family.h"

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

void
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
	netfc_decide_mark(&table[FP32_DECIDE]);
}
