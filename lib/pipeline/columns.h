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
#include <rte_vect.h>

/** Packets of a burst at most. */
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

/** Words of a row. */
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

/** A bit for each of a vector's packets, set where the condition holds. */
static __rte_always_inline uint32_t
column_bits(column condition)
{
#if defined(__AVX512BW__)
	return _mm512_movepi16_mask((__m512i)condition);
#elif defined(__AVX2__)
	const __m256i bytes = _mm256_packs_epi16((__m256i)condition, _mm256_setzero_si256());

	/* Packed half by half. */
	return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(bytes, 0xd8));
#elif defined(__SSE2__)
	return (uint32_t)_mm_movemask_epi8(
		_mm_packs_epi16((__m128i)condition, _mm_setzero_si128()));
#else
	uint32_t bits = 0;

	for (unsigned int w = 0; w < COLUMN; w++)
		bits |= (uint32_t)(condition[w] & 1) << w;
	return bits;
#endif
}

/** Between the byte orders. */
static __rte_always_inline column
column_swap(column words)
{
	return words << 8 | words >> 8;
}

/*
 * Interleave the words of two columns as punpcklwd and punpckhwd do, over the whole vector: of each
 * eight words the low four, or the high four.
 */
#define TURNS(word)                                                                                \
	(word), COLUMN + (word), (word) + 1, COLUMN + (word) + 1, (word) + 2, COLUMN + (word) + 2, \
		(word) + 3, COLUMN + (word) + 3
#if COLUMN == 32
#define ALL_TURNS(word) TURNS(word), TURNS((word) + 8), TURNS((word) + 16), TURNS((word) + 24)
#elif COLUMN == 16
#define ALL_TURNS(word) TURNS(word), TURNS((word) + 8)
#else
#define ALL_TURNS(word) TURNS(word)
#endif

static __rte_always_inline void
turn_once(const column *from, column *to)
{
	for (unsigned int r = 0; r < ROWS / 2; r++) {
		to[2 * r] = __builtin_shufflevector(from[r], from[r + 4], ALL_TURNS(0));
		to[2 * r + 1] = __builtin_shufflevector(from[r], from[r + 4], ALL_TURNS(4));
	}
}

/*
 * Turn vectors of rows, number r those of the packets r, r + 8, r + 16..., into the columns of all
 * of their packets, or back.
 */
static __rte_always_inline void
columns_transpose(column *rows)
{
	column half[ROWS], quarter[ROWS];

	turn_once(rows, half);
	turn_once(half, quarter);
	turn_once(quarter, rows);
}

/** Where sixteen bytes of each packet are read. */
struct place {
	uint8_t *const *bytes;  /**< of each packet */
	const uint16_t *offset; /**< of each packet; NULL: 0 */
	int from;               /**< added to all offsets */
};

static __rte_always_inline row
row_of(const struct place *place, unsigned int p)
{
	const uint8_t *bytes = place->bytes[p];
	row loaded;

	if (place->offset != NULL)
		bytes += place->offset[p];
	memcpy(&loaded, bytes + place->from, sizeof(loaded));
	return loaded;
}

/* The rows of the packets p, p + 8... */
static __rte_always_inline column
rows_of(const struct place *place, unsigned int p)
{
#if COLUMN == 8
	return row_of(place, p);
#else
	typedef uint16_t two_rows __attribute__((vector_size(4 * ROWS)));
	const two_rows low = __builtin_shufflevector(row_of(place, p), row_of(place, p + ROWS), 0,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#if COLUMN == 16
	return low;
#else
	const two_rows high = __builtin_shufflevector(row_of(place, p + 2 * ROWS),
		row_of(place, p + 3 * ROWS), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

	return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#endif
#endif
}

/**
 * Read sixteen bytes of each of a vector's packets.
 *
 * @param p the first of the packets
 * @param words eight columns
 */
static __rte_always_inline void
columns_read(const struct place *place, unsigned int p, column *words)
{
	for (unsigned int r = 0; r < ROWS; r++)
		words[r] = rows_of(place, p + r);
	columns_transpose(words);
}

/** Write the rows of a vector's packets, the first of them `p`, one after the other. */
static __rte_always_inline void
columns_write(const struct columns *columns, uint8_t *to, unsigned int p)
{
	column rows[ROWS];

	for (unsigned int r = 0; r < ROWS; r++)
		rows[r] = columns_load(columns, r, p);
	columns_transpose(rows);
	for (unsigned int r = 0; r < ROWS; r++) {
		for (unsigned int part = 0; part < COLUMN / ROWS; part++)
			memcpy(to + (part * ROWS + r) * sizeof(row),
				(const uint8_t *)&rows[r] + part * sizeof(row), sizeof(row));
	}
}

#endif /* PIPELINE_COLUMNS_H */
