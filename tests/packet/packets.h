/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PACKETS_H
#define PACKETS_H

/** @file NetFC requests as packets, for tests. */

#include <rte_mbuf.h>

#include <netfc.h>

/** Ethernet, IPv4, UDP and NetFC headers together, in bytes. */
#define PACKET_HEADERS (14 + 20 + 8 + 12)

/** Length in bytes of a request for `lanes` lanes over IPv4. */
static inline uint32_t
packet_length(uint32_t lanes)
{
	return PACKET_HEADERS + lanes * NETFC_LANE_BYTES;
}

/**
 * Write the frame of a request over IPv4, with a right UDP checksum.
 *
 * @param frame packet_length(lanes) bytes
 * @param x, y operands
 */
void packet_write(uint8_t *frame, unsigned int op, unsigned int format, uint16_t lanes,
	const uint16_t *x, const uint16_t *y);

/** Write what stands in z of a frame written by packet_write(). */
void packet_write_results(uint8_t *frame, uint16_t lanes, const uint16_t *z);

/** Write another number of lanes into a frame written by packet_write(), but no checksum. */
void packet_write_count(uint8_t *frame, uint16_t count);

/**
 * Write the frame of a query over IPv4, with a right UDP checksum.
 *
 * @param frame packet_length(1) + extra bytes
 * @param destination the IPv4 address asked for, in host order
 * @param extra bytes after z
 */
void packet_write_query(uint8_t *frame, uint32_t destination, uint16_t extra);

/** Make a packet of a frame, cut into segments of `cut` bytes (the last may be shorter). */
struct rte_mbuf *
packet_of(struct rte_mempool *pool, const uint8_t *frame, uint32_t length, uint32_t cut);

/** Copy a packet's bytes out of its segments. */
void packet_bytes(const struct rte_mbuf *mbuf, uint8_t *frame);

/** z of a lane of a frame written by packet_write(). */
uint16_t packet_result(const uint8_t *frame, uint16_t lanes, uint16_t lane);

/** The status byte of a frame written by packet_write(). */
uint8_t packet_status(const uint8_t *frame);

/** Whether the UDP checksum of a frame written by packet_write() is right. */
bool packet_checksum_is_right(const uint8_t *frame);

/** The one's complement sum of 16-bit words as in memory, modulo UINT16_MAX. */
uint32_t packet_sum(const uint8_t *bytes, size_t length);

#endif /* PACKETS_H */
