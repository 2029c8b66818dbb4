/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family of table sets, laid out for the least memory, and for posits
 * (docs/exact.md).
 */
#include "exact/small_family.h"

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
			.pages = 1,
			.copies = 2},
		[SMALL_SHIFT] = {.name = "shift",
			.key_bits = shape.exponent,
			.value_bits = SMALL_SHIFT_BITS,
			.pages = 1,
			.copies = 1},
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
			.pages = 2,
			.copies = 1},
		[SMALL_SQUARE] = {.name = "square",
			.page_name = {"squarelo", "squarehi"},
			.key_bits = s + 2,
			.value_bits = wide_squares ? s + 1 : 2 * s + 2,
			.pages = wide_squares ? 2 : 1,
			.copies = 4},
		[SMALL_NORM] = {.name = "norm",
			.key_bits = s + 2,
			.value_bits = SMALL_FRACTION_AT + f + SMALL_LEFT_BITS,
			.pages = 1,
			.copies = 1},
		[SMALL_SCALE] = {.name = "scale",
			.key_bits = 2 + shape.sum,
			.value_bits = SMALL_TAIL_AT + shape.tail,
			.pages = 1,
			.copies = 1},
		[SMALL_INC] = {.name = "inc",
			.key_bits = SMALL_INC_BITS,
			.value_bits = 1,
			.pages = 1,
			.copies = 1},
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
	netfc_decide_mark(&table[SMALL_DECIDE]);
}

const struct family netfc_small_family = {
	.layout = small_layout,
	.fill = small_fill,
	.mark = small_mark,
	.program = small_program,
	.calc = netfc_compute_one,
};
