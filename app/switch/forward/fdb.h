/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FDB_H
#define FDB_H

/**
 * @file
 * The filtering database (FDB): which station (a MAC address in a VLAN) is behind which port
 * (IEEE 802.1Q, clause 8.8).
 *
 * All lcores read; one, the writer, adds and removes. A worker announces a station that it does not
 * find to the writer through a ring; a station that moves, or is seen again, is updated in place.
 * Nobody waits: keys are looked up without locks, and removed through RCU. An rte_hash has all
 * keys; workers find them in cache lines of their own (fdb_lines.h), and need the hash only for a
 * key whose line is full.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_rcu_qsbr.h>

struct app;
struct frame;
struct lcore;
struct rte_mbuf;

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
 * @param capacity stations at most, at least 1
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
void fdb_report_new(struct fdb *fdb, const struct fdb_key *key, uint16_t port);

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

/** The stations behind a port are to be forgotten, as it is no more; any thread may. */
void fdb_forget_port(struct fdb *fdb, uint16_t port);

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
