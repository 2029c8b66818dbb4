/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXACT_H
#define EXACT_H

/** @file What the workers of an aggregation send, and exactly what they have to get. */

#include <stdbool.h>
#include <stdint.h>

#include <aggregate.h>
#include <mpfr.h>
#include <netfc.h>

/*
 * The results that aggregation must return: by MPFR, exact and rounded once; integers by
 * __int128.
 */

struct oracle_result {
	uint64_t bits;
	uint8_t flags; /* enum netfc_flag */
};

/** The reduction of one lane, of what aggregate_has_format(). */
struct oracle_result
oracle_reduce(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers);

/** The encoding nearest to a number that is not NaN; the number is not kept. */
uint64_t oracle_round(unsigned int format, mpfr_t number);

/* Values to aggregate, of kinds that each test something different. */

enum data_kind {
	DATA_ANY,       /* any encoding */
	DATA_GRADIENTS, /* small numbers of a bell-shaped distribution */
	DATA_CANCEL,    /* workers whose values nearly, or just, cancel each other */
	DATA_SUBNORMAL, /* nothing but subnormals (posits: the least magnitudes) */
	DATA_OVERFLOW,  /* sums at the greatest number, to the last bit */
	DATA_ZEROS,     /* zeros of both signs, the least number among them now and then */
	DATA_SPARSE,    /* gradients, many of them zero, a few of any size */
	DATA_SPECIAL,   /* infinities, NaN, and the greatest and least numbers */
	DATA_FINITE,    /* any finite number: any exponent */
	DATA_KINDS,
};

/** A word for each. */
extern const char *const data_kind_words[DATA_KINDS];

/** The next number of a sequence that the seed stands for. */
uint64_t next_random(uint64_t *seed);

/** Fill a lane with the values of all workers, in random order; of what format results are does not
 * matter. */
void data_fill(enum data_kind kind, unsigned int format, uint64_t *values, unsigned int workers,
	uint64_t *seed);

/** Write a value as it stands in packets; the format of a result, aggregate_results_format(). */
void data_put(unsigned int format, uint8_t *packet, uint32_t lane, uint64_t bits);

/** Read one. */
uint64_t data_get(unsigned int format, const uint8_t *packet, uint32_t lane);

/** Change the order of the workers of a lane. */
void data_shuffle(uint64_t *values, unsigned int workers, uint64_t *seed);

/*
 * Chunks that the workers of an aggregation send, and the exact result of each, which the oracle
 * computes before anything is sent. What is sent as chunk c is chunk c mod `count` of these.
 */

/** What chunks are to be made. Sets are never empty. */
struct chunks_config {
	unsigned int workers; /**< 1 .. AGGREGATE_MAX_WORKERS */
	uint32_t bytes;       /**< of values in a chunk, at most; 4 .. 65532 */
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
	uint8_t *values; /**< and results, after those of each chunk's workers */
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

#endif /* EXACT_H */
