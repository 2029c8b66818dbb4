/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/fill/exact_source.h"

/* The table "exps" has the signs in its key unless the key would be wider than this. */
#define MOST_EXPS_BITS 16

struct exact_source
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
	source.signed_exps = 2 + 2 * source.exponent_bits <= MOST_EXPS_BITS;
	source.greatest_base = source.inf - (2u << source.fraction_bits);
	return source;
}

struct p4_table *
p4_copy_table(const struct exact_source *source, const char *name, const struct p4_table *shape)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
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
