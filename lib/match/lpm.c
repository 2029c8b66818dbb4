/* SPDX-License-Identifier: BSD-3-Clause */
/* A match stage of longest prefixes on rte_lpm, as in a switch's TCAM. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_lpm.h>
#include <rte_malloc.h>

#include "match.h"

/*
 * A key stands in the upper 24 bits of an address: tbl24 is then indexed by the key itself, and a
 * look-up is a single memory access into a dense table.
 */
#define KEY_BITS 24
#define KEY_SHIFT 8
#define ADDRESS_BITS 32
/* The next hops that rte_lpm holds. */
#define VALUE_BITS 24

struct lpm_stage {
	struct match_stage stage;
	struct rte_lpm *lpm;
};

/*
 * No prefix is longer than 24 bits, so that a next hop is never in a tbl8: what rte_lpm_lookup()
 * does, without asking whether it is. A key that no prefix covers cannot occur, and gives 0.
 */
static void
lpm_lookup(
	const struct match_stage *stage, const uint32_t *keys, uint32_t *values, unsigned int count)
{
	const struct lpm_stage *engine = (const struct lpm_stage *)stage;
	const struct rte_lpm_tbl_entry *tbl24 = engine->lpm->tbl24;

	MATCH_UNROLL
	for (unsigned int i = 0; i < count; i++)
		values[i] = tbl24[keys[i]].next_hop;
}

static void
lpm_free(struct match_stage *stage)
{
	struct lpm_stage *engine = (struct lpm_stage *)stage;

	rte_lpm_free(engine->lpm);
	rte_free(engine);
}

const struct rte_lpm *
match_lpm_object(const struct match_stage *stage)
{
	return ((const struct lpm_stage *)stage)->lpm;
}

uint32_t
match_lpm_address(uint32_t key)
{
	return key << KEY_SHIFT;
}

/* All 32 bits are the key: what rte_lpm_lookup() does, for keys that are always covered. */
static void
whole_lookup(
	const struct match_stage *stage, const uint32_t *keys, uint32_t *values, unsigned int count)
{
	const struct lpm_stage *engine = (const struct lpm_stage *)stage;
	const struct rte_lpm_tbl_entry *tbl24 = engine->lpm->tbl24, *tbl8 = engine->lpm->tbl8;

	MATCH_UNROLL
	for (unsigned int i = 0; i < count; i++) {
		struct rte_lpm_tbl_entry entry = tbl24[keys[i] >> KEY_SHIFT];

		/* In tbl24, valid_group says that a next hop is a tbl8's number. */
		if (entry.valid_group)
			entry = tbl8[entry.next_hop * RTE_LPM_TBL8_GROUP_NUM_ENTRIES +
				(keys[i] & ((1u << KEY_SHIFT) - 1))];
		values[i] = entry.next_hop;
	}
}

/* Add prefixes of keys whose lowest bit is bit `shift` of an address. */
static int
add_prefixes(struct rte_lpm *lpm, unsigned int key_bits, unsigned int shift,
	const struct netfc_prefix *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned int depth = ADDRESS_BITS - shift - key_bits + prefixes[i].length;
		int error;

		error = rte_lpm_add(
			lpm, prefixes[i].key << shift, (uint8_t)depth, prefixes[i].value);
		if (error != 0)
			return error;
	}
	return 0;
}

/* Beyond tbl24, rte_lpm needs a tbl8 for each 24 bits that longer prefixes start with. */
static uint32_t
count_tbl8s(const struct netfc_prefix *prefixes, size_t count)
{
	uint32_t tbl8s = 0, last = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t head = prefixes[i].key >> (ADDRESS_BITS - KEY_BITS);

		if (prefixes[i].length <= KEY_BITS || (tbl8s > 0 && head == last))
			continue;
		tbl8s++;
		last = head;
	}
	return tbl8s;
}

/* A stage of prefixes of keys whose lowest bit is bit `shift` of an address. */
static int
create(unsigned int key_bits, unsigned int shift, const struct netfc_prefix *prefixes, size_t count,
	int socket_id, struct lpm_stage **result)
{
	struct rte_lpm_config config = {
		.max_rules = (uint32_t)count + 1,
		.number_tbl8s = count_tbl8s(prefixes, count) + 1,
	};
	struct lpm_stage *engine;
	char name[RTE_LPM_NAMESIZE];
	int error;

	engine = rte_zmalloc_socket("netfc_lpm", sizeof(*engine), RTE_CACHE_LINE_SIZE, socket_id);
	if (engine == NULL)
		return -ENOMEM;
	engine->stage.free = lpm_free;
	snprintf(name, sizeof(name), "netfc-%" PRIxPTR, (uintptr_t)engine);
	engine->lpm = rte_lpm_create(name, socket_id, &config);
	error = engine->lpm == NULL ? -rte_errno
				    : add_prefixes(engine->lpm, key_bits, shift, prefixes, count);
	if (error != 0) {
		lpm_free(&engine->stage);
		return error;
	}
	*result = engine;
	return 0;
}

/*
 * The optimal cover spreads its prefixes over many lengths, which start-up thrives on:
 * rte_lpm_add() goes through all rules of the same length.
 */
int
match_lpm_create(const struct netfc_table *table, int socket_id, struct match_stage **stage)
{
	struct netfc_prefix *prefixes;
	struct lpm_stage *engine;
	size_t count;
	int error;

	if (netfc_table_index_bits(table) >= KEY_BITS || netfc_table_value_bits(table) > VALUE_BITS)
		return -E2BIG;
	if (netfc_table_cover(table, -1, NETFC_COVER_OPTIMAL, &prefixes, &count) != NETFC_OK)
		return -ENOMEM;
	error = create(
		netfc_table_index_bits(table), KEY_SHIFT, prefixes, count, socket_id, &engine);
	free(prefixes);
	if (error != 0)
		return error;
	engine->stage.lookup = lpm_lookup;
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	/* A next hop is the low 24 bits of an entry. */
	engine->stage.array = (struct match_array){
		engine->lpm->tbl24, (unsigned int)sizeof(engine->lpm->tbl24[0])};
#endif
	*stage = &engine->stage;
	return 0;
}

int
match_create_prefixes(const struct netfc_prefix *prefixes, size_t count, int socket_id,
	struct match_stage **stage)
{
	struct lpm_stage *engine;
	int error;

	for (size_t i = 0; i < count; i++) {
		if (prefixes[i].value >> VALUE_BITS != 0)
			return -E2BIG;
	}
	error = create(ADDRESS_BITS, 0, prefixes, count, socket_id, &engine);
	if (error != 0)
		return error;
	engine->stage.lookup = whole_lookup;
	*stage = &engine->stage;
	return 0;
}
