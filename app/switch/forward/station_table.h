/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATION_TABLE_H
#define STATION_TABLE_H

/**
 * @file
 * Which station (a MAC address in a VLAN) is behind which port (IEEE 802.1Q, clause 8.8).
 *
 * All lcores read; one, the keeper, adds and removes. A station that a worker does not find is
 * announced to the keeper through a ring; a station that moves, or is seen again, is updated in
 * place. Nobody waits: keys are looked up without locks, and removed through RCU. An rte_hash has
 * all keys; workers find them in cache lines of their own (station_lines.h), and need the hash only
 * for a key whose line is full.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_rcu_qsbr.h>

/** A station's key, which is also read as one word. */
struct station_key {
	struct rte_ether_addr mac;
	uint16_t vlan; /**< 0 without a tag, at most 4095 */
} __attribute__((aligned(8)));

struct station_table;

/** What the keeper counts. */
struct station_counters {
	uint64_t stations;               /**< in the table now */
	uint64_t learned, aged, refused; /**< added, removed, not added as the table was full */
};

/**
 * Make a table. The EAL must have been initialised.
 *
 * @param capacity stations at the most, at least 1
 * @param ageing_s seconds after which a silent station is forgotten
 * @param qsbr the lcores' quiescent states: every worker is registered with it
 * @return the table, or NULL where memory is short; free it with station_table_free()
 */
struct station_table *
station_table_create(uint32_t capacity, uint32_t ageing_s, struct rte_rcu_qsbr *qsbr);

/** Free a table that no lcore uses any more; NULL is allowed. */
void station_table_free(struct station_table *table);

/** A station that is known; a worker may hold it until it next reports a quiescent state. */
struct station {
	struct station_key key;
	uint16_t port;
	bool used;     /**< it is in the table; for the keeper alone */
	uint64_t seen; /**< TSC, give or take station_table_refresh() */
};

/**
 * Look stations up, all at once.
 *
 * @param keys of `count` stations
 * @param stations where they go; NULL: not known
 * @param count any number
 */
void station_table_look_up(const struct station_table *table, const struct station_key *keys,
	struct station **stations, unsigned int count);

/** How old a station's time may be, in TSC cycles, before it is written again. */
uint64_t station_table_refresh(const struct station_table *table);

/** A worker has seen a station that it has not found: it will be known soon. */
void
station_table_announce(struct station_table *table, const struct station_key *key, uint16_t port);

/**
 * A worker has seen a station that it has found.
 *
 * @param now TSC
 * @param refresh of station_table_refresh()
 */
static inline void
station_seen(struct station *station, uint16_t port, uint64_t now, uint64_t refresh)
{
	if (unlikely(__atomic_load_n(&station->port, __ATOMIC_RELAXED) != port))
		__atomic_store_n(&station->port, port, __ATOMIC_RELAXED);
	/* Seldom written, so that lcores do not fight for the cache line. */
	if (unlikely(now - __atomic_load_n(&station->seen, __ATOMIC_RELAXED) > refresh))
		__atomic_store_n(&station->seen, now, __ATOMIC_RELAXED);
}

/** The port behind which a station is. */
static inline uint16_t
station_port(const struct station *station)
{
	return __atomic_load_n(&station->port, __ATOMIC_RELAXED);
}

/** The keeper: add what was announced, forget who was silent. To be called often. */
void station_table_keep(struct station_table *table, uint64_t now);

/** Change the seconds after which a silent station is forgotten; any thread may. */
void station_table_set_ageing(struct station_table *table, uint32_t ageing_s);

/** What the keeper has counted. */
const struct station_counters *station_table_counters(const struct station_table *table);

#endif /* STATION_TABLE_H */
