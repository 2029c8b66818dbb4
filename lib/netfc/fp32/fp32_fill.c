/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of binary32's tables. */
#include "fp32/fp32_family.h"

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

int
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
	netfc_decide_fill(set->id.format, &table[FP32_DECIDE]);
	return NETFC_OK;
}
