/* SPDX-License-Identifier: BSD-3-Clause */
/* A match stage that is an array, as wide as its values need. */
#include <errno.h>

#include <rte_malloc.h>

#include "match.h"

struct direct_stage {
	struct match_stage stage;
	uint32_t mask; /* keeps any key inside the array */
	void *values;
};

#define LOOKUP(name, type)                                                                        \
	static void name(const struct match_stage *stage, const uint32_t *keys, uint32_t *values, \
		unsigned int count)                                                               \
	{                                                                                         \
		const struct direct_stage *engine = (const struct direct_stage *)stage;           \
		const type *restrict array = engine->values;                                      \
		const uint32_t mask = engine->mask;                                               \
                                                                                                  \
		MATCH_UNROLL                                                                      \
		for (unsigned int i = 0; i < count; i++)                                          \
			values[i] = array[keys[i] & mask];                                        \
	}

LOOKUP(lookup_narrow, uint16_t)
LOOKUP(lookup_wide, uint32_t)

static void
direct_free(struct match_stage *stage)
{
	struct direct_stage *engine = (struct direct_stage *)stage;

	rte_free(engine->values);
	rte_free(engine);
}

static void
copy_entries(struct direct_stage *engine, const struct netfc_table *table, bool narrow)
{
	const uint32_t *entries = netfc_table_entries(table);

	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		if (narrow)
			((uint16_t *)engine->values)[key] = (uint16_t)entries[key];
		else
			((uint32_t *)engine->values)[key] = entries[key];
	}
}

int
match_direct_create(const struct netfc_table *table, int socket_id, struct match_stage **stage)
{
	bool narrow = netfc_table_value_bits(table) <= 16;
	size_t keys = (size_t)1 << netfc_table_index_bits(table);
	struct direct_stage *engine;

	engine =
		rte_zmalloc_socket("netfc_direct", sizeof(*engine), RTE_CACHE_LINE_SIZE, socket_id);
	if (engine == NULL)
		return -ENOMEM;
	engine->stage.lookup = narrow ? lookup_narrow : lookup_wide;
	engine->stage.free = direct_free;
	engine->mask = (uint32_t)keys - 1;
	engine->values = rte_zmalloc_socket("netfc_direct",
		keys * (narrow ? sizeof(uint16_t) : sizeof(uint32_t)), RTE_CACHE_LINE_SIZE,
		socket_id);
	if (engine->values == NULL) {
		direct_free(&engine->stage);
		return -ENOMEM;
	}
	copy_entries(engine, table, narrow);
	engine->stage.array =
		(struct match_array){engine->values, narrow ? sizeof(uint16_t) : sizeof(uint32_t)};
	*stage = &engine->stage;
	return 0;
}
