/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix compression: lossless on real tables, and the least possible on all kinds of small ones.
 */
#include <stdlib.h>

#include "cover.h"

/* Painting longer prefixes over shorter ones leaves every key its longest match. */
static void
expect_lossless_by_painting(const struct covered *covered)
{
	const struct netfc_prefix **match = calloc(1u << covered->bits, sizeof(*match));

	assert_non_null(match);
	for (size_t p = 0; p < covered->count; p++) {
		const struct netfc_prefix *prefix = &covered->prefix[p];

		for (uint32_t k = 0; k < prefix_keys(covered, prefix); k++)
			match[prefix->key + k] = prefix;
	}
	for (uint32_t key = 0; key < cover_keys(covered); key++)
		expect_match(covered, key, match[key]);
	free(match);
}

/* Both covers of a table or page; returns how many prefixes each has. */
static void
check_real(const struct netfc_table *table, int page, size_t counts[2])
{
	struct covered merged = cover(table, page, NETFC_COVER_MERGED);
	struct covered optimal = cover(table, page, NETFC_COVER_OPTIMAL);

	expect_well_formed(&merged);
	expect_well_formed(&optimal);
	expect_disjoint(&merged);
	expect_lossless_by_painting(&merged);
	expect_lossless_by_painting(&optimal);
	assert_true(optimal.count > 0 && optimal.count <= merged.count);
	counts[NETFC_COVER_MERGED] = merged.count;
	counts[NETFC_COVER_OPTIMAL] = optimal.count;
	free(merged.prefix);
	free(optimal.prefix);
}

static void
check_real_set(const char *name)
{
	struct netfc_set *set = must_build(name);
	size_t counts[2];

	for (unsigned t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);

		for (int page = 0; page < (int)netfc_table_pages(table); page++) {
			check_real(table, page, counts);
			REPORT("%s %s: %u entries, %zu prefixes merged, %zu at best\n", name,
				netfc_table_page_name(table, (unsigned)page),
				1u << netfc_table_key_bits(table), counts[NETFC_COVER_MERGED],
				counts[NETFC_COVER_OPTIMAL]);
		}
		check_real(table, -1, counts);
	}
	netfc_set_free(set);
}

TEST(covers_of_real_tables_are_lossless)
{
	static const char *const names[] = {"fp16_k1024", "fp16_k1024_floor", "posit16_k512",
		"bf16_k128", "posit16_es2_k256_floor", "fp16_k1"};

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		check_real_set(names[n]);
}

static void
expect_same_cover(const struct covered *a, const struct covered *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t p = 0; p < a->count; p++) {
		assert_int_equal(a->prefix[p].key, b->prefix[p].key);
		assert_int_equal(a->prefix[p].length, b->prefix[p].length);
		assert_int_equal(a->prefix[p].value, b->prefix[p].value);
	}
}

TEST(covers_are_always_the_same)
{
	for (enum netfc_cover how = NETFC_COVER_MERGED; how <= NETFC_COVER_OPTIMAL; how++) {
		struct netfc_set *first = must_build("bf16_k128"),
				 *second = must_build("bf16_k128");
		struct covered a = cover(netfc_set_table(first, 1), -1, how);
		struct covered b = cover(netfc_set_table(second, 1), -1, how);

		expect_same_cover(&a, &b);
		free(a.prefix);
		free(b.prefix);
		netfc_set_free(first);
		netfc_set_free(second);
	}
}
