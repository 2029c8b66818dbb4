/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DESTINATIONS_H
#define SLOWLORIS_DESTINATIONS_H

/** @file The destinations: a record each, in a table that only the writer lock's holder changes. */

#include <stdint.h>

#include <rte_hash.h>

#include "table.h"
#include "segment.h"
#include "slowloris.h"

struct destination {
	uint64_t bytes;
	uint64_t unattributed;        /* of the bytes: those of no connection, since `rotated` */
	uint64_t unattributed_before; /* and before it; subtracted at the next rotation */
	uint32_t address;             /* as in packets */
	uint32_t connections, established;
	uint32_t seen, rotated; /* ticks */
	uint32_t since; /* ticks: since when the condition of an alarm holds; 0: it does not */
	uint32_t calm;  /* ticks: the same for the alarm's end */
	uint16_t ratio; /* connections per byte */
	uint8_t alarm;  /* under attack */
	uint8_t used;
} __attribute__((aligned(64)));

struct destinations {
	struct rte_hash *hash;
	struct destination *record;
	struct hash_secret secret;
	uint32_t capacity;
	uint32_t count;
	uint32_t high;
	uint32_t next;
};

/*
 * What the table has returned for a key: its record, or NONE. A key is there before its record is
 * filled in, which `used` says.
 */
static inline uint32_t
destinations_known(const struct destinations *destinations, int32_t position)
{
	if (position < 0 ||
		__atomic_load_n(&destinations->record[position].used, __ATOMIC_ACQUIRE) == 0)
		return NONE;
	return (uint32_t)position;
}

int destinations_create(struct destinations *destinations, const struct slowloris_config *config);
void destinations_destroy(struct destinations *destinations);
uint32_t destinations_find(const struct destinations *destinations, uint32_t address);
uint32_t destinations_add(struct destinations *destinations, uint32_t address, uint32_t now);
void destinations_remove(struct destinations *destinations, uint32_t index);
void destination_read(const struct destination *destination, struct slowloris_registers *registers);

#endif /* SLOWLORIS_DESTINATIONS_H */
