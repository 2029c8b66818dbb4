/* SPDX-License-Identifier: BSD-3-Clause */
#include "cover.h"

#include <stdlib.h>

struct covered
cover(const struct netfc_table *table, int page, enum netfc_cover how)
{
	struct covered covered = {.table = table, .page = page};

	covered.bits = page < 0 ? netfc_table_index_bits(table) : netfc_table_key_bits(table);
	assert_int_equal(
		netfc_table_cover(table, page, how, &covered.prefix, &covered.count), NETFC_OK);
	return covered;
}

uint32_t
cover_first_index(const struct covered *covered)
{
	return covered->page < 0 ? 0 : (uint32_t)covered->page << covered->table->key_bits;
}

uint32_t
cover_keys(const struct covered *covered)
{
	return covered->page < 0 ? netfc_table_size(covered->table) : UINT32_C(1) << covered->bits;
}

uint32_t
prefix_keys(const struct covered *covered, const struct netfc_prefix *prefix)
{
	return UINT32_C(1) << (covered->bits - prefix->length);
}

void
expect_well_formed(const struct covered *covered)
{
	for (size_t p = 0; p < covered->count; p++) {
		const struct netfc_prefix *prefix = &covered->prefix[p];

		assert_in_range(prefix->length, 0, covered->bits);
		assert_in_range(prefix->key, 0, (1u << covered->bits) - 1);
		assert_int_equal(prefix->key % prefix_keys(covered, prefix), 0);
		assert_int_equal((uint64_t)prefix->value >> covered->table->value_bits, 0);
		if (p > 0)
			assert_true(prefix[-1].length < prefix->length ||
				(prefix[-1].length == prefix->length &&
					prefix[-1].key < prefix->key));
	}
}

void
expect_match(const struct covered *covered, uint32_t key, const struct netfc_prefix *match)
{
	uint32_t index = cover_first_index(covered) + key;

	if (!netfc_table_reachable(covered->table, index))
		return;
	if (match == NULL)
		fail_msg(
			"%s, page %d: no prefix for %#x", covered->table->name, covered->page, key);
	else if (match->value != covered->table->entries[index])
		fail_msg("%s, page %d: %#x gives %#x, not %#x", covered->table->name, covered->page,
			key, match->value, covered->table->entries[index]);
}

void
expect_disjoint(const struct covered *covered)
{
	uint8_t *taken = calloc(1u << covered->bits, 1);

	assert_non_null(taken);
	for (size_t p = 0; p < covered->count; p++) {
		const struct netfc_prefix *prefix = &covered->prefix[p];

		for (uint32_t k = 0; k < prefix_keys(covered, prefix); k++)
			assert_int_equal(taken[prefix->key + k]++, 0);
	}
	free(taken);
}
