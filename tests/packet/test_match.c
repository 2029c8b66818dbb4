/* SPDX-License-Identifier: BSD-3-Clause */
/* Every key of every table of every installed set and of fp32_exact, by every match engine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "cases.h"
#include "match.h"

static const char *const set_names[] = {TABLE_SETS, "fp32_exact"};

static void
check_keys(const struct match_stage *stage, const struct netfc_table *table)
{
	const uint32_t *entries = netfc_table_entries(table);
	uint32_t keys[MATCH_BULK], values[MATCH_BULK], size = netfc_table_size(table);

	for (uint32_t first = 0; first < size; first += MATCH_BULK) {
		uint32_t count = RTE_MIN((uint32_t)MATCH_BULK, size - first);

		for (uint32_t i = 0; i < count; i++)
			keys[i] = first + i;
		match_lookup(stage, keys, values, count);
		for (uint32_t i = 0; i < count; i++) {
			assert_in_range(
				values[i], 0, (UINT64_C(1) << netfc_table_value_bits(table)) - 1);
			if (netfc_table_reachable(table, first + i))
				assert_int_equal(values[i], entries[first + i]);
		}
	}
}

/* Programs look up in place, too. */
static void
check_in_place(const struct match_stage *stage, const struct netfc_table *table,
	const uint32_t *keys, unsigned int count)
{
	const uint32_t *entries = netfc_table_entries(table);
	uint32_t both[MATCH_BULK];

	memcpy(both, keys, count * sizeof(*keys));
	match_lookup(stage, both, both, count);
	for (unsigned int i = 0; i < count; i++) {
		if (netfc_table_reachable(table, keys[i]))
			assert_int_equal(both[i], entries[keys[i]]);
	}
}

/* Bulk look-ups of every length, so that no tail is forgotten. */
static void
check_lengths(const struct match_stage *stage, const struct netfc_table *table)
{
	const uint32_t *entries = netfc_table_entries(table);
	uint32_t keys[MATCH_BULK], values[MATCH_BULK];

	for (uint32_t i = 0; i < MATCH_BULK; i++)
		keys[i] = (1 + i * 97 % 1021) % netfc_table_size(table);
	for (uint32_t count = 1; count <= MATCH_BULK; count++) {
		for (uint32_t i = 0; i < MATCH_BULK; i++)
			values[i] = UINT32_MAX;
		match_lookup(stage, keys, values, count);
		for (uint32_t i = 0; i < count; i++) {
			if (netfc_table_reachable(table, keys[i]))
				assert_int_equal(values[i], entries[keys[i]]);
		}
		for (uint32_t i = count; i < MATCH_BULK; i++)
			assert_int_equal(values[i], UINT32_MAX);
		check_in_place(stage, table, keys, count);
	}
}

static void
check_table(const struct netfc_table *table, enum match_kind kind)
{
	struct match_stage *stage;
	int error = match_create(kind, table, SOCKET_ID_ANY, &stage);

	/* A next hop of rte_lpm is narrower than the decision table's words. */
	if (kind == MATCH_LPM && netfc_table_value_bits(table) > 24) {
		assert_int_equal(error, -E2BIG);
		return;
	}
	assert_int_equal(error, 0);
	check_keys(stage, table);
	check_lengths(stage, table);
	match_free(stage);
}

static void
check_sets(enum match_kind kind)
{
	for (unsigned int s = 0; s < RTE_DIM(set_names); s++) {
		struct netfc_set *set;

		assert_int_equal(netfc_set_build(set_names[s], &set), NETFC_OK);
		for (unsigned int t = 0; t < netfc_set_table_count(set); t++)
			check_table(netfc_set_table(set, t), kind);
		netfc_set_free(set);
	}
}

TEST(direct_tables_agree)
{
	check_sets(MATCH_DIRECT);
}

TEST(hashes_agree_with_tables)
{
	check_sets(MATCH_HASH);
}

TEST(prefixes_agree_with_tables)
{
	check_sets(MATCH_LPM);
}

TEST(kinds_have_names)
{
	for (enum match_kind kind = 0; kind < MATCH_KINDS; kind++)
		assert_int_equal(match_kind_by_name(match_kind_name(kind)), kind);
	assert_int_equal(match_kind_by_name("tcam"), MATCH_KINDS);
	assert_int_equal(match_kind_by_name(""), MATCH_KINDS);
}

TEST(unknown_kind_is_refused)
{
	struct match_stage *stage = NULL;

	assert_int_equal(match_create(MATCH_KINDS, NULL, SOCKET_ID_ANY, &stage), -EINVAL);
	assert_int_equal(match_create(MATCH_FPU, NULL, SOCKET_ID_ANY, &stage), -ENOTSUP);
	assert_null(stage);
	match_free(NULL);
}

/* ---- short of memory ------------------------------------------------------------------------- */

#define LARGEST_BLOCK ((size_t)64 << 20)
#define LEAST_BLOCK ((size_t)1 << 10)
#define BLOCKS 8192

/* All of the EAL's memory, the largest blocks first. */
static unsigned int
take_memory(void *blocks[BLOCKS])
{
	unsigned int count = 0;

	for (size_t bytes = LARGEST_BLOCK; bytes >= LEAST_BLOCK; bytes /= 2) {
		while (count < BLOCKS && (blocks[count] = rte_malloc(NULL, bytes, 0)) != NULL)
			count++;
	}
	return count;
}

/* With a little more memory each time. Returns how often there was too little. */
static unsigned int
create_until_it_fits(enum match_kind kind, const struct netfc_table *table, void *blocks[BLOCKS])
{
	unsigned int count = take_memory(blocks), failed = 0;
	struct match_stage *stage = NULL;
	int error;

	do {
		/* Not every function of DPDK that finds no memory says so there. */
		rte_errno = 0;
		error = match_create(kind, table, SOCKET_ID_ANY, &stage);
		if (error != 0) {
			assert_int_equal(error, -ENOMEM);
			assert_null(stage);
			assert_true(count > 0);
			failed++;
			rte_free(blocks[--count]);
		}
	} while (error != 0);
	match_free(stage);
	while (count > 0)
		rte_free(blocks[--count]);
	return failed;
}

TEST(too_little_memory_is_said)
{
	static void *blocks[BLOCKS];
	struct netfc_set *set;

	assert_int_equal(netfc_set_build("fp16_k1024", &set), NETFC_OK);
	for (enum match_kind kind = 0; kind < MATCH_FPU; kind++)
		assert_true(create_until_it_fits(kind, netfc_set_table(set, 0), blocks) > 0);
	netfc_set_free(set);
}
