/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 in P4. Hardware finds leading ones by ternary entries, and a table's entries tell
 * actions that shift by constants how far; what the library's programs do in several steps is one
 * there.
 */

#include "export/fill/fp32.h"

/* ---- sums ------------------------------------------------------------------------------------ */

/* A sum's magnitude has so many bits. */
#define SUM_BITS 28
/* The library finds the leading one in two steps, the first of which is so wide. */
#define COARSE_PLACES 14

static void
exps_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.exps"},
		.key_count = 2,
		.key = {{"exponent_x", FP32_EXPONENT_BITS, P4_EXACT},
			{"exponent_y", FP32_EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exps", 3,
			{{"align_x", FP32_PLACES_BITS}, {"align_y", FP32_PLACES_BITS},
				{"greater", FP32_EXPONENT_BITS}}}},
	};
	const struct netfc_table *exps = netfc_set_find_table(source->set, "exps");
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t key = 0; key < netfc_table_size(exps); key++) {
		const uint32_t word = netfc_table_entries(exps)[key];

		if (!netfc_table_reachable(exps, key))
			continue;
		p4_add_entry(table,
			&(struct p4_entry){
				.value = {key >> FP32_EXPONENT_BITS,
					bits_of(key, 0, FP32_EXPONENT_BITS)},
				.mask = {0xff, 0xff},
				.arg = {bits_of(word, 8, FP32_PLACES_BITS),
					bits_of(word, 13, FP32_PLACES_BITS),
					bits_of(word, 0, FP32_EXPONENT_BITS)},
			});
	}
}

/* The table's actions. */
enum lead_action {
	ACTION_POSITIVE,
	ACTION_NEGATIVE
};

/* Sums with the same bits down to the leading one, which is bit `lead` of their magnitude. */
static void
add_lead(struct p4_table *table, enum lead_action action, unsigned lead, uint32_t value,
	uint32_t mask)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {value},
			.mask = {mask},
			.arg = {SUM_BITS - 1 - lead},
			.priority = (uint16_t)table->count,
			.action = (uint8_t)action,
		});
}

/*
 * A negative sum has the complement of its magnitude's leading bits, but for powers of two, which
 * come first.
 */
static void
lead_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.lead"},
		.key_count = 1,
		.key = {{"sum", FP32_BITS, P4_TERNARY}},
		.action_count = 2,
		.action = {[ACTION_POSITIVE] = {"positive", 1, {{"zeros", FP32_PLACES_BITS}}},
			[ACTION_NEGATIVE] = {"negative", 1, {{"zeros", FP32_PLACES_BITS}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (unsigned lead = 0; lead < SUM_BITS; lead++)
		add_lead(table, ACTION_NEGATIVE, lead, -(1u << lead), p4_low_bits(FP32_BITS));
	for (unsigned lead = 0; lead < SUM_BITS; lead++) {
		const uint32_t mask = ~p4_low_bits(lead);

		add_lead(table, ACTION_POSITIVE, lead, 1u << lead, mask);
		add_lead(table, ACTION_NEGATIVE, lead, ~(1u << lead) & mask, mask);
	}
}

static void
add_norm(struct p4_table *table, uint32_t negative, uint32_t places, uint32_t exponent,
	uint32_t word)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {negative, places, exponent},
			.mask = {1, p4_low_bits(FP32_PLACES_BITS), p4_low_bits(FP32_EXPONENT_BITS)},
			.arg = {bits_of(word, 0, FP32_PLACES_BITS),
				word >> FP32_PLACES_BITS << FP32_FRACTION_BITS},
		});
}

/* The library's places are 0 or 14, a bit of the key, and others. */
static void
norm_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.norm"},
		.key_count = 3,
		.key = {{"negative", 1, P4_EXACT}, {"places", FP32_PLACES_BITS, P4_EXACT},
			{"exponent", FP32_EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_norm", 2, {{"left", FP32_PLACES_BITS}, {"base", FP32_BITS}}}},
	};
	const struct netfc_table *norm = netfc_set_find_table(source->set, "norm");
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t key = 0; key < netfc_table_size(norm); key++) {
		const uint32_t places =
			bits_of(key, 8, 4) + (bits_of(key, 12, 1) != 0 ? COARSE_PLACES : 0);

		if (netfc_table_reachable(norm, key))
			add_norm(table, bits_of(key, 13, 1), places,
				bits_of(key, 0, FP32_EXPONENT_BITS),
				netfc_table_entries(norm)[key]);
	}
}

static void
sum_tables(const struct fp32_source *source)
{
	exps_table(source);
	lead_table(source);
	norm_table(source);
}

/* ---- quotients (v1model) --------------------------------------------------------------------- */

#define RECIP_KEY_BITS 13
#define RECIP_BITS 16
#define CROSS_DIGIT_BITS 4

/* Add a table with one exact key and one argument: the reachable entries of the set's table `name`.
 */
static void
copy_table(const struct fp32_source *source, const char *name, const struct p4_table *pattern)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
	struct p4_table *table = p4_add_table(source->program, pattern);

	for (uint32_t key = 0; key < netfc_table_size(from); key++) {
		if (netfc_table_reachable(from, key))
			p4_add_word(table, key, netfc_table_entries(from)[key]);
	}
}

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

	copy_table(source, "square", &square);
	copy_table(source, "differ", &differ);
}

static void
recip_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"quotient.recip"},
		.key_count = 1,
		.key = {{"divisor", RECIP_KEY_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_recip", 1, {{"word", RECIP_BITS}}}},
	};

	copy_table(source, "recip", &pattern);
}

static void
cross_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
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
	struct p4_table *table = p4_add_table(source->program, &pattern);

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

static void
quotient_tables(const struct fp32_source *source)
{
	square_tables(source);
	recip_table(source);
	cross_table(source);
}

/* ---- all of them ----------------------------------------------------------------------------- */

const char *
p4_fp32_tables(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op,
	struct p4_program *program)
{
	const struct fp32_source source = {set, program, last_op};

	if (layout != P4_DIRECT)
		return "it has the direct layout only";
	sum_tables(&source);
	if (last_op >= NETFC_MUL)
		fp32_product_tables(&source);
	if (last_op >= NETFC_DIV)
		quotient_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
