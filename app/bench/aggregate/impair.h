/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IMPAIR_H
#define IMPAIR_H

/**
 * @file
 * An impaired link: packets are lost, duplicated and reordered, as a seed determines. One for
 * each direction.
 */

#include <stdint.h>

#include <rte_mbuf.h>

/** Packets that may be overtaken at the same time. */
#define IMPAIR_HELD 16

struct impair {
	uint64_t lose, duplicate, reorder; /* of 2^32 packets */
	uint64_t seed;
	struct rte_mempool *pool;           /* of doubles */
	struct rte_mbuf *held[IMPAIR_HELD]; /* some may be NULL */
	unsigned int held_count;
	uint64_t lost, duplicates, reordered; /* counted */
};

/** Shares are in percent. */
void impair_init(struct impair *impair, double loss, double duplicate, double reorder,
	uint64_t seed, struct rte_mempool *pool);

/**
 * Put a packet through.
 *
 * @param out what comes out: up to two
 * @return how many
 */
unsigned int impair_packet(struct impair *impair, struct rte_mbuf *mbuf, struct rte_mbuf **out);

/**
 * Let one go that is still held: when nothing else comes to overtake it.
 *
 * @return it, or NULL
 */
struct rte_mbuf *impair_release(struct impair *impair);

#endif /* IMPAIR_H */
