/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"

const char *
netfc_table_name(const struct netfc_table *table)
{
	return table->name;
}

unsigned
netfc_table_key_bits(const struct netfc_table *table)
{
	return table->key_bits;
}

unsigned
netfc_table_value_bits(const struct netfc_table *table)
{
	return table->value_bits;
}

bool
netfc_table_key_signed(const struct netfc_table *table)
{
	return table->key_signed;
}

bool
netfc_table_value_signed(const struct netfc_table *table)
{
	return table->value_signed;
}

unsigned
netfc_table_pages(const struct netfc_table *table)
{
	return table->pages;
}

const char *
netfc_table_page_name(const struct netfc_table *table, unsigned page)
{
	return table->pages > 1 && page < table->pages ? table->page_name[page] : table->name;
}

unsigned
netfc_table_copies(const struct netfc_table *table)
{
	return table->copies;
}

bool
netfc_table_is_match(const struct netfc_table *table)
{
	return table->match;
}

bool
netfc_table_is_sparse(const struct netfc_table *table)
{
	return table->sparse;
}

uint32_t
netfc_table_size(const struct netfc_table *table)
{
	return (uint32_t)table->pages << table->key_bits;
}

unsigned
netfc_table_index_bits(const struct netfc_table *table)
{
	unsigned bits = table->key_bits;

	while (UINT32_C(1) << bits < netfc_table_size(table))
		bits++;
	return bits;
}

const uint32_t *
netfc_table_entries(const struct netfc_table *table)
{
	return table->entries;
}

bool
netfc_table_reachable(const struct netfc_table *table, uint32_t index)
{
	return table->reachable[index / 64] >> index % 64 & 1;
}
