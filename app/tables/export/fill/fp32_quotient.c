/* SPDX-License-Identifier: BSD-3-Clause */
/* Quotients of binary32 numbers in P4 (v1model). */
#include "export/fill/fp32_source.h"

#define RECIP_KEY_BITS 13
#define RECIP_BITS 16
#define CROSS_DIGIT_BITS 4

static void
square_tables(const struct fp32_source *source)
{
	static const struct p4_table square = {
		.instance = {"quotient.digit1.estimate.square", "quotient.digit1.high.square",
			"quotient.digit1.low.square", "quotient.digit2.estimate.square",
			"quotient.digit2.high.square", "quotient.digit2.low.square"},
		.key_count = 1,
		.key = {{"sum", FP32_SQUARE_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_square", 1, {{"word", FP32_BITS}}}},
	};
	static const struct p4_table differ = {
		.instance = {"quotient.digit1.estimate.differ", "quotient.digit1.high.differ",
			"quotient.digit1.low.differ", "quotient.digit2.estimate.differ",
			"quotient.digit2.high.differ", "quotient.digit2.low.differ"},
		.key_count = 1,
		.key = {{"difference", FP32_SQUARE_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_differ", 1, {{"word", FP32_BITS}}}},
	};

	fp32_copy_table(source, "square", &square);
	fp32_copy_table(source, "differ", &differ);
}

static void
recip_table(const struct fp32_source *source)
{
	static const struct p4_table shape = {
		.instance = {"quotient.recip"},
		.key_count = 1,
		.key = {{"divisor", RECIP_KEY_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_recip", 1, {{"word", RECIP_BITS}}}},
	};

	fp32_copy_table(source, "recip", &shape);
}

static void
cross_table(const struct fp32_source *source)
{
	static const struct p4_table shape = {
		.instance = {"quotient.digit1.cross_remainder.cross",
			"quotient.digit1.cross_reciprocal.cross",
			"quotient.digit2.cross_remainder.cross",
			"quotient.digit2.cross_reciprocal.cross"},
		.key_count = 2,
		.key = {{"p", CROSS_DIGIT_BITS, P4_EXACT}, {"q", CROSS_DIGIT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"add_product", 1, {{"word", FP32_BITS}}}},
	};
	const struct netfc_table *cross = netfc_set_find_table(source->set, "cross");
	struct p4_table *table = p4_add_table(source->program, &shape);

	for (uint32_t key = 0; key < netfc_table_size(cross); key++)
		p4_add_entry(table,
			&(struct p4_entry){
				.value = {key >> CROSS_DIGIT_BITS,
					bits_of(key, 0, CROSS_DIGIT_BITS)},
				.mask = {p4_low_bits(CROSS_DIGIT_BITS),
					p4_low_bits(CROSS_DIGIT_BITS)},
				.arg = {netfc_table_entries(cross)[key]},
			});
}

void
fp32_quotient_tables(const struct fp32_source *source)
{
	square_tables(source);
	recip_table(source);
	cross_table(source);
}
