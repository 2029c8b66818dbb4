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

static struct exact_source
exact_source(const struct netfc_set *set, struct p4_program *program)
{
	const struct netfc_table *part = netfc_set_find_table(set, "part");
	struct exact_source source = {
		.set = set,
		.program = program,
		.exponent_bits = netfc_table_key_bits(netfc_set_find_table(set, "exps")) / 2,
		.sum_bits = netfc_table_key_bits(netfc_set_find_table(set, "norm")),
		.product_bits = netfc_table_value_bits(part),
		.top_bits = netfc_table_key_bits(netfc_set_find_table(set, "round")) - CLASS_BITS,
		.exponent_sum_bits = netfc_table_key_bits(netfc_set_find_table(set, "class")) - 3,
		.halves = netfc_table_pages(part) == 2,
		.inf = netfc_inf_magnitude(netfc_set_format(set)),
	};

	source.fraction_bits = 15 - source.exponent_bits;
	source.below_bits = source.product_bits - source.top_bits;
	source.signed_exps = 2 + 2 * source.exponent_bits <= MAX_EXPS_BITS;
	source.greatest_base = source.inf - (2u << source.fraction_bits);
	return source;
}

struct p4_table *
p4_copy_table(const struct netfc_set *set, const char *name, const struct p4_table *pattern,
	struct p4_program *program)
{
	const struct netfc_table *from = netfc_set_find_table(set, name);
	struct p4_table *table = p4_add_table(program, pattern);

	for (uint32_t index = 0; index < netfc_table_size(from); index++) {
		/* Words of an argument's slices come with the first; the others are cut out later.
		 */
		const uint32_t arg[P4_MAX_PARAMS] = {netfc_table_entries(from)[index]};
		uint32_t value[P4_MAX_KEYS];
		unsigned low = 0;

		for (unsigned k = table->key_count; k-- > 0;) {
			value[k] = p4_slice(index, low, table->key[k].bits);
			low += table->key[k].bits;
		}
		if (netfc_table_reachable(from, index) && index >> low == 0)
			p4_add_exact(table, value, arg);
	}
	return table;
}

/* Correctly rounded sums and differences in P4. */

/* The key fields and the argument of exps that hold signs. */
#define SIGN_KEYS 2
#define SIGN_ARG 2

static void
drop_signs(struct p4_table *table)
{
	struct p4_action *action = &table->action[0];

	table->key_count -= SIGN_KEYS;
	action->param_count--;
	memmove(table->key, table->key + SIGN_KEYS, table->key_count * sizeof(*table->key));
	memmove(action->param + SIGN_ARG, action->param + SIGN_ARG + 1,
		(action->param_count - SIGN_ARG) * sizeof(*action->param));
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
		.key_count = 4,
		.key = {{"sub", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent_x", source->exponent_bits, P4_EXACT},
			{"exponent_y", source->exponent_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exps", 5,
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
		.key_count = 2,
		.key = {{"exponent", source->exponent_bits, P4_EXACT}, {"sum", bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_base", 1, {{"base", 16}}}},
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
		.key_count = 2,
		.key = {{"overflow", 1, P4_TERNARY}, {"sum", source->sum_bits, P4_TERNARY}},
		.action_count = 1,
		.action = {{"raise", 1, {{"flags", 4}}}},
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
		.key_count = 3,
		.key = {{"shift", CODE_BITS, P4_EXACT}, {"negative", 1, P4_EXACT},
			{"fraction", source->fraction_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set", 1, {{"word", 16}}}},
	};
	const struct p4_table norm = {
		.instance = {"norm"},
		.key_count = 2,
		.key = {{"overflow", 1, P4_EXACT}, {"sum", source->sum_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_norm", 1, {{"word", 16}}}},
	};

	exps_table(source);
	p4_copy_table(source->set, "align", &align, source->program);
	p4_copy_table(source->set, "norm", &norm, source->program);
	subn_table(source);
	sum_limits_table(source);
}

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	struct exact_source source;

	if (netfc_set_find_table(set, "exps") == NULL)
		return "of the correctly rounded sets, fp16_exact and bf16_exact have a P4 program";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct layout only";
	source = exact_source(set, program);
	sum_tables(&source);
	p4_product_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
