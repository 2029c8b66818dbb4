/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family of table sets, laid out for the least memory, and for posits
 * (docs/exact.md).
 */
#include "exact/small_family.h"

/* The entries of the small correctly rounded tables. */

static unsigned
bit_length(uint32_t v)
{
	return v == 0 ? 0 : 32 - (unsigned)__builtin_clz(v);
}

static void
fill_decode(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const unsigned f = shape.fraction;

	if (format->posit) {
		for (uint32_t magnitude = 1; magnitude < format->inf; magnitude++) {
			struct number number = netfc_unpack(format, (uint16_t)magnitude);
			uint32_t fraction =
				(uint32_t)(number.significand >> (63 - f)) & low_mask(f);

			table->entries[magnitude] =
				(uint32_t)(number.exponent + shape.bias) << f | fraction;
		}
		return;
	}
	/* The upper half of the keys are subnormal. */
	for (uint32_t fraction = 0; fraction <= low_mask(f); fraction++) {
		unsigned left = f + 1 - bit_length(fraction);

		table->entries[fraction] = (uint32_t)shape.bias << f | fraction;
		if (fraction != 0)
			table->entries[1u << f | fraction] = ((uint32_t)shape.bias + 1 - left)
					<< f |
				(fraction << left & low_mask(f));
	}
}

/* Differences of exponents to shifts: beyond a point nothing changes any more. */
static void
fill_shift(const struct netfc_format *format, struct netfc_table *table)
{
	const uint32_t most = small_shape(format).significand + SMALL_GUARD_BITS - 1;

	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		table->entries[key] = key < most ? key : most;
}

static void
fill_align(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const unsigned high = shape.wide - shape.low;

	for (uint32_t index = 0; index < netfc_table_size(table); index++) {
		bool is_low = index >> table->key_bits;
		unsigned shift = index >> high & low_mask(SMALL_SHIFT_BITS);
		uint32_t half = index & low_mask(is_low ? shape.low : high);
		uint32_t word = half << (SMALL_GUARD_BITS + (is_low ? 0 : shape.low));
		uint32_t lost = (word & low_mask(shift)) != 0;

		table->entries[index] =
			word >> shift << SMALL_ALIGNED_AT | (is_low ? lost << 1 : lost);
	}
}

/*
 * What x's significand is multiplied by, as two digits of S + 1 bits. A product with it has 2S bits
 * after the point, S more below those. mul: y's significand. div: the reciprocal of y's, rounded
 * up, of which the lower S bits of a product with it are cut off: less than a unit is gained, less
 * than a unit is lost, and nothing if the quotient is whole.
 */
static uint64_t
factor(struct small_shape shape, bool div, uint64_t y)
{
	uint64_t one = UINT64_C(1) << (3 * shape.significand + 1);

	return div ? (one + y - 1) / y : y << (shape.significand + 2);
}

static void
fill_factor(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const unsigned f = shape.fraction, digit = shape.significand + 1;

	for (uint32_t index = 0; index < netfc_table_size(table); index++) {
		bool low = index >> table->key_bits, div = index >> f & 1;
		uint64_t word = factor(shape, div, UINT64_C(1) << f | (index & low_mask(f)));

		table->entries[index] = (uint32_t)(low ? word & low_mask(digit) : word >> digit);
	}
}

/* a * b = square[a + b] - square[|a - b|]: both sums are even or neither is. */
static void
fill_square(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const unsigned digit = shape.significand + 1;

	for (uint32_t index = 0; index < netfc_table_size(table); index++) {
		uint64_t n = index & low_mask(table->key_bits), square = n * n / 4;

		/* Beyond that no sum goes. */
		if (n >= 3u << shape.significand)
			continue;
		if (!small_has_wide_squares(shape))
			table->entries[index] = (uint32_t)square;
		else if (index >> table->key_bits)
			table->entries[index] = (uint32_t)(square >> digit);
		else
			table->entries[index] = (uint32_t)square & low_mask(digit);
	}
}

static enum small_rest
rest_of(int left, uint32_t round_bit)
{
	if (left < 0)
		return round_bit ? REST_OVER_1 : REST_OVER_0;
	return left == 0 ? REST_ONE : REST_LESS;
}

/*
 * The sum without its last two bits, normalised: as a significand with two bits after it, above
 * which one more may carry.
 */
static void
fill_norm(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const unsigned f = shape.fraction, s = shape.significand;

	for (uint32_t key = 1; key < netfc_table_size(table); key++) {
		int left = (int)(s + 1) - (int)bit_length(key);
		uint32_t fraction = (left < 0 ? key >> 2 : key << left >> 1) & low_mask(f);

		table->entries[key] = (uint32_t)(left + 1) << (SMALL_FRACTION_AT + f) |
			fraction << SMALL_FRACTION_AT | rest_of(left, key >> 1 & 1);
	}
}

/* An IEEE exponent: subnormal significands are shifted right, infinity has none. */
static uint32_t
scale_ieee(const struct netfc_format *format, int exponent)
{
	const int end = (1 << format->exp_bits) - 1;

	if (exponent >= end)
		return SMALL_MAX_SHIFT << SMALL_RIGHT_AT | format->inf;
	if (exponent >= 1)
		return (uint32_t)(exponent - 1) << format->fraction_bits;
	if (1 - exponent >= SMALL_MAX_SHIFT)
		return SMALL_MAX_SHIFT << SMALL_RIGHT_AT;
	return (uint32_t)(1 - exponent) << SMALL_RIGHT_AT;
}

/* A posit's: the regime, and after it fewer bits the longer it is. Beyond the ends, the ends. */
static uint32_t
scale_posit(const struct netfc_format *format, int exponent)
{
	const unsigned es = format->exp_bits;
	const int regime = exponent >> es, greatest = small_greatest_scale(format);
	uint32_t tail = (uint32_t)exponent & low_mask(es), base;
	unsigned length;

	if (exponent >= greatest)
		return SMALL_MAX_SHIFT << SMALL_RIGHT_AT | 0x7fff;
	if (exponent < -greatest)
		return SMALL_MAX_SHIFT << SMALL_RIGHT_AT | 1;
	length = regime >= 0 ? (unsigned)regime + 2 : 1 - (unsigned)regime;
	base = regime >= 0 ? low_mask(length) - 1 : 1;
	return tail << SMALL_TAIL_AT | (length - 2) << SMALL_RIGHT_AT | base << (15 - length);
}

/*
 * The key is the operation, and an exponent less the places shifted left plus 1: of a sum the
 * larger exponent, of a product or quotient the sum or difference of exponents with their biases.
 * Only those differences go far below zero.
 */
static void
fill_scale(const struct netfc_format *format, struct netfc_table *table)
{
	const struct small_shape shape = small_shape(format);
	const int ieee_bias = (1 << (format->exp_bits - 1)) - 1, end = 1 << shape.sum;

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		enum netfc_op op = (enum netfc_op)((key >> shape.sum) + NETFC_ADD);
		int exponent = (int)(key & low_mask(shape.sum));

		if (exponent >= (op == NETFC_MUL ? end - 16 : end / 2))
			exponent -= end;
		if (op == NETFC_MUL)
			exponent += 1 - 2 * shape.bias - (format->posit ? 0 : ieee_bias);
		else if (op == NETFC_DIV)
			exponent += format->posit ? 0 : ieee_bias;
		else
			exponent += 1 - (format->posit ? shape.bias : 0);
		table->entries[key] = format->posit ? scale_posit(format, exponent)
						    : scale_ieee(format, exponent);
	}
}

/* Whether to round up, ties to even. */
static void
fill_inc(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		uint32_t body = key >> 7, below = key & 7;
		enum small_rest rest = (enum small_rest)(key >> 3 & 3);
		bool lost = key >> 6 & 1, shifted = key >> 5 & 1, round_bit, more;

		round_bit = rest == REST_LESS ? below >> 1 & 1
			: rest == REST_ONE    ? below >> 2 & 1
					      : rest == REST_OVER_1;
		more = (below & (rest == REST_LESS ? 1 : rest == REST_ONE ? 3 : 7)) != 0;
		if (shifted) {
			more = lost || (body & 3) != 0 || round_bit || more;
			round_bit = body >> 2 & 1;
		}
		table->entries[key] = round_bit && (more || (body >> 3 & 1));
	}
}

static int
small_fill(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;

	fill_decode(format, &set->table[SMALL_DECODE]);
	fill_shift(format, &set->table[SMALL_SHIFT]);
	fill_align(format, &set->table[SMALL_ALIGN]);
	fill_factor(format, &set->table[SMALL_FACTOR]);
	fill_square(format, &set->table[SMALL_SQUARE]);
	fill_norm(format, &set->table[SMALL_NORM]);
	fill_scale(format, &set->table[SMALL_SCALE]);
	fill_inc(&set->table[SMALL_INC]);
	return NETFC_OK;
}

static void
small_layout(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	const struct small_shape shape = small_shape(format);
	const unsigned f = shape.fraction, s = shape.significand;
	const bool wide_squares = small_has_wide_squares(shape);
	const struct netfc_table tables[SMALL_DECIDE] = {
		[SMALL_DECODE] = {.name = format->posit ? "decode" : "prenorm",
			.key_bits = format->posit ? 15 : 1 + f,
			.value_bits = f + (format->posit ? shape.exponent : SMALL_SHIFT_BITS),
			.copies = 2},
		[SMALL_SHIFT] = {.name = "shift",
			.key_bits = shape.exponent,
			.value_bits = SMALL_SHIFT_BITS},
		[SMALL_ALIGN] = {.name = "align",
			.page_name = {"alignhi", "alignlo"},
			.key_bits = SMALL_SHIFT_BITS + shape.wide - shape.low,
			.value_bits = SMALL_ALIGNED_AT + shape.wide + SMALL_GUARD_BITS,
			.pages = 2,
			.copies = 2},
		[SMALL_FACTOR] = {.name = "factor",
			.page_name = {"facthi", "factlo"},
			.key_bits = 1 + f,
			.value_bits = s + 2,
			.pages = 2},
		[SMALL_SQUARE] = {.name = "square",
			.page_name = {"squarelo", "squarehi"},
			.key_bits = s + 2,
			.value_bits = wide_squares ? s + 1 : 2 * s + 2,
			.pages = wide_squares ? 2 : 1,
			.copies = 4},
		[SMALL_NORM] = {.name = "norm",
			.key_bits = s + 2,
			.value_bits = SMALL_FRACTION_AT + f + SMALL_LEFT_BITS},
		[SMALL_SCALE] = {.name = "scale",
			.key_bits = 2 + shape.sum,
			.value_bits = SMALL_TAIL_AT + shape.tail},
		[SMALL_INC] = {.name = "inc", .key_bits = SMALL_INC_BITS, .value_bits = 1},
	};

	netfc_describe_tables(set, tables, SMALL_DECIDE);
}

/* Numbers other than zero. */
static void
mark_decode(const struct netfc_format *format, struct netfc_table *table)
{
	const uint32_t size = netfc_table_size(table);

	mark_range(table, format->posit ? 1 : 0, format->posit ? size : size / 2);
	if (!format->posit)
		mark_range(table, size / 2 + 1, size);
}

/* The low half is narrower than the high one where their widths differ. */
static void
mark_align(struct small_shape shape, struct netfc_table *table)
{
	const uint32_t keys = UINT32_C(1) << table->key_bits, high = shape.wide - shape.low;

	for (uint32_t key = 0; key < keys; key++) {
		mark_reachable(table, key);
		if ((key & low_mask(high)) < 1u << shape.low)
			mark_reachable(table, keys | key);
	}
}

static void
small_mark(struct netfc_set *set)
{
	const struct small_shape shape = small_shape(set->id.format);
	struct netfc_table *table = set->table;
	const uint32_t sums = 3u << shape.significand;

	mark_decode(set->id.format, &table[SMALL_DECODE]);
	mark_all(&table[SMALL_SHIFT]);
	mark_align(shape, &table[SMALL_ALIGN]);
	mark_all(&table[SMALL_FACTOR]);
	for (uint32_t page = 0; page < table[SMALL_SQUARE].pages; page++) {
		uint32_t first = page << table[SMALL_SQUARE].key_bits;

		mark_range(&table[SMALL_SQUARE], first, first + sums);
	}
	mark_range(&table[SMALL_NORM], 1, netfc_table_size(&table[SMALL_NORM]));
	mark_all(&table[SMALL_SCALE]);
	mark_all(&table[SMALL_INC]);
}

const struct family netfc_small_family = {
	.layout = small_layout,
	.fill = small_fill,
	.mark = small_mark,
	.program = small_program,
	.calc = netfc_compute_one,
};
