/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix compression of all kinds of small tables: lossless, and with the fewest prefixes. */
#include <stdlib.h>
#include <string.h>

#include "cover.h"

/* The longest prefix that matches, or NULL: what a switch does, one prefix after the other. */
static const struct netfc_prefix *
cover_longest_match(const struct covered *covered, uint32_t key)
{
	const struct netfc_prefix *longest = NULL;

	for (size_t p = 0; p < covered->count; p++) {
		const struct netfc_prefix *prefix = &covered->prefix[p];

		if (key - prefix->key >= prefix_keys(covered, prefix) || key < prefix->key)
			continue;
		if (longest == NULL || prefix->length > longest->length)
			longest = prefix;
	}
	return longest;
}

static void
expect_lossless_by_matching(const struct covered *covered)
{
	for (uint32_t key = 0; key < cover_keys(covered); key++)
		expect_match(covered, key, cover_longest_match(covered, key));
}

/* A table made by hand: up to three pages of up to 32 keys. */
struct small {
	struct netfc_table table;
	uint32_t entries[96];
	uint64_t reachable[2];
};

#define SMALL_VALUES 3

static void
make_small(struct small *small, unsigned key_bits, unsigned pages, uint64_t *seed)
{
	/* From none to all of the keys occur. */
	unsigned occurring = next_random(seed) % 9;

	memset(small, 0, sizeof(*small));
	small->table = (struct netfc_table){.name = "small",
		.key_bits = key_bits,
		.value_bits = 8,
		.pages = pages,
		.entries = small->entries,
		.reachable = small->reachable};
	for (uint32_t i = 0; i < pages << key_bits; i++) {
		small->entries[i] = next_random(seed) % SMALL_VALUES;
		if (next_random(seed) % 8 < occurring)
			mark_reachable(&small->table, i);
	}
}

static bool
needed(const struct covered *covered, uint32_t key)
{
	return key < cover_keys(covered) &&
		netfc_table_reachable(covered->table, cover_first_index(covered) + key);
}

#define NOTHING (-1)

/* The fewest prefixes at a node and below, given what is inherited: every way is tried. */
static size_t
fewest(const struct covered *covered, uint32_t key, unsigned length, int inherited)
{
	uint32_t half = covered->bits == length ? 0 : 1u << (covered->bits - length - 1);
	size_t least = SIZE_MAX;

	for (int stated = NOTHING; stated < SMALL_VALUES; stated++) {
		int value = stated == NOTHING ? inherited : stated;
		size_t count = stated != NOTHING;

		if (half != 0)
			count += fewest(covered, key, length + 1, value) +
				fewest(covered, key + half, length + 1, value);
		else if (needed(covered, key) &&
			value != (int)covered->table->entries[cover_first_index(covered) + key])
			continue;
		least = count < least ? count : least;
	}
	return least;
}

/* The fewest prefixes none of which is inside another. */
static size_t
fewest_disjoint(const struct covered *covered, uint32_t key, unsigned length)
{
	uint32_t keys = 1u << (covered->bits - length), occurring = 0, value = 0;
	bool equal = true;

	for (uint32_t k = key; k < key + keys; k++) {
		uint32_t entry;

		if (!needed(covered, k))
			continue;
		entry = covered->table->entries[cover_first_index(covered) + k];
		equal = equal && (occurring == 0 || entry == value);
		value = entry;
		occurring++;
	}
	if (equal)
		return occurring > 0;
	return fewest_disjoint(covered, key, length + 1) +
		fewest_disjoint(covered, key + keys / 2, length + 1);
}

static void
check_small(const struct netfc_table *table, int page)
{
	struct covered merged = cover(table, page, NETFC_COVER_MERGED);
	struct covered optimal = cover(table, page, NETFC_COVER_OPTIMAL);

	expect_well_formed(&merged);
	expect_well_formed(&optimal);
	expect_disjoint(&merged);
	expect_lossless_by_matching(&merged);
	expect_lossless_by_matching(&optimal);
	assert_int_equal(merged.count, fewest_disjoint(&merged, 0, 0));
	assert_int_equal(optimal.count, fewest(&optimal, 0, 0, NOTHING));
	free(merged.prefix);
	free(optimal.prefix);
}

TEST(covers_of_small_tables_are_the_least)
{
	struct small small;
	uint64_t seed = 1;

	for (unsigned i = 0; i < 1000; i++) {
		make_small(&small, i % 4 + 1, 1, &seed);
		check_small(&small.table, 0);
	}
}

/* Three pages of 4 keys: the 4 keys after the table's end match what they like. */
TEST(covers_of_small_tables_with_pages_are_the_least)
{
	struct small small;
	uint64_t seed = 2;

	for (unsigned i = 0; i < 200; i++) {
		make_small(&small, 2, 3, &seed);
		check_small(&small.table, -1);
		for (int page = 0; page < 3; page++)
			check_small(&small.table, page);
	}
}

TEST(covers_of_uniform_tables_are_single_prefixes)
{
	struct small small;
	uint64_t seed = 3;
	struct covered covered;

	make_small(&small, 5, 1, &seed);
	for (unsigned i = 0; i < 32; i++) {
		small.entries[i] = 2;
		mark_reachable(&small.table, i);
	}
	for (enum netfc_cover how = NETFC_COVER_MERGED; how <= NETFC_COVER_OPTIMAL; how++) {
		covered = cover(&small.table, 0, how);
		assert_int_equal(covered.count, 1);
		assert_int_equal(covered.prefix[0].length, 0);
		assert_int_equal(covered.prefix[0].value, 2);
		free(covered.prefix);
	}
	memset(small.reachable, 0, sizeof(small.reachable));
	for (enum netfc_cover how = NETFC_COVER_MERGED; how <= NETFC_COVER_OPTIMAL; how++) {
		covered = cover(&small.table, 0, how);
		assert_int_equal(covered.count, 0);
		free(covered.prefix);
	}
}

TEST(pages_and_covers_out_of_range_are_refused)
{
	struct small small;
	uint64_t seed = 4;
	struct netfc_prefix *prefix = NULL;
	size_t count = 7;

	make_small(&small, 2, 3, &seed);
	assert_int_equal(netfc_table_cover(&small.table, -2, NETFC_COVER_MERGED, &prefix, &count),
		NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_table_cover(&small.table, 3, NETFC_COVER_MERGED, &prefix, &count),
		NETFC_ERR_ARGUMENT);
	assert_int_equal(netfc_table_cover(&small.table, 0, (enum netfc_cover)2, &prefix, &count),
		NETFC_ERR_ARGUMENT);
	assert_null(prefix);
	assert_int_equal(count, 7);
}
