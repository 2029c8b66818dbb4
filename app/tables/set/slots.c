/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "set/set.h"

/* Whether a table of exact keys needs this entry. */
static bool
is_stored(const struct netfc_table *table, uint32_t index)
{
	return netfc_table_reachable(table, index) &&
		(!netfc_table_is_sparse(table) || netfc_table_entries(table)[index] != 0);
}

uint32_t
count_keys(const struct netfc_table *table, unsigned page, bool stored)
{
	unsigned bits = netfc_table_key_bits(table);
	uint32_t count = 0;

	for (uint32_t key = 0; key < UINT32_C(1) << bits; key++)
		count += stored ? is_stored(table, page << bits | key)
				: netfc_table_reachable(table, page << bits | key);
	return count;
}

struct domain
exp_table_domain(const struct netfc_table *table)
{
	const uint32_t *entries = netfc_table_entries(table);
	int32_t end = INT32_C(1) << (netfc_table_key_bits(table) - 1);
	uint32_t mask = 2 * (uint32_t)end - 1;
	struct domain domain = {-end, end - 1, mask};

	while (domain.first < 0 && entries[(uint32_t)domain.first & mask] == entries[end])
		domain.first++;
	while (domain.last > 0 && entries[domain.last] == entries[end - 1])
		domain.last--;
	return domain;
}

/* Width of a key for every theta that can occur: -g*k to g*k. */
static unsigned
theta_bits(const struct netfc_set *set)
{
	uint64_t thetas =
		2ull * (unsigned)netfc_format_guard(netfc_set_format(set)) * netfc_set_scale(set) +
		1;
	unsigned bits = 0;

	while (bits < 16 && UINT64_C(1) << bits < thetas)
		bits++;
	return bits;
}

bool
is_exp_table(const struct netfc_table *table)
{
	return strcmp(netfc_table_name(table), "exp") == 0;
}

static uint64_t
count_plain(const struct netfc_table *table, unsigned page)
{
	struct domain domain;

	if (!is_exp_table(table))
		return count_keys(table, page, true);
	domain = exp_table_domain(table);
	return (uint64_t)(domain.last - domain.first + 1);
}

struct slots
count_slots(const struct netfc_set *set, const struct netfc_table *table, unsigned page)
{
	struct slots slots = {
		.bits = netfc_table_key_bits(table),
		.entry_bytes = (netfc_table_value_bits(table) + 7) / 8,
		.plain = count_plain(table, page),
	};

	if (strcmp(netfc_table_name(table), "mi") == 0)
		slots.bits = theta_bits(set);
	slots.slots = netfc_table_is_sparse(table) ? slots.plain : UINT64_C(1) << slots.bits;
	return slots;
}
