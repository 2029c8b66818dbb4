/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of the correctly rounded tables: integers all of them. */
#include "exact/exact_family.h"

/* v / 2^shift, and the lowest bit set if anything is lost. */
static uint32_t
shift_sticky(uint32_t v, unsigned shift)
{
	return v >> shift | ((v & low_mask(shift)) != 0);
}

/* v / 2^shift to the nearest, ties to even; `more`: the value is a little above v. */
static uint32_t
round_shift(uint32_t v, unsigned shift, bool more)
{
	uint32_t quotient = v >> shift, rest = v & low_mask(shift), half;

	if (shift == 0)
		return quotient;
	half = UINT32_C(1) << (shift - 1);
	if (rest != half)
		return quotient + (rest > half);
	return quotient + (more || (quotient & 1));
}

/* By how much the significand of either operand is shifted, and all that their exponents tell. */
static void
fill_exps(const struct netfc_format *format, struct netfc_table *table)
{
	const uint32_t most = exact_max_shift(format);

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t ex = key >> format->exp_bits, ey = key & low_mask(format->exp_bits);
		uint32_t a = ex != 0 ? ex : 1, b = ey != 0 ? ey : 1, larger = a > b ? a : b;
		uint32_t shift_x = larger - a < most ? larger - a : most;
		uint32_t shift_y = larger - b < most ? larger - b : most;
		uint32_t small = larger <= exact_small_exponent(format) ? larger : 0;
		uint32_t overflow = larger == exact_top_exponent(format);

		table->entries[key] = (shift_x << 1 | (ex != 0)) << exact_code_x_at(format) |
			(shift_y << 1 | (ey != 0)) << exact_code_y_at(format) |
			overflow << exact_overflow_at(format) | small << exact_small_at(format) |
			(larger - 1);
	}
}

static void
fill_align(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned f = format->fraction_bits;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t hidden = key >> (f + 1) & 1, shift = key >> (f + 2);
		uint32_t significand = hidden << f | (key & low_mask(f));
		uint32_t aligned = shift_sticky(significand << EXACT_GUARD_BITS, shift);
		bool negative = key >> f & 1;

		table->entries[key] = (negative ? -aligned : aligned) & low_mask(table->value_bits);
	}
}

/* The magnitude of a sum, two's complement. */
static uint32_t
sum_magnitude(uint32_t sum, unsigned bits, bool *negative)
{
	*negative = sum >> (bits - 1) & 1;
	return *negative ? -sum & low_mask(bits) : sum;
}

/*
 * What a sum adds to its base, (larger exponent - 1) << F: the rounded significand of F + 1 bits,
 * whose leading one is one more for the exponent, less 2^F for each place that it was shifted left.
 */
static uint32_t
norm_offset(const struct netfc_format *format, uint32_t sum, bool at_top)
{
	const unsigned f = format->fraction_bits, top = f + EXACT_GUARD_BITS;
	const uint32_t base = (exact_top_exponent(format) - 1) << f;
	bool negative;
	uint32_t magnitude = sum_magnitude(sum, exact_sum_bits(format), &negative), offset = 0;

	if (magnitude != 0) {
		int left = (int)top - (31 - __builtin_clz(magnitude));

		offset = left >= 0 ? round_shift(magnitude << left, EXACT_GUARD_BITS, false)
				   : round_shift(magnitude, EXACT_GUARD_BITS - left, false);
		offset -= (uint32_t)left << f;
		if (at_top && (int32_t)(base + offset) > (int32_t)format->inf)
			offset = format->inf - base;
	}
	return (negative ? offset + 0x8000 : offset) & 0xffff;
}

static void
fill_norm(const struct netfc_format *format, struct netfc_table *table)
{
	for (uint32_t index = 0; index < netfc_table_size(table); index++)
		table->entries[index] = norm_offset(
			format, index & low_mask(table->key_bits), index >> table->key_bits != 0);
}

/*
 * What base and offset together lack where the sum is subnormal. Such a sum is a difference of
 * operands whose exponents differ by 1 at most, and so a multiple of 4: it is exact.
 */
static uint32_t
subn_correction(const struct netfc_format *format, uint32_t small, uint32_t sum)
{
	const unsigned f = format->fraction_bits;
	bool negative;
	uint32_t magnitude = sum_magnitude(sum, exact_sum_bits(format), &negative), result, usual;

	if (small == 0 || small > exact_small_exponent(format) ||
		magnitude >= UINT32_C(1) << (f + EXACT_GUARD_BITS + 1 - small))
		return 0;
	result = magnitude << (small - 1) >> EXACT_GUARD_BITS;
	usual = ((small - 1) << f) + norm_offset(format, sum, false);
	return ((negative ? result | 0x8000 : result) - usual) & 0xffff;
}

static void
fill_subn(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned bits = exact_sum_bits(format) - 2;

	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		table->entries[key] =
			subn_correction(format, key >> bits, (key & low_mask(bits)) << 2);
}

static void
fill_prenorm(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned f = format->fraction_bits;

	for (uint32_t magnitude = 1; magnitude < format->inf; magnitude++) {
		uint32_t exponent = magnitude >> f, fraction = magnitude & low_mask(f);

		if (exponent == 0) {
			unsigned left = f + 1 - (32 - (unsigned)__builtin_clz(fraction));

			fraction = fraction << left & low_mask(f);
			exponent = 1 - left;
		}
		table->entries[magnitude] = (exponent + exact_bias(format)) << f | fraction;
	}
}

/*
 * Parts of a product or quotient with exact_point_bits() after the point: x's significand is the
 * sum of a high and a low half. Of a quotient the high part is rounded down and the low part up:
 * their sum is less than a unit off, and not off at all if the quotient is whole.
 */
static void
fill_halves(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned f = format->fraction_bits, half = f / 2;
	const unsigned product_shift = exact_point_bits(format) - 2 * f;
	const unsigned quotient_shift = exact_point_bits(format) + 1;

	for (uint32_t index = 0; index < netfc_table_size(table); index++) {
		bool low = index >> table->key_bits, div = index >> (half + f) & 1;
		uint64_t x = index >> f & low_mask(half),
			 y = UINT32_C(1) << f | (index & low_mask(f));

		if (!low)
			x = (x | UINT64_C(1) << half) << half;
		if (!div)
			table->entries[index] = (uint32_t)(x * y << product_shift);
		else
			table->entries[index] =
				(uint32_t)(((x << quotient_shift) + (low ? y - 1 : 0)) / y);
	}
}

/* A product or quotient to exact_top_bits(), and below them whether there is more. */
static uint32_t
whole_part(const struct netfc_format *format, bool div, uint32_t x, uint32_t y)
{
	const unsigned f = format->fraction_bits, behind = exact_top_bits(format) - 2;
	uint32_t dividend = div ? x << (behind + 1) : x * y;
	uint32_t divisor = div ? y : UINT32_C(1) << (2 * f - behind);

	return dividend / divisor << 1 | (dividend % divisor != 0);
}

static void
fill_whole(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned f = format->fraction_bits;

	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		table->entries[key] = whole_part(format, key >> 2 * f,
			1u << f | (key >> f & low_mask(f)), 1u << f | (key & low_mask(f)));
}

/* An exponent e of the result, if its significand is in [1, 2), to class and base. */
static uint32_t
class_of(const struct netfc_format *format, int32_t e, uint32_t sign)
{
	const int32_t top = (int32_t)exact_top_exponent(format);
	const unsigned f = format->fraction_bits;

	if (e > top)
		return EXACT_NOTHING << EXACT_CLASS_AT | sign | format->inf;
	if (e >= 1)
		return (uint32_t)(e == top ? EXACT_GREATEST : EXACT_NORMAL) << EXACT_CLASS_AT |
			sign | (uint32_t)(e - 1) << f;
	if (e >= -(int32_t)f - 1)
		return (uint32_t)-e << EXACT_CLASS_AT | sign;
	return EXACT_NOTHING << EXACT_CLASS_AT | sign;
}

static void
fill_class(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned bits = exact_exponent_bits(format);
	const int32_t bias = (1 << (format->exp_bits - 1)) - 1;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		bool div = key >> (bits + 2) & 1;
		uint32_t sign = ((key >> (bits + 1)) ^ (key >> bits)) & 1;
		int32_t e = (int32_t)(key & low_mask(bits));

		if (div && e >= 1 << (bits - 1))
			e -= 1 << bits;
		e += div ? bias - 1 : -bias - 2 * (int32_t)exact_bias(format);
		table->entries[key] = class_of(format, e, sign << 15);
	}
}

/*
 * What a product of class `class` adds to its base; `top` are its exact_top_bits(), `more` whether
 * it has further bits. The leading one of a normal significand is one more for the exponent.
 */
static uint32_t
round_offset(const struct netfc_format *format, uint32_t class, uint32_t top, bool more)
{
	const unsigned f = format->fraction_bits;
	const uint32_t greatest = format->inf - ((exact_top_exponent(format) - 1) << f);
	uint32_t offset;

	if (class <= f + 1)
		return round_shift(top, 2 + class, more);
	if (class != EXACT_NORMAL && class != EXACT_GREATEST)
		return 0;
	offset = top >> (f + 2) ? round_shift(top, 2, more) + (1u << f) : round_shift(top, 1, more);
	return class == EXACT_GREATEST && offset > greatest ? greatest : offset;
}

static void
fill_round(const struct netfc_format *format, struct netfc_table *table)
{
	const unsigned bits = exact_top_bits(format);

	for (uint32_t index = 0; index < netfc_table_size(table); index++)
		table->entries[index] =
			round_offset(format, index >> bits & low_mask(EXACT_CLASS_BITS),
				index & low_mask(bits), index >> table->key_bits != 0);
}

int
exact_fill(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	struct netfc_table *table = set->table;

	fill_exps(format, &table[EXACT_EXPS]);
	fill_align(format, &table[EXACT_ALIGN]);
	fill_norm(format, &table[EXACT_NORM]);
	fill_subn(format, &table[EXACT_SUBN]);
	fill_prenorm(format, &table[EXACT_PRENORM]);
	if (exact_has_halves(format))
		fill_halves(format, &table[EXACT_PART]);
	else
		fill_whole(format, &table[EXACT_PART]);
	fill_class(format, &table[EXACT_CLASS]);
	fill_round(format, &table[EXACT_ROUND]);
	return NETFC_OK;
}
