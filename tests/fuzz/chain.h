/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHAIN_H
#define CHAIN_H

/**
 * @file
 * Packets whose every segment lies in memory of its own, exactly as long as the segment: the
 * address sanitizer sees a byte too far, which it cannot in a mempool.
 */

#include <rte_mbuf.h>

/**
 * Make a packet of a frame.
 *
 * @param cut bytes per segment, at least 1; the last may be shorter, and there are CHAIN_SEGMENTS
 * at most, the last of which takes the rest
 */
struct rte_mbuf *chain_of(const uint8_t *frame, uint32_t length, uint32_t cut);

/** Segments at most. */
#define CHAIN_SEGMENTS 8

/** Copy all bytes out; there must be space for pkt_len. */
void chain_bytes(const struct rte_mbuf *mbuf, uint8_t *frame);

/** Free a packet. */
void chain_free(struct rte_mbuf *mbuf);

#endif /* CHAIN_H */
