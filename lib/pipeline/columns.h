/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_COLUMNS_H
#define PIPELINE_COLUMNS_H

/**
 * @file
 * Sixteen bytes of each packet of a burst as eight columns of words, so that what is asked of one
 * packet is asked of a vector of them. Written with the compiler's vectors: each function becomes a
 * few instructions of whatever the caller is compiled for.
 */

#include <stdint.h>
#include <string.h>

#include <rte_common.h>

/** Packets of a burst at the most. */
#define COLUMNS_BURST 64

/** Packets whose words are in one vector. */
#if defined(__AVX512BW__)
#define COLUMN 32
#elif defined(__AVX2__)
#define COLUMN 16
#else
#define COLUMN 8
#endif
#define COLUMN_BYTES (2 * COLUMN)

/** A word of some packets; a condition has all bits, or none. */
typedef uint16_t column __attribute__((vector_size(COLUMN_BYTES)));

/** Words of a row, and rows that are turned into columns at once. */
#define ROWS 8

/** Sixteen bytes of a packet. */
typedef uint16_t row __attribute__((vector_size(2 * ROWS)));

/** A burst's columns. */
struct columns {
	uint16_t word[ROWS][COLUMNS_BURST] __rte_aligned(COLUMN_BYTES);
};

static __rte_always_inline column
column_load(const uint16_t *words)
{
	column loaded;

	memcpy(&loaded, words, sizeof(loaded));
	return loaded;
}

static __rte_always_inline void
column_store(uint16_t *words, column stored)
{
	memcpy(words, &stored, sizeof(stored));
}

/** The words of the packets from `p` on. */
static __rte_always_inline column
columns_load(const struct columns *columns, unsigned int word, unsigned int p)
{
	return column_load(columns->word[word] + p);
}

static __rte_always_inline void
columns_store(struct columns *columns, unsigned int word, unsigned int p, column stored)
{
	column_store(columns->word[word] + p, stored);
}

static __rte_always_inline column
column_of(uint16_t word)
{
	return (column){0} + word;
}

static __rte_always_inline column
column_equals(column words, uint16_t word)
{
	return (column)(words == column_of(word));
}

static __rte_always_inline column
column_at_least(column words, uint16_t least)
{
	return (column)(words >= column_of(least));
}

static __rte_always_inline column
column_at_most(column words, uint16_t most)
{
	return (column)(words <= column_of(most));
}

static __rte_always_inline column
column_choose(column condition, column yes, column no)
{
	return (yes & condition) | (no & ~condition);
}

/** Between the byte orders. */
static __rte_always_inline column
column_swap(column words)
{
	return words << 8 | words >> 8;
}

/** Turn eight rows into eight columns, or back. */
static __rte_always_inline void
rows_turn(row *rows)
{
	row half[ROWS], quarter[ROWS];

	for (unsigned int r = 0; r < ROWS / 2; r++) {
		half[2 * r] =
			__builtin_shufflevector(rows[r], rows[r + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		half[2 * r + 1] =
			__builtin_shufflevector(rows[r], rows[r + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
	for (unsigned int r = 0; r < ROWS / 2; r++) {
		quarter[2 * r] =
			__builtin_shufflevector(half[r], half[r + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		quarter[2 * r + 1] =
			__builtin_shufflevector(half[r], half[r + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
	for (unsigned int r = 0; r < ROWS / 2; r++) {
		rows[2 * r] = __builtin_shufflevector(
			quarter[r], quarter[r + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		rows[2 * r + 1] = __builtin_shufflevector(
			quarter[r], quarter[r + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
}

/**
 * Read sixteen bytes of each of the eight packets from `p` on.
 *
 * @param offset of each packet, added to `from`; NULL: 0
 */
static __rte_always_inline void
columns_read(struct columns *columns, uint8_t *const *bytes, const uint16_t *offset, int from,
	unsigned int p)
{
	row rows[ROWS];

	for (unsigned int r = 0; r < ROWS; r++)
		memcpy(&rows[r], bytes[p + r] + (offset != NULL ? offset[p + r] : 0) + from,
			sizeof(rows[r]));
	rows_turn(rows);
	for (unsigned int r = 0; r < ROWS; r++)
		memcpy(columns->word[r] + p, &rows[r], sizeof(rows[r]));
}

/** Write eight packets' rows, one behind the other. */
static __rte_always_inline void
columns_write(const struct columns *columns, uint8_t *to, unsigned int p)
{
	row rows[ROWS];

	for (unsigned int r = 0; r < ROWS; r++)
		memcpy(&rows[r], columns->word[r] + p, sizeof(rows[r]));
	rows_turn(rows);
	memcpy(to, rows, sizeof(rows));
}

#endif /* PIPELINE_COLUMNS_H */
