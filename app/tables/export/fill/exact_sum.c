/* SPDX-License-Identifier: BSD-3-Clause */
/* Correctly rounded sums and differences in P4. */
#include <string.h>

#include "export/fill/exact_source.h"

/* The key fields and the argument of exps that hold signs. */
#define SIGN_KEYS 2
#define SIGN_ARG 2

/* The entry for a word of the library's table: from bit 0 on base, small, overflow, codes. */
static struct p4_entry
exps_entry(const struct exact_source *source, uint32_t signs, uint32_t key, uint32_t word)
{
	const unsigned w = source->exponent_bits, overflow_at = w + 4, codes_at = overflow_at + 1;
	uint32_t sub = signs >> 1, sign_y = signs & 1;

	return (struct p4_entry){
		.value = {sub, sign_y, key >> w, slice(key, 0, w)},
		.mask = {1, 1, p4_low_bits(w), p4_low_bits(w)},
		.arg = {slice(word, codes_at + CODE_BITS, CODE_BITS),
			slice(word, codes_at, CODE_BITS), sign_y ^ sub, slice(word, overflow_at, 1),
			slice(word, 0, w) << source->fraction_bits},
	};
}

/* Remove the signs. */
static void
drop_signs(struct p4_table *table)
{
	struct p4_action *action = &table->action[0];

	table->key_count -= SIGN_KEYS;
	action->param_count--;
	memmove(table->key, table->key + SIGN_KEYS, table->key_count * sizeof(*table->key));
	memmove(action->param + SIGN_ARG, action->param + SIGN_ARG + 1,
		(action->param_count - SIGN_ARG) * sizeof(*action->param));
	for (size_t e = 0; e < table->count; e++) {
		struct p4_entry *entry = &table->entries[e];

		memmove(entry->value, entry->value + SIGN_KEYS,
			table->key_count * sizeof(*entry->value));
		memmove(entry->mask, entry->mask + SIGN_KEYS,
			table->key_count * sizeof(*entry->mask));
		memmove(entry->arg + SIGN_ARG, entry->arg + SIGN_ARG + 1,
			(action->param_count - SIGN_ARG) * sizeof(*entry->arg));
	}
}

static void
exps_table(const struct exact_source *source)
{
	const struct p4_table shape = {
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
	struct p4_table *table = p4_add_table(source->program, &shape);

	for (uint32_t signs = 0; signs < (source->signed_exps ? 4 : 1); signs++) {
		for (uint32_t key = 0; key < netfc_table_size(exps); key++) {
			struct p4_entry entry =
				exps_entry(source, signs, key, netfc_table_entries(exps)[key]);

			if (netfc_table_reachable(exps, key))
				p4_add_entry(table, &entry);
		}
	}
	if (!source->signed_exps)
		drop_signs(table);
}

static void
add_base(struct p4_table *table, uint32_t exponent, uint32_t sum, uint32_t base)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {exponent, sum},
			.mask = {p4_low_bits(table->key[0].bits), p4_low_bits(table->key[1].bits)},
			.arg = {base & 0xffff},
		});
}

/*
 * A sum of zero is zero for every base; in the library the decision table has that case.
 * Significands of the least exponent are not shifted and so are multiples of 8, as are their sums.
 */
static void
subn_table(const struct exact_source *source)
{
	const unsigned f = source->fraction_bits, bits = source->sum_bits;
	const struct p4_table shape = {
		.instance = {"subn"},
		.key_count = 2,
		.key = {{"exponent", source->exponent_bits, P4_EXACT}, {"sum", bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_base", 1, {{"base", 16}}}},
	};
	const struct netfc_table *subn = netfc_set_find_table(source->set, "subn");
	const uint32_t *norm = netfc_table_entries(netfc_set_find_table(source->set, "norm"));
	struct p4_table *table = p4_add_table(source->program, &shape);

	for (uint32_t exponent = 0; exponent <= source->greatest_base >> f; exponent++)
		add_base(table, exponent, 0, -norm[0]);
	for (uint32_t key = 0; key < netfc_table_size(subn); key++) {
		uint32_t small = key >> (bits - 2), sum = slice(key, 0, bits - 2) << 2;
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
	const struct p4_table shape = {
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
	struct p4_table *table = p4_add_table(source->program, &shape);
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

void
p4_sum_tables(const struct exact_source *source)
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
	p4_copy_table(source, "align", &align);
	p4_copy_table(source, "norm", &norm);
	subn_table(source);
	sum_limits_table(source);
}
