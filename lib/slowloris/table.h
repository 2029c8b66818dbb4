/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_TABLE_H
#define SLOWLORIS_TABLE_H

/**
 * @file
 * An rte_hash that all lcores read and only the holder of the writer lock changes. A key's position
 * is the index of its record. It is used again when all lcores have passed a quiescent state.
 */

#include <stdint.h>

#include <rte_hash.h>
#include <rte_rcu_qsbr.h>

/* Positions of removed keys that an lcore may still use. */
#define TABLE_SLACK 16384

/* Records that a table of that capacity needs: positions are below this. */
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
