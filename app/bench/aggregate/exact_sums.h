/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXACT_SUMS_H
#define EXACT_SUMS_H

/**
 * @file
 * What members of an aggregation that are switches send, as the leaves of a tree do: for each
 * chunk, the exact sums of the workers behind them, in parts.
 */

#include "chunks.h"
#include "dpdk/worker_packet.h"

struct exact_sums_config {
	unsigned int members;
	unsigned int first;  /**< of the chunks' workers, that behind the first member */
	unsigned int behind; /**< workers behind each */
	uint32_t bytes;      /**< of a part at the most */
};

/** The parts of a chunk's sums. */
struct exact_sums_parts {
	uint8_t count;
	uint8_t *bytes;     /**< one after another */
	uint32_t *ends;     /**< of each, in `bytes` */
	uint16_t *checksum; /**< of each, RFC 1071, words as in memory */
};

/** Those of all chunks and members. */
struct exact_sums {
	unsigned int members, count, most; /**< count: of chunks; most: parts of one of these */
	struct exact_sums_parts *parts;    /**< NULL: there are none */
};

/** Make them. 0, or -1 if memory is short; exact_sums_free() frees in both cases. */
int exact_sums_create(const struct exact_sums_config *config, const struct chunks *chunks,
	struct exact_sums *sums);

/** Free them. */
void exact_sums_free(struct exact_sums *sums);

/** What a member sends as chunk number c. */
static inline struct exact_sums_parts
exact_sums_of(const struct exact_sums *sums, uint32_t c, unsigned int member)
{
	return sums->parts[c % sums->count * sums->members + member];
}

/** The most packets that a chunk takes; without sums it is one. */
static inline unsigned int
exact_sums_most_parts(const struct exact_sums *sums)
{
	return sums->parts == NULL ? 1 : sums->most;
}

/** A part as a packet's body. */
void
exact_sums_body(const struct exact_sums_parts *parts, unsigned int part, struct worker_body *body);

#endif /* EXACT_SUMS_H */
