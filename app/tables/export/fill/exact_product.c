/* SPDX-License-Identifier: BSD-3-Clause */
/* Correctly rounded products and quotients in P4. */
#include "export/fill/fill.h"

static void
prenorm_table(const struct exact_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"prenorm_x.prenorm", "prenorm_y.prenorm"},
		.key_count = 1,
		.key = {{"magnitude", 15, P4_EXACT}},
		.action_count = 1,
		.action = {{"set", 2, {{"significand", 16}, {"power", 16}}}},
	};
	struct p4_table *table = p4_copy_table(source->set, "prenorm", &pattern, source->program);

	for (size_t e = 0; e < table->count; e++) {
		uint32_t *arg = table->entries[e].arg;

		arg[1] = arg[0] >> source->fraction_bits;
		arg[0] = p4_slice(arg[0], 0, source->fraction_bits);
	}
}

/* Whole products and quotients. */
static void
part_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"part"},
		.key_count = 3,
		.key = {{"div", 1, P4_EXACT}, {"fraction_x", source->fraction_bits, P4_EXACT},
			{"fraction_y", source->fraction_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_product", 1, {{"word", 16}}}},
	};

	p4_copy_table(source->set, "part", &pattern, source->program);
}

/* A page of the library's table, for the high or the low half of x's fraction. */
static void
half_table(const struct exact_source *source, uint32_t page, const char *name, const char *action)
{
	const struct netfc_table *part = netfc_set_find_table(source->set, "part");
	const unsigned f = source->fraction_bits, half = f / 2, bits = 1 + half + f;
	struct p4_table *table = p4_add_table(source->program,
		&(struct p4_table){
			.instance = {name},
			.key_count = 3,
			.key = {{"div", 1, P4_EXACT}, {"half", half, P4_EXACT},
				{"fraction", f, P4_EXACT}},
			.action_count = 1,
			.action = {{action, 1, {{"word", 32}}}},
		});

	for (uint32_t key = 0; key < 1u << bits; key++)
		p4_add_exact(table,
			P4_WORDS(key >> (bits - 1), p4_slice(key, f, half), p4_slice(key, 0, f)),
			&netfc_table_entries(part)[page << bits | key]);
}

static void
class_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"class"},
		.key_count = 4,
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", source->exponent_sum_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_class", 2, {{"class", CLASS_BITS}, {"base", 16}}}},
	};
	struct p4_table *table = p4_copy_table(source->set, "class", &pattern, source->program);

	for (size_t e = 0; e < table->count; e++) {
		uint32_t *arg = table->entries[e].arg;

		arg[1] = p4_slice(arg[0], 0, 16);
		arg[0] = arg[0] >> 16;
	}
}

/* Rounding offsets: of products whose bits below the top bits are all 0, and of others. */
struct rounding {
	const struct exact_source *source;
	const uint32_t *exactly, *more;
};

static struct rounding
find_rounding(const struct exact_source *source)
{
	const struct netfc_table *table = netfc_set_find_table(source->set, "round");
	const uint32_t *entries = netfc_table_entries(table);

	return (struct rounding){
		source, entries, entries + (UINT32_C(1) << netfc_table_key_bits(table))};
}

static void
round_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"round"},
		.key_count = 2,
		.key = {{"class", CLASS_BITS, P4_EXACT}, {"top", source->top_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_round", 1, {{"word", 16}}}},
	};
	struct rounding rounding = find_rounding(source);
	struct p4_table *table = p4_copy_table(source->set, "round", &pattern, source->program);

	for (size_t e = 0; e < table->count; e++) {
		struct p4_entry *entry = &table->entries[e];

		entry->arg[0] =
			rounding.more[entry->value[0] << source->top_bits | entry->value[1]];
	}
}

/* One entry for all ties from `first` to `last`, if any: they differ only in some bits. */
static void
add_ties(struct p4_table *table, const struct rounding *rounding, uint32_t class, uint32_t first,
	uint32_t last)
{
	const unsigned top_bits = rounding->source->top_bits, below = rounding->source->below_bits;
	uint32_t all = p4_low_bits(top_bits), none = 0;

	for (uint32_t top = first; top <= last; top++) {
		uint32_t key = class << top_bits | top;

		if (rounding->exactly[key] != rounding->more[key]) {
			all &= top;
			none |= top;
		}
	}
	if (none == 0)
		return;
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {class, all << below},
			.mask = {p4_low_bits(CLASS_BITS),
				(p4_low_bits(top_bits) & ~(all ^ none)) << below |
					p4_low_bits(below)},
		});
}

static void
tie_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"tie"},
		.key_count = 2,
		.key = {{"class", CLASS_BITS, P4_TERNARY},
			{"product", source->product_bits, P4_TERNARY}},
		.action_count = 1,
		.action = {{.name = "lower"}},
	};
	struct rounding rounding = find_rounding(source);
	struct p4_table *table = p4_add_table(source->program, &pattern);
	uint32_t one = 1u << (source->top_bits - 2), two = 2 * one;

	for (uint32_t class = 0; class <= p4_low_bits(CLASS_BITS); class ++) {
		add_ties(table, &rounding, class, one, two - 1);
		add_ties(table, &rounding, class, two, 2 * two - 1);
	}
	p4_minimise(table);
}

/* The flags of a product with a large base, or with another one. */
static uint32_t
product_flags(const struct rounding *rounding, uint32_t class, bool large, uint32_t product)
{
	const struct exact_source *source = rounding->source;
	const uint32_t *page =
		p4_slice(product, 0, source->below_bits) != 0 ? rounding->more : rounding->exactly;
	uint32_t offset = page[class << source->top_bits | product >> source->below_bits];
	bool greatest = source->greatest_base + offset == source->inf;

	if (large)
		return offset == 0 || greatest ? NETFC_OVERFLOW : 0;
	return offset == 0 ? NETFC_UNDERFLOW : 0;
}

/*
 * Classes up to F + 1 are subnormal; those of a base that is 0 or infinity, of a normal base and of
 * the greatest follow.
 */
enum {
	CLASS_NOTHING = 12,
	CLASS_NORMAL = 13,
	CLASS_GREATEST = 14
};

static void
add_product_limits(
	struct p4_table *table, const struct rounding *rounding, uint32_t class, bool large)
{
	const uint32_t step = 1u << (rounding->source->below_bits - 1);
	const uint32_t end = 1u << rounding->source->product_bits;
	uint32_t first = end / 4, flags = product_flags(rounding, class, large, first);
	struct p4_entry entry = {
		.value = {class, large},
		.mask = {p4_low_bits(CLASS_BITS), 1},
	};

	/* For each value of the top bits: all bits below are 0, then any is set. */
	for (uint32_t product = first; product <= end; product += step) {
		uint32_t probe = product % (2 * step) == 0 ? product : product - step + 1;
		uint32_t now = product < end ? product_flags(rounding, class, large, probe) : 0;

		if (product < end && now == flags)
			continue;
		entry.arg[0] = flags;
		if (flags != 0)
			p4_add_range(table, &entry, 2, first, probe - 1);
		first = probe;
		flags = now;
	}
}

static void
product_limits_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"product_limits"},
		.key_count = 3,
		.key = {{"class", CLASS_BITS, P4_TERNARY}, {"large", 1, P4_TERNARY},
			{"product", source->product_bits, P4_TERNARY}},
		.action_count = 1,
		.action = {{"raise", 1, {{"flags", 4}}}},
	};
	struct rounding rounding = find_rounding(source);
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t class = 0; class <= source->fraction_bits + 1; class ++)
		add_product_limits(table, &rounding, class, false);
	add_product_limits(table, &rounding, CLASS_NOTHING, false);
	add_product_limits(table, &rounding, CLASS_NOTHING, true);
	add_product_limits(table, &rounding, CLASS_GREATEST, true);
	p4_minimise(table);
}

void
p4_product_tables(const struct exact_source *source)
{
	prenorm_table(source);
	if (source->halves) {
		half_table(source, 0, "part_high", "set_high");
		half_table(source, 1, "part_low", "set_low");
	} else {
		part_table(source);
	}
	class_table(source);
	round_table(source);
	tie_table(source);
	product_limits_table(source);
}
