/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 in P4. Hardware finds leading ones by ternary entries, and a table's entries tell
 * actions that shift by constants how far; what the library's programs do in several steps is one
 * there.
 */
#include "export/fill/fp32_source.h"

void
fp32_copy_table(const struct fp32_source *source, const char *name, const struct p4_table *shape)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
	struct p4_table *table = p4_add_table(source->program, shape);

	for (uint32_t key = 0; key < netfc_table_size(from); key++) {
		if (netfc_table_reachable(from, key))
			p4_add_word(table, key, netfc_table_entries(from)[key]);
	}
}

const char *
p4_fp32_tables(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op,
	struct p4_program *program)
{
	const struct fp32_source source = {set, program, last_op};

	if (layout != P4_DIRECT)
		return "it has the direct layout only";
	fp32_sum_tables(&source);
	if (last_op >= NETFC_MUL)
		fp32_product_tables(&source);
	if (last_op >= NETFC_DIV)
		fp32_quotient_tables(&source);
	p4_decide_table(set, layout, program);
	return NULL;
}
