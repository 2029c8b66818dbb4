/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family in P4 (fp16). Where the library's program joins fields to keys that
 * hardware cannot make in time, tables take their place: exps knows the effective sign of y, subn
 * has the corrected base itself, and a product's ties, which the library tells by the bits below
 * those that it looks up, are ternary entries.
 */
#include <string.h>

#include "export.h"

/* Widths, from those of the set's tables. */
#define EXPONENT_BITS 5
#define FRACTION_BITS 10
#define CODE_BITS 5
#define CLASS_BITS 4
#define SUM_BITS 16
#define PRODUCT_BITS 24
#define TOP_BITS 13
#define BELOW_BITS (PRODUCT_BITS - TOP_BITS)
#define EXPONENT_SUM_BITS 7
#define GREATEST_BASE (29u << FRACTION_BITS)

/* A word of the exps table, from its lowest bit. */
#define SMALL_AT EXPONENT_BITS
#define OVERFLOW_AT (SMALL_AT + 4)
#define CODE_Y_AT (OVERFLOW_AT + 1)
#define CODE_X_AT (CODE_Y_AT + CODE_BITS)

static const struct netfc_table *
find_table(const struct netfc_set *set, const char *name)
{
	const struct netfc_table *table = NULL;

	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		if (strcmp(netfc_table_name(netfc_set_table(set, t)), name) == 0)
			table = netfc_set_table(set, t);
	}
	return table;
}

static uint32_t
slice(uint32_t word, unsigned low, unsigned bits)
{
	return word >> low & p4_low_bits(bits);
}

/* A table whose fields are slices of the library's key, highest first, and whose word is one. */
static struct p4_table *
copy_table(const struct netfc_set *set, const char *name, const struct p4_table *shape,
	struct p4_program *program)
{
	const struct netfc_table *source = find_table(set, name);
	struct p4_table *table = p4_add_table(program, shape);

	for (uint32_t index = 0; index < netfc_table_size(source); index++) {
		struct p4_entry entry = {.arg = {netfc_table_entries(source)[index]}};
		unsigned low = 0;

		for (unsigned k = table->key_count; k-- > 0;) {
			entry.value[k] = slice(index, low, table->key[k].bits);
			entry.mask[k] = p4_low_bits(table->key[k].bits);
			low += table->key[k].bits;
		}
		if (netfc_table_reachable(source, index) && index >> low == 0)
			p4_add_entry(table, &entry);
	}
	return table;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void
exps_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"exps"},
		.key_count = 4,
		.key = {{"sub", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent_x", EXPONENT_BITS, P4_EXACT},
			{"exponent_y", EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exps", 5,
			{{"code_x", CODE_BITS}, {"code_y", CODE_BITS}, {"effective_sign_y", 1},
				{"overflow", 1}, {"base", 16}}}},
	};
	const struct netfc_table *exps = find_table(set, "exps");
	struct p4_table *table = p4_add_table(program, &shape);

	for (uint32_t signs = 0; signs < 4; signs++) {
		for (uint32_t key = 0; key < netfc_table_size(exps); key++) {
			uint32_t word = netfc_table_entries(exps)[key];
			uint32_t sub = signs >> 1, sign_y = signs & 1;
			struct p4_entry entry = {
				.value = {sub, sign_y, key >> EXPONENT_BITS,
					slice(key, 0, EXPONENT_BITS)},
				.mask = {1, 1, p4_low_bits(EXPONENT_BITS),
					p4_low_bits(EXPONENT_BITS)},
				.arg = {slice(word, CODE_X_AT, CODE_BITS),
					slice(word, CODE_Y_AT, CODE_BITS), sign_y ^ sub,
					slice(word, OVERFLOW_AT, 1),
					slice(word, 0, EXPONENT_BITS) << FRACTION_BITS},
			};

			if (netfc_table_reachable(exps, key))
				p4_add_entry(table, &entry);
		}
	}
}

static void
add_base(struct p4_table *table, uint32_t exponent, uint32_t sum, uint32_t base)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {exponent, sum},
			.mask = {p4_low_bits(EXPONENT_BITS), p4_low_bits(SUM_BITS)},
			.arg = {base & 0xffff},
		});
}

/*
 * Sums of zero are zero for every base; the library has them decided. Significands that are not
 * shifted, those of the least exponent, are multiples of 8, and so are their sums.
 */
static void
subn_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"subn"},
		.key_count = 2,
		.key = {{"exponent", EXPONENT_BITS, P4_EXACT}, {"sum", SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_base", 1, {{"base", 16}}}},
	};
	const struct netfc_table *subn = find_table(set, "subn");
	const uint32_t *norm = netfc_table_entries(find_table(set, "norm"));
	struct p4_table *table = p4_add_table(program, &shape);

	for (uint32_t exponent = 0; exponent <= GREATEST_BASE >> FRACTION_BITS; exponent++)
		add_base(table, exponent, 0, -norm[0]);
	for (uint32_t key = 0; key < netfc_table_size(subn); key++) {
		uint32_t small = key >> (SUM_BITS - 2), sum = key << 2 & 0xffff;
		uint32_t correction = netfc_table_entries(subn)[key];

		if (small == 1 && sum % 8 != 0)
			continue;
		if (correction != 0 && sum != 0 && netfc_table_reachable(subn, key))
			add_base(
				table, small - 1, sum, ((small - 1) << FRACTION_BITS) + correction);
	}
}

/* Runs of a field that raise the same flag. */
struct limit {
	struct p4_table *table;
	struct p4_entry entry;
	unsigned key;
};

static void
add_limit(void *arg, uint32_t value, uint32_t mask)
{
	struct limit *limit = arg;

	limit->entry.value[limit->key] = value;
	limit->entry.mask[limit->key] = mask;
	p4_add_entry(limit->table, &limit->entry);
}

static bool
sum_overflows(const uint32_t *norminf, uint32_t sum)
{
	return ((GREATEST_BASE + norminf[sum]) & 0x7fff) == 0x7c00;
}

static void
sum_limits_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"sum_limits"},
		.key_count = 2,
		.key = {{"overflow", 1, P4_TERNARY}, {"sum", SUM_BITS, P4_TERNARY}},
		.action_count = 1,
		.action = {{"raise", 1, {{"flags", 4}}}},
	};
	const uint32_t *norminf = netfc_table_entries(find_table(set, "norm")) + (1u << SUM_BITS);
	struct limit limit = {
		.table = p4_add_table(program, &shape),
		.entry = {.value = {1}, .mask = {1}, .arg = {NETFC_OVERFLOW}},
		.key = 1,
	};
	uint32_t end;

	for (uint32_t sum = 0; sum < 1u << SUM_BITS; sum = end) {
		bool overflows = sum_overflows(norminf, sum);

		for (end = sum + 1;
			end < 1u << SUM_BITS && sum_overflows(norminf, end) == overflows; end++)
			;
		if (overflows)
			p4_cover_range(sum, end - 1, SUM_BITS, add_limit, &limit);
	}
	p4_minimise(limit.table);
}

static void
sum_tables(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table align = {
		.instance = {"align_x.align", "align_y.align"},
		.key_count = 3,
		.key = {{"shift", CODE_BITS, P4_EXACT}, {"negative", 1, P4_EXACT},
			{"fraction", FRACTION_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set", 1, {{"word", 16}}}},
	};
	static const struct p4_table norm = {
		.instance = {"norm"},
		.key_count = 2,
		.key = {{"overflow", 1, P4_EXACT}, {"sum", SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_norm", 1, {{"word", 16}}}},
	};

	exps_table(set, program);
	copy_table(set, "align", &align, program);
	copy_table(set, "norm", &norm, program);
	subn_table(set, program);
	sum_limits_table(set, program);
}

/* ---- products and quotients ------------------------------------------------------------------ */

static void
prenorm_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"prenorm_x.prenorm", "prenorm_y.prenorm"},
		.key_count = 1,
		.key = {{"magnitude", 15, P4_EXACT}},
		.action_count = 1,
		.action = {{"set", 2, {{"significand", 16}, {"power", 16}}}},
	};
	struct p4_table *table = copy_table(set, "prenorm", &shape, program);

	for (size_t e = 0; e < table->count; e++) {
		uint32_t *arg = table->entries[e].arg;

		arg[1] = arg[0] >> FRACTION_BITS;
		arg[0] = slice(arg[0], 0, FRACTION_BITS);
	}
}

/* The two pages of the library's table, for x's high half and its low one. */
static void
part_table(const struct netfc_set *set, uint32_t page, const char *name, const char *action,
	struct p4_program *program)
{
	const struct netfc_table *part = find_table(set, "part");
	const unsigned half = FRACTION_BITS / 2, bits = 1 + half + FRACTION_BITS;
	struct p4_table *table = p4_add_table(program,
		&(struct p4_table){
			.instance = {name},
			.key_count = 3,
			.key = {{"div", 1, P4_EXACT}, {"half", half, P4_EXACT},
				{"fraction", FRACTION_BITS, P4_EXACT}},
			.action_count = 1,
			.action = {{action, 1, {{"word", 32}}}},
		});

	for (uint32_t key = 0; key < 1u << bits; key++)
		p4_add_entry(table,
			&(struct p4_entry){
				.value = {key >> (bits - 1), slice(key, FRACTION_BITS, half),
					slice(key, 0, FRACTION_BITS)},
				.mask = {1, p4_low_bits(half), p4_low_bits(FRACTION_BITS)},
				.arg = {netfc_table_entries(part)[page << bits | key]},
			});
}

static void
class_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"class"},
		.key_count = 4,
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", EXPONENT_SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_class", 2, {{"class", CLASS_BITS}, {"base", 16}}}},
	};
	struct p4_table *table = copy_table(set, "class", &shape, program);

	for (size_t e = 0; e < table->count; e++) {
		uint32_t *arg = table->entries[e].arg;

		arg[1] = slice(arg[0], 0, 16);
		arg[0] = arg[0] >> 16;
	}
}

/* What rounding adds: for a product that is exactly its top bits, and for one that is more. */
struct rounding {
	const struct netfc_table *table;
	const uint32_t *exactly, *more;
};

static struct rounding
find_rounding(const struct netfc_set *set)
{
	const struct netfc_table *table = find_table(set, "round");
	const uint32_t *entries = netfc_table_entries(table);

	return (struct rounding){
		table, entries, entries + (UINT32_C(1) << netfc_table_key_bits(table))};
}

static void
round_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"round"},
		.key_count = 2,
		.key = {{"class", CLASS_BITS, P4_EXACT}, {"top", TOP_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_round", 1, {{"word", 16}}}},
	};
	struct rounding rounding = find_rounding(set);
	struct p4_table *table = copy_table(set, "round", &shape, program);

	for (size_t e = 0; e < table->count; e++) {
		struct p4_entry *entry = &table->entries[e];

		entry->arg[0] = rounding.more[entry->value[0] << TOP_BITS | entry->value[1]];
	}
}

/* Those of 2^bits products from `first` on that are ties, if any: they differ in some bits only. */
static void
add_ties(struct p4_table *table, const struct rounding *rounding, uint32_t class, uint32_t first,
	uint32_t last)
{
	uint32_t all = p4_low_bits(TOP_BITS), none = 0;

	for (uint32_t top = first; top <= last; top++) {
		uint32_t key = class << TOP_BITS | top;

		if (rounding->exactly[key] != rounding->more[key]) {
			all &= top;
			none |= top;
		}
	}
	if (none == 0)
		return;
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {class, all << BELOW_BITS},
			.mask = {p4_low_bits(CLASS_BITS),
				(p4_low_bits(TOP_BITS) & ~(all ^ none)) << BELOW_BITS |
					p4_low_bits(BELOW_BITS)},
		});
}

static void
tie_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"tie"},
		.key_count = 2,
		.key = {{"class", CLASS_BITS, P4_TERNARY}, {"product", PRODUCT_BITS, P4_TERNARY}},
		.action_count = 1,
		.action = {{.name = "lower"}},
	};
	struct rounding rounding = find_rounding(set);
	struct p4_table *table = p4_add_table(program, &shape);
	uint32_t one = 1u << (TOP_BITS - 2), two = 1u << (TOP_BITS - 1);

	for (uint32_t class = 0; class <= p4_low_bits(CLASS_BITS); class ++) {
		add_ties(table, &rounding, class, one, two - 1);
		add_ties(table, &rounding, class, two, 2 * two - 1);
	}
	p4_minimise(table);
}

/* A product's flags, its base being large or not. */
static uint32_t
product_flags(const struct rounding *rounding, uint32_t class, bool large, uint32_t product)
{
	const uint32_t *page =
		slice(product, 0, BELOW_BITS) != 0 ? rounding->more : rounding->exactly;
	uint32_t offset = page[class << TOP_BITS | product >> BELOW_BITS];
	bool greatest = GREATEST_BASE + offset == 0x7c00;

	if (large)
		return offset == 0 || greatest ? NETFC_OVERFLOW : 0;
	return offset == 0 ? NETFC_UNDERFLOW : 0;
}

/* Classes of a base that is 0 or infinity, subnormal, normal, normal and the greatest. */
enum {
	CLASS_NOTHING = 12,
	CLASS_NORMAL = 13,
	CLASS_GREATEST = 14
};

static void
add_product_limits(struct limit *limit, const struct rounding *rounding, uint32_t class, bool large)
{
	const uint32_t step = 1u << (BELOW_BITS - 1), end = 1u << PRODUCT_BITS;
	uint32_t first = end / 4, flags = product_flags(rounding, class, large, first);

	limit->entry.value[0] = class;
	limit->entry.value[1] = large;
	/* Exactly the top bits, then anything more: what is between makes no difference. */
	for (uint32_t product = first; product <= end; product += step) {
		uint32_t probe = product % (2 * step) == 0 ? product : product - step + 1;
		uint32_t now = product < end ? product_flags(rounding, class, large, probe) : 0;

		if (product < end && now == flags)
			continue;
		limit->entry.arg[0] = flags;
		if (flags != 0)
			p4_cover_range(first, probe - 1, PRODUCT_BITS, add_limit, limit);
		first = probe;
		flags = now;
	}
}

static void
product_limits_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"product_limits"},
		.key_count = 3,
		.key = {{"class", CLASS_BITS, P4_TERNARY}, {"large", 1, P4_TERNARY},
			{"product", PRODUCT_BITS, P4_TERNARY}},
		.action_count = 1,
		.action = {{"raise", 1, {{"flags", 4}}}},
	};
	struct rounding rounding = find_rounding(set);
	struct limit limit = {
		.table = p4_add_table(program, &shape),
		.entry = {.mask = {p4_low_bits(CLASS_BITS), 1}},
		.key = 2,
	};

	for (uint32_t class = 0; class <= CLASS_GREATEST; class ++) {
		if (class <= CLASS_NOTHING)
			add_product_limits(&limit, &rounding, class, false);
		if (class == CLASS_NOTHING || class == CLASS_GREATEST)
			add_product_limits(&limit, &rounding, class, true);
	}
	p4_minimise(limit.table);
}

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	if (netfc_format_id(netfc_set_format(set)) != NETFC_FP16 || find_table(set, "exps") == NULL)
		return "of the correctly rounded sets, only fp16_exact has a P4 program";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct lay-out only";
	sum_tables(set, program);
	prenorm_table(set, program);
	part_table(set, 0, "part_high", "set_high", program);
	part_table(set, 1, "part_low", "set_low", program);
	class_table(set, program);
	p4_decide_table(set, layout, program);
	round_table(set, program);
	tie_table(set, program);
	product_limits_table(set, program);
	return NULL;
}
