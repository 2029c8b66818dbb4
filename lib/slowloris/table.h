/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_TABLE_H
#define SLOWLORIS_TABLE_H

/**
 * @file
 * An rte_hash that many look into and one, the pen's holder, changes. A key's position is the index
 * of its record; it is used again once all lcores have passed by.
 */

#include <stdint.h>

#include <rte_hash.h>
#include <rte_rcu_qsbr.h>

/* Positions for keys that have been removed and that somebody may still hold. */
#define TABLE_SLACK 16384

/* How many records there must be for a table of that capacity: positions are less than that. */
static inline uint32_t
table_records(uint32_t capacity)
{
	return capacity + TABLE_SLACK + 1;
}

/**
 * Make a table.
 *
 * @param name for people
 * @param owner tells tables apart that have the same name
 * @return the table, or NULL where memory is short
 */
struct rte_hash *table_create(const char *name, const void *owner, uint32_t capacity,
	uint32_t key_bytes, int socket_id, struct rte_rcu_qsbr *qsbr);

#endif /* SLOWLORIS_TABLE_H */
