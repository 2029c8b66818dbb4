/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHUNKS_H
#define CHUNKS_H

/**
 * @file
 * Chunks that the workers of an aggregation send, and the exact result of each, which the oracle
 * computes before anything is sent. What is sent as chunk c is chunk c mod `count` of these.
 */

#include <stdbool.h>
#include <stdint.h>

#include "data.h"

/** What chunks are to be made. Sets are never empty. */
struct chunks_config {
	unsigned int workers; /**< 1 .. AGGREGATE_MAX_WORKERS */
	uint32_t bytes;       /**< of values in a chunk, at the most; 4 .. 65532 */
	unsigned int formats; /**< a set of bits 1 << format */
	unsigned int into;    /**< format of results, with all of these; 0: the values' */
	unsigned int ops;     /**< a set of bits 1 << (op - AGGREGATE_SUM) */
	unsigned int kinds;   /**< a set of bits 1 << enum data_kind */
	bool any_length;      /**< of any number of values, not as many as fit */
	bool owned;           /**< reductions' results go to one worker each, drawn */
	unsigned int count;   /**< how many different ones */
	uint64_t seed;
};

/** A chunk. Values stand as in packets. */
struct chunk {
	uint8_t op, format;
	uint8_t owner; /**< as in requests; a copy always has one */
	uint8_t flags; /**< enum netfc_flag of the result, of all lanes */
	uint16_t count;
	uint32_t bytes;        /**< of a worker's values */
	uint32_t result_bytes; /**< of the result */
	const uint8_t *values; /**< worker w's from w times `bytes` on */
	const uint8_t *result;
	const uint16_t *sums; /**< by worker: of its values, RFC 1071, words as in memory */
};

/** All of them. */
struct chunks {
	unsigned int workers, count;
	struct chunk *chunk;
	uint8_t *values; /**< and results, behind those of each chunk's workers */
	uint16_t *sums;
};

/** Make them. 0, or -1 if memory is short; chunks_free() frees in both cases. */
int chunks_create(const struct chunks_config *config, struct chunks *chunks);

/** Free them. */
void chunks_free(struct chunks *chunks);

/** What is sent as chunk number c. */
static inline const struct chunk *
chunks_of(const struct chunks *chunks, uint32_t c)
{
	return &chunks->chunk[c % chunks->count];
}

/** Bytes of values that worker w sends. */
uint32_t chunk_sent_bytes(const struct chunk *chunk, unsigned int worker);

/** Whether a reply, of any worker, has the right result, or none if that is right. */
bool chunk_is_right(const struct chunk *chunk, const struct aggregate_message *reply);

/** What worker w sends. */
static inline const uint8_t *
chunk_values(const struct chunk *chunk, unsigned int worker)
{
	return chunk->values + (size_t)worker * chunk->bytes;
}

#endif /* CHUNKS_H */
