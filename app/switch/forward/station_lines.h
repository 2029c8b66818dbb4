/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATION_LINES_H
#define STATION_LINES_H

/**
 * @file
 * Where workers look for stations first: a hash table whose buckets are cache lines of a few whole
 * keys, so that a look-up reads one line and compares without a branch or a call. A key whose line
 * is full has no place; the line says how many such keys there are.
 *
 * One thread, the keeper, writes; any number of workers read, without a lock. A place that a key
 * has left keeps its station until it is released: a worker may still be reading it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>

/** Keys of a line. */
#define STATION_WAYS 5

/** No key may have this value: it marks a place without one. */
#define STATION_NO_KEY UINT64_MAX

/** A cache line, or half of one where they have 128 bytes. */
struct station_line {
	uint64_t key[STATION_WAYS];
	uint32_t station[STATION_WAYS]; /**< number of the station plus 1; 0: the place is free */
	uint32_t elsewhere;             /**< keys that belong here and have no place */
} __rte_aligned(RTE_CACHE_LINE_MIN_SIZE);

_Static_assert(sizeof(struct station_line) == RTE_CACHE_LINE_MIN_SIZE, "within a cache line");

/** Lines, a power of two of them. */
struct station_lines {
	struct station_line *line;
	uint32_t mask;
};

/**
 * Make lines for stations, at least two places for each.
 *
 * @return 0 or -ENOMEM; free them with station_lines_free() in either case
 */
int station_lines_create(struct station_lines *lines, uint32_t stations);

/** Free lines that nobody uses any more. */
void station_lines_free(struct station_lines *lines);

/** The keeper: add a key that is not there, with the number of its station. */
void station_lines_add(struct station_lines *lines, uint64_t key, uint32_t station);

/** The keeper: remove a key that was added. Workers no longer find it. */
void station_lines_remove(struct station_lines *lines, uint64_t key, uint32_t station);

/** The keeper: no worker reads the removed key any more, so that its place, if any, is free. */
void station_lines_release(struct station_lines *lines, uint64_t key, uint32_t station);

/** The line that a key belongs to. */
static inline struct station_line *
station_line_of(const struct station_lines *lines, uint64_t key)
{
	return &lines->line[rte_hash_crc_8byte(key, 0) & lines->mask];
}

/** The number of a key's station plus 1, or 0 where the line does not have it. */
static inline uint32_t
station_line_find(const struct station_line *line, uint64_t key)
{
	uint32_t found = 0;

#pragma GCC unroll 5
	for (unsigned int way = 0; way < STATION_WAYS; way++) {
		/* In this order: a key that is there has its station. */
		uint64_t there = __atomic_load_n(&line->key[way], __ATOMIC_ACQUIRE);
		uint32_t station = __atomic_load_n(&line->station[way], __ATOMIC_RELAXED);

		found = there == key ? station : found;
	}
	return found;
}

/** Whether a key that its line does not have may be known nevertheless. */
static inline bool
station_line_overflows(const struct station_line *line)
{
	return __atomic_load_n(&line->elsewhere, __ATOMIC_ACQUIRE) != 0;
}

#endif /* STATION_LINES_H */
