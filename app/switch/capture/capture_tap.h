/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_TAP_H
#define CAPTURE_TAP_H

/**
 * @file
 * An lcore's end of a capture: copies of packets into a ring, from which a thread writes them into
 * the file. Memory is reserved beforehand. If none is left, the capture misses the packet; the
 * packet is forwarded all the same.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

/** Bytes of a packet that can be captured. */
#define CAPTURE_MIN_SNAPLEN 14u
#define CAPTURE_MAX_SNAPLEN 65000u

/** What one lcore captures with. It alone copies and counts; one thread takes the copies. */
struct capture_tap {
	struct rte_ring *copies; /**< as long as the pool is large: it is never full */
	struct rte_mempool *pool;
	uint32_t snaplen;
	uint64_t epoch;                    /**< TSC: capture_tap_epoch() of one tap, for all */
	uint64_t missed[RTE_MAX_ETHPORTS]; /**< packets, by the ethdev's id */
};

/** What a copy carries beside the packet, in its private area. */
struct capture_note {
	uint64_t tsc;
	bool refused; /**< the port refused the packet: do not write it */
};

/** The note of a copy. */
static inline struct capture_note *
capture_note(struct rte_mbuf *copy)
{
	return rte_mbuf_to_priv(copy);
}

/**
 * Make an lcore's end.
 *
 * @param snaplen bytes of a packet, CAPTURE_MIN_SNAPLEN..CAPTURE_MAX_SNAPLEN
 * @return the tap, or NULL where memory is short; free it with capture_tap_free()
 */
struct capture_tap *capture_tap_create(unsigned int lcore_id, uint32_t snaplen);

/** Free a tap that no lcore uses any more, and what is in it; NULL is allowed. */
void capture_tap_free(struct capture_tap *tap);

/** Prepare rte_pcapng_copy() for the lcores; returns the time that they are to give it. */
uint64_t capture_tap_epoch(struct capture_tap *tap);

/** Capture what a port has received. */
void capture_received(struct capture_tap *tap, uint16_t port, uint16_t queue,
	struct rte_mbuf **mbufs, uint16_t count);

/**
 * Copy what is about to be sent; capture_sent() is to follow.
 *
 * @param copies where the copies go; NULL for a packet that is missed
 */
void capture_copy(struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count, struct rte_mbuf **copies);

/** Capture what has been sent: the copies, but for those whose bit in `refused` is set. */
void capture_sent(struct capture_tap *tap, uint16_t port, struct rte_mbuf **copies, uint16_t count,
	uint64_t refused);

#endif /* CAPTURE_TAP_H */
