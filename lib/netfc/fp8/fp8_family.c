/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of table sets of 8 bits: all four operations in some hundred entries. */
#include "fp8/fp8_family.h"

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
