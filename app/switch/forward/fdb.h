/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FDB_H
#define FDB_H

/** @file The bridge and its forwarding database. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>
#include <rte_rcu_qsbr.h>

struct app;
struct frame;
struct lcore;
struct rte_mbuf;

/*
 * Where workers look first: a hash table whose buckets are cache lines of a few whole
 * keys, so that a look-up reads one line and compares without a branch or a call. A key whose line
 * is full has no place; the line says how many such keys there are.
 *
 * One thread, the writer, writes; any number of workers read, without a lock. A place that a key
 * has left keeps its entry until it is released: a worker may still be reading it.
 */

/** Keys of a line. */
#define FDB_WAYS 5

/** No key may have this value: it marks a place without one. */
#define FDB_NO_KEY UINT64_MAX

/** A cache line, or half of one where they have 128 bytes. */
struct fdb_line {
	uint64_t key[FDB_WAYS];
	uint32_t entry[FDB_WAYS]; /**< index of the entry plus 1; 0: the place is free */
	uint32_t elsewhere;       /**< keys that belong here and have no place */
} __rte_aligned(RTE_CACHE_LINE_MIN_SIZE);

_Static_assert(sizeof(struct fdb_line) == RTE_CACHE_LINE_MIN_SIZE, "within a cache line");

/** Lines, a power of two of them. */
struct fdb_lines {
	struct fdb_line *line;
	uint32_t mask;
};

/**
 * Make lines for entries, at least two places for each.
 *
 * @return 0 or -ENOMEM; free them with fdb_lines_free() in either case
 */
int fdb_lines_create(struct fdb_lines *lines, uint32_t entries);

/** Free lines that nobody uses any more. */
void fdb_lines_free(struct fdb_lines *lines);

/** The line that a key belongs to. */
static inline struct fdb_line *
fdb_line_of(const struct fdb_lines *lines, uint64_t key)
{
	return &lines->line[rte_hash_crc_8byte(key, 0) & lines->mask];
}

/** The index of a key's entry plus 1, or 0 where the line does not have it. */
static inline uint32_t
fdb_line_find(const struct fdb_line *line, uint64_t key)
{
	uint32_t found = 0;

#pragma GCC unroll 5
	for (unsigned int way = 0; way < FDB_WAYS; way++) {
		/* In this order: a key that is there has its entry. */
		uint64_t there = __atomic_load_n(&line->key[way], __ATOMIC_ACQUIRE);
		uint32_t entry = __atomic_load_n(&line->entry[way], __ATOMIC_RELAXED);

		found = there == key ? entry : found;
	}
	return found;
}

/** Whether a key that its line does not have may be known nevertheless. */
static inline bool
fdb_line_overflows(const struct fdb_line *line)
{
	return __atomic_load_n(&line->elsewhere, __ATOMIC_ACQUIRE) != 0;
}

/*
 * The filtering database (FDB): which station (a MAC address in a VLAN) is behind which port
 * (IEEE 802.1Q, clause 8.8).
 *
 * All lcores read; one, the writer, adds and removes. A worker announces a station that it does not
 * find to the writer through a ring; a station that moves, or is seen again, is updated in place.
 * Nobody waits: keys are looked up without locks, and removed through RCU. An rte_hash has all
 * keys; workers find them in cache lines of their own, and need the hash only for a
 * key whose line is full.
 */

/** A station's key, which is also read as one word. */
struct fdb_key {
	struct rte_ether_addr mac;
	uint16_t vlan; /**< 0 without a tag, at most 4095 */
} __attribute__((aligned(8)));

struct fdb;

/** The writer's counters. */
struct fdb_counters {
	uint64_t stations;               /**< in the table now */
	uint64_t learned, aged, refused; /**< added, removed, not added as the table was full */
};

/**
 * Make a table. The EAL must have been initialised.
 *
 * @param capacity stations at the most, at least 1
 * @param ageing_s seconds after which a silent station is forgotten
 * @param qsbr the lcores' quiescent states: every worker is registered with it
 * @return the table, or NULL where memory is short; free it with fdb_free()
 */
struct fdb *fdb_create(uint32_t capacity, uint32_t ageing_s, struct rte_rcu_qsbr *qsbr);

/** Free a table that no lcore uses any more; NULL is allowed. */
void fdb_free(struct fdb *fdb);

/** A station that is known; a worker may hold it until it next reports a quiescent state. */
struct fdb_entry {
	struct fdb_key key;
	uint16_t port;
	bool used;     /**< it is in the table; for the writer alone */
	uint64_t seen; /**< TSC, give or take fdb_refresh() */
};

/**
 * Look stations up, all at once.
 *
 * @param keys of `count` stations
 * @param entries where they go; NULL: not known
 * @param count any number
 */
void fdb_lookup(const struct fdb *fdb, const struct fdb_key *keys, struct fdb_entry **entries,
	unsigned int count);

/** How old a station's time may be, in TSC cycles, before it is written again. */
uint64_t fdb_refresh(const struct fdb *fdb);

/** A worker has seen a station that it has not found: it will be known soon. */
void fdb_announce(struct fdb *fdb, const struct fdb_key *key, uint16_t port);

/**
 * A worker has seen a station that it has found.
 *
 * @param now TSC
 * @param refresh of fdb_refresh()
 */
static inline void
fdb_entry_seen(struct fdb_entry *entry, uint16_t port, uint64_t now, uint64_t refresh)
{
	if (unlikely(__atomic_load_n(&entry->port, __ATOMIC_RELAXED) != port))
		__atomic_store_n(&entry->port, port, __ATOMIC_RELAXED);
	/* Seldom written, so that lcores do not fight for the cache line. */
	if (unlikely(now - __atomic_load_n(&entry->seen, __ATOMIC_RELAXED) > refresh))
		__atomic_store_n(&entry->seen, now, __ATOMIC_RELAXED);
}

/** The port behind which a station is. */
static inline uint16_t
fdb_entry_port(const struct fdb_entry *entry)
{
	return __atomic_load_n(&entry->port, __ATOMIC_RELAXED);
}

/** The writer: add stations that were announced, remove silent ones. Call it often. */
void fdb_maintain(struct fdb *fdb, uint64_t now);

/** Change the seconds after which a silent station is forgotten; any thread may. */
void fdb_set_ageing(struct fdb *fdb, uint32_t ageing_s);

/** The writer's counters. */
const struct fdb_counters *fdb_counters(const struct fdb *fdb);

/*
 * A learning switch (IEEE 802.1Q, clause 8): a packet leaves where its destination was last seen,
 * or everywhere else as long as that is unknown. Each VLAN learns on its own.
 */

/**
 * Forward the packets that came in at a port.
 *
 * @param in index of the port
 * @param frames what pipeline_process() found
 */
void bridge_forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count);

#endif /* FDB_H */
