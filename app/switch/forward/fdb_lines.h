/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FDB_LINES_H
#define FDB_LINES_H

/**
 * @file
 * Where workers look first: a hash table whose buckets are cache lines of a few whole
 * keys, so that a look-up reads one line and compares without a branch or a call. A key whose line
 * is full has no place; the line says how many such keys there are.
 *
 * One thread, the writer, writes; any number of workers read, without a lock. A place that a key
 * has left keeps its entry until it is released: a worker may still be reading it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>

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

#endif /* FDB_LINES_H */
