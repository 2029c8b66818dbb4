/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MATCH_H
#define MATCH_H

/**
 * @file
 * The match stage: a table of a table set, made of one of DPDK's (or no) look-up structures.
 *
 * Three engines stand behind the one interface. All give the table's entry for every key that can
 * occur; for keys that cannot (netfc_table_reachable()) they give anything that fits the table's
 * values. Stages never change, so lcores may share them.
 */

#include <stdint.h>

#include <netfc.h>

/** What match stages are made of. */
enum match_kind {
	MATCH_LPM,    /**< rte_lpm: the optimal prefixes, like a TCAM */
	MATCH_HASH,   /**< rte_hash: exact keys, like a switch's SRAM */
	MATCH_DIRECT, /**< an array indexed by the key */
	MATCH_FPU,    /**< none at all: the processor's own arithmetic in place of tables */
	MATCH_KINDS,
};

/** Maximum number of keys per look-up. */
#define MATCH_BULK NETFC_BATCH

/** What a stage looks up in, if it is an array indexed by the key. */
struct match_array {
	const void *entries;     /**< NULL: it is not an array */
	unsigned int entry_size; /**< 2 or 4 bytes, the value in the low 16 bits at least */
};

/** A match stage. */
struct match_stage {
	/** Look up `count` keys, 1..MATCH_BULK; values may be keys, and not overlap otherwise. */
	void (*lookup)(const struct match_stage *stage, const uint32_t *keys, uint32_t *values,
		unsigned int count);
	void (*free)(struct match_stage *stage);
	struct match_array array;
};

/** The kind's name, as on the command line: "lpm", "hash", "direct", "fpu". */
const char *match_kind_name(enum match_kind kind);

/**
 * Find a kind by its name.
 *
 * @return the kind, or MATCH_KINDS where none has that name
 */
enum match_kind match_kind_by_name(const char *name);

/**
 * Make a match stage of a table. The EAL must have been initialised.
 *
 * @param kind what to make it of
 * @param table the table; it is not needed any more afterwards
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param stage where the new stage goes; free it with match_free()
 * @return 0; -ENOMEM (too little memory, see the EAL's -m); -EINVAL (no such kind); -E2BIG (keys or
 *   values wider than the kind takes); -ENOTSUP (MATCH_FPU has no stages); or another negative
 * errno of the structure underneath
 */
int match_create(enum match_kind kind, const struct netfc_table *table, int socket_id,
	struct match_stage **stage);

/**
 * Make a match stage of longest prefixes over 32-bit keys, whatever table they come from. Keys that
 * no prefix matches give anything.
 *
 * @param prefixes of 32-bit keys, in ascending order of the keys; values of up to 24 bits
 * @return 0, -ENOMEM, -E2BIG (a value is wider), or another negative errno of rte_lpm
 */
int match_create_prefixes(const struct netfc_prefix *prefixes, size_t count, int socket_id,
	struct match_stage **stage);

/** Free a stage; NULL is allowed. */
void match_free(struct match_stage *stage);

/**
 * Look up a burst of keys.
 *
 * @param keys indices over all pages of the table
 * @param values the tables' entries go here; may be keys
 * @param count 1..MATCH_BULK
 */
static inline void
match_lookup(
	const struct match_stage *stage, const uint32_t *keys, uint32_t *values, unsigned int count)
{
	stage->lookup(stage, keys, values, count);
}

/* ---- for the engines, and to measure what stands behind them alone ---- */

/* Look-ups do not depend on each other: unrolled, more of them run at once. */
#define MATCH_UNROLL _Pragma("GCC unroll 8")

int match_lpm_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_hash_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_direct_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);

/* What stands behind a stage of that kind. */
struct rte_lpm;
struct rte_hash;

const struct rte_lpm *match_lpm_object(const struct match_stage *stage);
const struct rte_hash *match_hash_object(const struct match_stage *stage);

/* The address that stands for a key in an rte_lpm. */
uint32_t match_lpm_address(uint32_t key);

#endif /* MATCH_H */
