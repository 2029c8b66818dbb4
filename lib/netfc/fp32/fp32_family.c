/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of binary32's table set. */
#include "fp32/fp32_family.h"

/* A pass has at most four products: three for each of a quotient's digits. */
#define PRODUCTS 4

static const struct netfc_table tables[FP32_DECIDE] = {
	[FP32_EXPS] = {.name = "exps",
		.key_bits = 2 * FP32_EXPONENT_BITS,
		.value_bits = FP32_EXPS_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_LEAD] = {.name = "lead",
		.key_bits = FP32_HALF,
		.value_bits = FP32_LEAD_BITS,
		.pages = 1,
		.copies = 2},
	[FP32_NORM] = {.name = "norm",
		.key_bits = FP32_NORM_KEY_BITS,
		.value_bits = FP32_NORM_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_SQUARE] = {.name = "square",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT,
		.pages = 1,
		.copies = PRODUCTS},
	[FP32_DIFFER] = {.name = "differ",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT - 2,
		.key_signed = true,
		.pages = 1,
		.copies = PRODUCTS},
	[FP32_RECIP] = {.name = "recip",
		.key_bits = FP32_RECIP_KEY_BITS,
		.value_bits = FP32_RECIP_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_CROSS] = {.name = "cross",
		.key_bits = 2 * FP32_CROSS_DIGIT,
		.value_bits = FP32_CROSS_BITS,
		.pages = 1,
		.copies = 2},
	[FP32_SCALE] = {.name = "scale",
		.key_bits = FP32_SCALE_KEY_BITS,
		.value_bits = FP32_SCALE_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_ROUND] = {.name = "round",
		.key_bits = FP32_ROUND_KEY_BITS,
		.value_bits = 1,
		.pages = 1,
		.copies = 1},
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
