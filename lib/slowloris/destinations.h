/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DESTINATIONS_H
#define SLOWLORIS_DESTINATIONS_H

/** @file The table of destinations, and what it shares with that of connections. */

#include <stddef.h>
#include <stdint.h>

#include <rte_hash.h>
#include <rte_rcu_qsbr.h>

#include "segment.h"
#include "slowloris.h"

/*
 * What both tables share: an rte_hash that all lcores read and only the holder of the writer lock
 * changes, memory for records, and ticks. A key's position is the index of its record. It is used
 * again when all lcores have passed a quiescent state.
 */

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
 * @param name for messages
 * @param owner tells tables apart that have the same name
 * @return the table, or NULL where memory is short
 */
struct rte_hash *table_create(const char *name, const void *owner, uint32_t capacity,
	uint32_t key_bytes, int socket_id, struct rte_rcu_qsbr *qsbr);

/*
 * Time in ticks of 2^n cycles of the TSC, 13 to 40 microseconds, whatever its frequency: gigahertz
 * on x86, down to some megahertz on arm64. Differences hold for 15 hours.
 */
#define MAX_TICK_SHIFT 16
#define MIN_TICK_HZ 25000

static inline unsigned int
tick_shift_of(uint64_t hz)
{
	unsigned int shift = MAX_TICK_SHIFT;

	while (shift > 0 && hz >> shift < MIN_TICK_HZ)
		shift--;
	return shift;
}

/*
 * How many ticks ago that was: none if another lcore wrote it later. An lcore's time may be a
 * second (so many ticks) late, since it may have been interrupted after it read its clock.
 */
static inline uint32_t
ticks_since(uint32_t then, uint32_t now)
{
	const uint32_t ticks = now - then, behind = 65536;

	return ticks > UINT32_MAX - behind ? 0 : ticks;
}

/* No position, no record. */
#define NONE UINT32_MAX

static inline uint32_t
load_u32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Written only if it changes, so that lcores do not fight for cache lines. */
static inline void
refresh(uint32_t *seen, uint32_t now)
{
	if (load_u32(seen) != now)
		__atomic_store_n(seen, now, __ATOMIC_RELAXED);
}

/**
 * Allocate memory that lcores read in random order, so that its pages should be large: the EAL's if
 * that is in hugepages, else the process's own, for which the kernel is asked for transparent
 * hugepages. The EAL does not ask for them.
 *
 * @return zeroes, aligned to a cache line; NULL where memory is short
 */
void *array_create(const char *name, size_t bytes, int socket_id);

/** Give it back; NULL is allowed. */
void array_free(void *array, size_t bytes);

/** How much the array takes of the process's own memory, not the EAL's. */
size_t array_own_bytes(size_t bytes);

/* The destinations: a record each, in a table that only the writer lock's holder changes. */

struct destination {
	uint64_t bytes;
	uint64_t unattributed; /* of the bytes: those of no connection, since `rotated` */
	uint64_t incomplete;   /* of the bytes: those of connections that are half open */
	uint32_t address;      /* as in packets */
	uint32_t connections, established;
	uint32_t seen;  /* ticks */
	uint32_t since; /* ticks: since when the condition of an alarm holds; 0: it does not */
	uint16_t ratio; /* connections per byte */
	uint8_t alarm;  /* under attack */
	uint8_t used;
	/* From here on not for each packet. */
	uint64_t unattributed_before; /* before `rotated`; subtracted at the next rotation */
	uint64_t attacked;            /* TSC: since when, where it is under attack */
	uint32_t rotated;             /* ticks */
	uint32_t calm;                /* ticks: as `since`, for the alarm's end */
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
uint64_t destination_complete_bytes(const struct destination *destination);
void destination_read(const struct destination *destination, struct slowloris_registers *registers);

#endif /* SLOWLORIS_DESTINATIONS_H */
