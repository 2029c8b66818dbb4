/* SPDX-License-Identifier: BSD-3-Clause */
/* A match stage of exact keys on rte_hash, as in a switch's SRAM. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "match.h"

/* rte_hash makes none with fewer entries. */
#define MIN_HASH 16u

#define HASH_START 0

struct hash_stage {
	struct match_stage stage;
	struct rte_hash *hash;
};

/* As the table has been told to: inlined, so that no key costs a call. */
static inline hash_sig_t
hash_key(const uint32_t *key)
{
	return rte_hash_crc(key, sizeof(*key), HASH_START);
}

static void
lookup_some(const struct rte_hash *hash, const uint32_t *keys, uint32_t *values, unsigned int count)
{
	const void *pointers[RTE_HASH_LOOKUP_BULK_MAX];
	hash_sig_t signatures[RTE_HASH_LOOKUP_BULK_MAX];
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits = 0;

	for (unsigned int i = 0; i < count; i++) {
		pointers[i] = &keys[i];
		signatures[i] = hash_key(&keys[i]);
	}
	rte_hash_lookup_with_hash_bulk_data(hash, pointers, signatures, count, &hits, data);
	/* A key without an entry has the value 0, or cannot occur. */
	for (unsigned int i = 0; i < count; i++)
		values[i] = hits >> i & 1 ? (uint32_t)(uintptr_t)data[i] : 0;
}

static void
hash_lookup(
	const struct match_stage *stage, const uint32_t *keys, uint32_t *values, unsigned int count)
{
	const struct hash_stage *engine = (const struct hash_stage *)stage;

	for (unsigned int done = 0; done < count; done += RTE_HASH_LOOKUP_BULK_MAX)
		lookup_some(engine->hash, keys + done, values + done,
			RTE_MIN(count - done, (unsigned int)RTE_HASH_LOOKUP_BULK_MAX));
}

static void
hash_free(struct match_stage *stage)
{
	struct hash_stage *engine = (struct hash_stage *)stage;

	rte_hash_free(engine->hash);
	rte_free(engine);
}

const struct rte_hash *
match_hash_object(const struct match_stage *stage)
{
	return ((const struct hash_stage *)stage)->hash;
}

/* A miss gives 0, so that no entry of that value needs a place. */
static bool
is_needed(const struct netfc_table *table, uint32_t key)
{
	return netfc_table_reachable(table, key) && netfc_table_entries(table)[key] != 0;
}

static uint32_t
count_needed(const struct netfc_table *table)
{
	uint32_t count = 0;

	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		count += is_needed(table, key);
	return count;
}

static int
add_keys(struct rte_hash *hash, const struct netfc_table *table)
{
	const uint32_t *entries = netfc_table_entries(table);

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		int error;

		if (!is_needed(table, key))
			continue;
		error = rte_hash_add_key_data(hash, &key, (void *)(uintptr_t)entries[key]);
		if (error != 0)
			return error;
	}
	return 0;
}

int
match_hash_create(const struct netfc_table *table, int socket_id, struct match_stage **stage)
{
	struct rte_hash_parameters parameters = {
		/* Half full, so that no insertion fails and most keys are in their first bucket. */
		.entries = RTE_MAX(2 * count_needed(table), MIN_HASH),
		.key_len = sizeof(uint32_t),
		.hash_func = rte_hash_crc,
		.hash_func_init_val = HASH_START,
		.socket_id = socket_id,
	};
	char name[RTE_HASH_NAMESIZE];
	struct hash_stage *engine;
	int error;

	engine = rte_zmalloc_socket("netfc_hash", sizeof(*engine), RTE_CACHE_LINE_SIZE, socket_id);
	if (engine == NULL)
		return -ENOMEM;
	engine->stage.lookup = hash_lookup;
	engine->stage.free = hash_free;
	snprintf(name, sizeof(name), "netfc-%" PRIxPTR, (uintptr_t)engine);
	parameters.name = name;
	engine->hash = rte_hash_create(&parameters);
	/* Where it finds no memory, rte_errno is not its own, and may be 0. */
	error = engine->hash == NULL ? -ENOMEM : add_keys(engine->hash, table);
	if (error != 0) {
		hash_free(&engine->stage);
		return error;
	}
	*stage = &engine->stage;
	return 0;
}
