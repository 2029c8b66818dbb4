/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family in P4 (fp16, bf16). Where the library's program joins fields to keys
 * that hardware cannot make in time, tables take their place: exps knows the effective sign of y,
 * subn has the corrected base itself, and a product's ties, which the library tells by the bits
 * below those that it looks up, are ternary entries.
 */
#include "export/export_exact.h"

struct p4_table *
p4_copy_table(const struct exact_source *source, const char *name, const struct p4_table *shape)
{
	const struct netfc_table *from = p4_source_table(source->set, name);
	struct p4_table *table = p4_add_table(source->program, shape);

	for (uint32_t index = 0; index < netfc_table_size(from); index++) {
		struct p4_entry entry = {.arg = {netfc_table_entries(from)[index]}};
		unsigned low = 0;

		for (unsigned k = table->key_count; k-- > 0;) {
			entry.value[k] = slice(index, low, table->key[k].bits);
			entry.mask[k] = p4_low_bits(table->key[k].bits);
			low += table->key[k].bits;
		}
		if (netfc_table_reachable(from, index) && index >> low == 0)
			p4_add_entry(table, &entry);
	}
	return table;
}

void
p4_add_limit(void *arg, uint32_t value, uint32_t mask)
{
	struct limit *limit = arg;

	limit->entry.value[limit->key] = value;
	limit->entry.mask[limit->key] = mask;
	p4_add_entry(limit->table, &limit->entry);
}

/* Beyond so many bits, signs are kept out of the key of the table of exponents. */
#define MOST_EXPS_BITS 16

static void
find_source(const struct netfc_set *set, struct p4_program *program, struct exact_source *source)
{
	const struct netfc_table *part = p4_source_table(set, "part");

	*source = (struct exact_source){
		.set = set,
		.program = program,
		.exponent_bits = netfc_table_key_bits(p4_source_table(set, "exps")) / 2,
		.sum_bits = netfc_table_key_bits(p4_source_table(set, "norm")),
		.product_bits = netfc_table_value_bits(part),
		.top_bits = netfc_table_key_bits(p4_source_table(set, "round")) - CLASS_BITS,
		.exponent_sum_bits = netfc_table_key_bits(p4_source_table(set, "class")) - 3,
		.halves = netfc_table_pages(part) == 2,
		.inf = netfc_inf_magnitude(netfc_set_format(set)),
	};
	source->fraction_bits = 15 - source->exponent_bits;
	source->below_bits = source->product_bits - source->top_bits;
	source->signed_exps = 2 + 2 * source->exponent_bits <= MOST_EXPS_BITS;
	source->greatest_base = source->inf - (2u << source->fraction_bits);
}

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	struct exact_source source;

	if (p4_source_table(set, "exps") == NULL)
		return "of the correctly rounded sets, fp16_exact and bf16_exact have a P4 program";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct lay-out only";
	find_source(set, program, &source);
	p4_sum_tables(&source);
	p4_product_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
