/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family in P4 (fp16, bf16). Hardware cannot make all keys of the library's
 * program in time. Its tables do more instead: exps gives the effective sign of y, subn gives the
 * corrected base itself, and ternary entries recognise the ties of products.
 */
#include <string.h>

#include "export/fill/fill.h"

/* The table "exps" has the signs in its key unless the key would be wider than this. */
#define MAX_EXPS_BITS 16

/* A correctly rounded set (fp16, bf16) as the source of a P4 program's tables. */

/* Width of a shift count with the significand's hidden bit. */
#define CODE_BITS 5
/* Width of a rounding class (lib/netfc/exact/exact_family.h). */
#define CLASS_BITS 4

/* A set, the program to fill, and the widths of fields in the set's tables. */
struct exact_source {
	const struct netfc_set *set;
	struct p4_program *program;
	unsigned fraction_bits, exponent_bits;
	unsigned sum_bits;
	unsigned product_bits;      /* of a product or quotient */
	unsigned top_bits;          /* its upper bits, which are rounded */
	unsigned below_bits;        /* its other bits */
	unsigned exponent_sum_bits; /* of the exponent of a product or quotient */
	bool halves;      /* products are sums of two parts; otherwise they are looked up whole */
	bool signed_exps; /* the table "exps" has the signs in its key */
	uint32_t inf;
	uint32_t greatest_base; /* base of the greatest exponent */
	/* Rounding offsets: of products whose bits below the top bits are all 0, and of others. */
	const uint32_t *exactly, *more;
};

static struct exact_source
exact_source(const struct netfc_set *set, struct p4_program *program)
{
	const struct netfc_table *part = netfc_set_find_table(set, "part");
	const struct netfc_table *round = netfc_set_find_table(set, "round");
	struct exact_source source = {
		.set = set,
		.program = program,
		.exponent_bits = netfc_table_key_bits(netfc_set_find_table(set, "exps")) / 2,
		.sum_bits = netfc_table_key_bits(netfc_set_find_table(set, "norm")),
		.product_bits = netfc_table_value_bits(part),
		.top_bits = netfc_table_key_bits(round) - CLASS_BITS,
		.exponent_sum_bits = netfc_table_key_bits(netfc_set_find_table(set, "class")) - 3,
		.halves = netfc_table_pages(part) == 2,
		.inf = netfc_inf_magnitude(netfc_set_format(set)),
		.exactly = netfc_table_entries(round),
	};

	source.fraction_bits = 15 - source.exponent_bits;
	source.below_bits = source.product_bits - source.top_bits;
	source.signed_exps = 2 + 2 * source.exponent_bits <= MAX_EXPS_BITS;
	source.greatest_base = source.inf - (2u << source.fraction_bits);
	source.more = source.exactly + (UINT32_C(1) << netfc_table_key_bits(round));
	return source;
}

/* ---- sums and differences -------------------------------------------------------------------- */

/* The key fields and the argument of exps that hold signs. */
#define SIGN_KEYS 2
#define SIGN_ARG 2

static void
drop_signs(struct p4_table *table)
{
	struct p4_action *action = &table->action[0];

	table->key_count -= SIGN_KEYS;
	memmove(table->key, table->key + SIGN_KEYS, table->key_count * sizeof(*table->key));
	memmove(action->param + SIGN_ARG, action->param + SIGN_ARG + 1,
		(P4_MAX_PARAMS - SIGN_ARG - 1) * sizeof(*action->param));
	action->param[P4_MAX_PARAMS - 1].name = NULL;
}

/* Add a word of the library's table: from bit 0 on base, small, overflow, codes. */
static void
add_exps(const struct exact_source *source, struct p4_table *table, uint32_t signs, uint32_t key,
	uint32_t word)
{
	const unsigned w = source->exponent_bits, overflow_at = w + 4, codes_at = overflow_at + 1;
	const uint32_t sub = signs >> 1, sign_y = signs & 1;
	const uint32_t value[] = {sub, sign_y, key >> w, p4_slice(key, 0, w)};
	uint32_t arg[] = {p4_slice(word, codes_at + CODE_BITS, CODE_BITS),
		p4_slice(word, codes_at, CODE_BITS), sign_y ^ sub, p4_slice(word, overflow_at, 1),
		p4_slice(word, 0, w) << source->fraction_bits};

	if (!source->signed_exps)
		memmove(arg + SIGN_ARG, arg + SIGN_ARG + 1,
			sizeof(arg) - (SIGN_ARG + 1) * sizeof(*arg));
	p4_add_exact(table, source->signed_exps ? value : value + SIGN_KEYS, arg);
}

static void
exps_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"exps"},
		.key = {{"sub", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent_x", source->exponent_bits, P4_EXACT},
			{"exponent_y", source->exponent_bits, P4_EXACT}},
		.action = {{"set_exps",
			{{"code_x", CODE_BITS}, {"code_y", CODE_BITS}, {"effective_sign_y", 1},
				{"overflow", 1}, {"base", 16}}}},
	};
	const struct netfc_table *exps = netfc_set_find_table(source->set, "exps");
	struct p4_table *table = p4_add_table(source->program, &pattern);

	if (!source->signed_exps)
		drop_signs(table);
	for (uint32_t signs = 0; signs < (source->signed_exps ? 4 : 1); signs++) {
		for (uint32_t key = 0; key < netfc_table_size(exps); key++) {
			if (netfc_table_reachable(exps, key))
				add_exps(source, table, signs, key, netfc_table_entries(exps)[key]);
		}
	}
}

static void
add_base(struct p4_table *table, uint32_t exponent, uint32_t sum, uint32_t base)
{
	p4_add_exact(table, P4_WORDS(exponent, sum), P4_WORDS(base & 0xffff));
}

/*
 * A sum of zero is zero for every base; in the library the decision table has that case.
 * Significands of the least exponent are not shifted and so are multiples of 8, as are their sums.
 */
static void
subn_table(const struct exact_source *source)
{
	const unsigned f = source->fraction_bits, bits = source->sum_bits;
	const struct p4_table pattern = {
		.instance = {"subn"},
		.key = {{"exponent", source->exponent_bits, P4_EXACT}, {"sum", bits, P4_EXACT}},
		.action = {{"set_base", {{"base", 16}}}},
	};
	const struct netfc_table *subn = netfc_set_find_table(source->set, "subn");
	const uint32_t *norm = netfc_table_entries(netfc_set_find_table(source->set, "norm"));
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t exponent = 0; exponent <= source->greatest_base >> f; exponent++)
		add_base(table, exponent, 0, -norm[0]);
	for (uint32_t key = 0; key < netfc_table_size(subn); key++) {
		uint32_t small = key >> (bits - 2), sum = p4_slice(key, 0, bits - 2) << 2;
		uint32_t correction = netfc_table_entries(subn)[key];

		if (small == 1 && sum % 8 != 0)
			continue;
		if (correction != 0 && sum != 0 && netfc_table_reachable(subn, key))
			add_base(table, small - 1, sum, ((small - 1) << f) + correction);
	}
}

static bool
sum_overflows(const struct exact_source *source, const uint32_t *norminf, uint32_t sum)
{
	return ((source->greatest_base + norminf[sum]) & 0x7fff) == source->inf;
}

static void
sum_limits_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"sum_limits"},
		.key = {{"overflow", 1, P4_TERNARY}, {"sum", source->sum_bits, P4_TERNARY}},
		.action = {{"raise", {{"flags", 4}}}},
	};
	const uint32_t sums = 1u << source->sum_bits;
	const uint32_t *norminf =
		netfc_table_entries(netfc_set_find_table(source->set, "norm")) + sums;
	const struct p4_entry entry = {.value = {1}, .mask = {1}, .arg = {NETFC_OVERFLOW}};
	struct p4_table *table = p4_add_table(source->program, &pattern);
	uint32_t end;

	for (uint32_t sum = 0; sum < sums; sum = end) {
		bool overflows = sum_overflows(source, norminf, sum);

		end = sum + 1;
		while (end < sums && sum_overflows(source, norminf, end) == overflows)
			end++;
		if (overflows)
			p4_add_range(table, &entry, 1, sum, end - 1);
	}
	p4_minimise(table);
}

static void
sum_tables(const struct exact_source *source)
{
	const struct p4_table align = {
		.instance = {"align_x.align", "align_y.align"},
		.key = {{"shift", CODE_BITS, P4_EXACT}, {"negative", 1, P4_EXACT},
			{"fraction", source->fraction_bits, P4_EXACT}},
		.action = {{"set", {{"word", 16}}}},
	};
	const struct p4_table norm = {
		.instance = {"norm"},
		.key = {{"overflow", 1, P4_EXACT}, {"sum", source->sum_bits, P4_EXACT}},
		.action = {{"set_norm", {{"word", 16}}}},
	};

	exps_table(source);
	p4_copy_table(source->set, "align", &align, NULL, source->program);
	p4_copy_table(source->set, "norm", &norm, NULL, source->program);
	subn_table(source);
	sum_limits_table(source);
}

/* ---- products and quotients ------------------------------------------------------------------ */

static void
prenorm_table(const struct exact_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"prenorm_x.prenorm", "prenorm_y.prenorm"},
		.key = {{"magnitude", 15, P4_EXACT}},
		.action = {{"set", {{"significand", 16}, {"power", 16}}}},
	};
	const struct p4_bits slices[] = {{0, source->fraction_bits}, {source->fraction_bits, 16}};

	p4_copy_table(source->set, "prenorm", &pattern, slices, source->program);
}

/* Whole products and quotients. */
static void
part_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"part"},
		.key = {{"div", 1, P4_EXACT}, {"fraction_x", source->fraction_bits, P4_EXACT},
			{"fraction_y", source->fraction_bits, P4_EXACT}},
		.action = {{"set_product", {{"word", 16}}}},
	};

	p4_copy_table(source->set, "part", &pattern, NULL, source->program);
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
			.key = {{"div", 1, P4_EXACT}, {"half", half, P4_EXACT},
				{"fraction", f, P4_EXACT}},
			.action = {{action, {{"word", 32}}}},
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
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", source->exponent_sum_bits, P4_EXACT}},
		.action = {{"set_class", {{"class", CLASS_BITS}, {"base", 16}}}},
	};
	static const struct p4_bits slices[] = {{16, CLASS_BITS}, {0, 16}};

	p4_copy_table(source->set, "class", &pattern, slices, source->program);
}

static void
round_table(const struct exact_source *source)
{
	const struct p4_table pattern = {
		.instance = {"round"},
		.key = {{"class", CLASS_BITS, P4_EXACT}, {"top", source->top_bits, P4_EXACT}},
		.action = {{"set_round", {{"word", 16}}}},
	};
	struct p4_table *table =
		p4_copy_table(source->set, "round", &pattern, NULL, source->program);

	for (size_t e = 0; e < table->count; e++) {
		struct p4_entry *entry = &table->entries[e];

		entry->arg[0] = source->more[entry->value[0] << source->top_bits | entry->value[1]];
	}
}

/* One entry for all ties from `first` to `last`, if any: they differ only in some bits. */
static void
add_ties(const struct exact_source *source, struct p4_table *table, uint32_t class, uint32_t first,
	uint32_t last)
{
	const unsigned top_bits = source->top_bits, below = source->below_bits;
	uint32_t all = p4_low_bits(top_bits), none = 0;

	for (uint32_t top = first; top <= last; top++) {
		uint32_t key = class << top_bits | top;

		if (source->exactly[key] != source->more[key]) {
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
		.key = {{"class", CLASS_BITS, P4_TERNARY},
			{"product", source->product_bits, P4_TERNARY}},
		.action = {{.name = "lower"}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);
	uint32_t one = 1u << (source->top_bits - 2), two = 2 * one;

	for (uint32_t class = 0; class <= p4_low_bits(CLASS_BITS); class ++) {
		add_ties(source, table, class, one, two - 1);
		add_ties(source, table, class, two, 2 * two - 1);
	}
	p4_minimise(table);
}

/* The flags of a product with a large base, or with another one. */
static uint32_t
product_flags(const struct exact_source *source, uint32_t class, bool large, uint32_t product)
{
	const uint32_t *page =
		p4_slice(product, 0, source->below_bits) != 0 ? source->more : source->exactly;
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
	const struct exact_source *source, struct p4_table *table, uint32_t class, bool large)
{
	const uint32_t step = 1u << (source->below_bits - 1);
	const uint32_t end = 1u << source->product_bits;
	uint32_t first = end / 4, flags = product_flags(source, class, large, first);
	struct p4_entry entry = {
		.value = {class, large},
		.mask = {p4_low_bits(CLASS_BITS), 1},
	};

	/* For each value of the top bits: all bits below are 0, then any is set. */
	for (uint32_t product = first; product <= end; product += step) {
		uint32_t probe = product % (2 * step) == 0 ? product : product - step + 1;
		uint32_t now = product < end ? product_flags(source, class, large, probe) : 0;

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
		.key = {{"class", CLASS_BITS, P4_TERNARY}, {"large", 1, P4_TERNARY},
			{"product", source->product_bits, P4_TERNARY}},
		.action = {{"raise", {{"flags", 4}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t class = 0; class <= source->fraction_bits + 1; class ++)
		add_product_limits(source, table, class, false);
	add_product_limits(source, table, CLASS_NOTHING, false);
	add_product_limits(source, table, CLASS_NOTHING, true);
	add_product_limits(source, table, CLASS_GREATEST, true);
	p4_minimise(table);
}

static void
product_tables(const struct exact_source *source)
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

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	struct exact_source source;

	if (netfc_set_find_table(set, "exps") == NULL)
		return "it has no P4 program; of the correctly rounded sets, fp16_exact, "
		       "bf16_exact, fp32_exact and those of fp8 have one";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct layout only";
	source = exact_source(set, program);
	sum_tables(&source);
	product_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
