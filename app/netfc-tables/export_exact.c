/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The correctly rounded family in P4 (fp16). Where the library's program joins fields to keys that
 * hardware cannot make in time, tables take their place: exps knows the effective sign of y, subn
 * has the corrected base itself, and a product's ties, which the library tells by the bits below
 * those that it looks up, are ternary entries.
 */
#include "export_exact.h"

struct p4_table *
p4_copy_table(const struct netfc_set *set, const char *name, const struct p4_table *shape,
	struct p4_program *program)
{
	const struct netfc_table *source = p4_source_table(set, name);
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

void
p4_add_limit(void *arg, uint32_t value, uint32_t mask)
{
	struct limit *limit = arg;

	limit->entry.value[limit->key] = value;
	limit->entry.mask[limit->key] = mask;
	p4_add_entry(limit->table, &limit->entry);
}

const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	if (netfc_format_id(netfc_set_format(set)) != NETFC_FP16 ||
		p4_source_table(set, "exps") == NULL)
		return "of the correctly rounded sets, only fp16_exact has a P4 program";
	if (layout != P4_DIRECT)
		return "the correctly rounded sets have the direct lay-out only";
	p4_sum_tables(set, program);
	p4_product_tables(set, program);
	p4_decide_table(set, layout, program);
	return NULL;
}
