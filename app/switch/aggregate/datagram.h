/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_DATAGRAM_H
#define AGGREGATE_DATAGRAM_H

/**
 * @file
 * Headers of datagrams that the switch itself originates, to workers and to its parent. A datagram
 * is in one segment.
 */

#include <stdint.h>
#include <string.h>

#include <ip_headers.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "endpoint/endpoint.h"
#include "frame.h"

#define IPV4_ADDR_BYTES 4
#define IPV6_ADDR_BYTES 16

/** How to reach a host: header fields of packets to it. */
struct path {
	struct rte_ether_addr mac; /**< the host's, or its router's */
	uint16_t port;             /**< index of the switch's port */
	uint8_t network;           /**< enum frame_network */
	uint8_t tag_bytes;         /**< of VLAN tags: 0, 4 or 8 */
	uint8_t ecn;               /**< IP_ECN_CAPABLE, if the host's packets are; else 0 */
	uint8_t tags[8];           /**< as in the frame */
	uint8_t address[16];       /**< the switch's own; IPv4: four bytes */
};

/** An IPv4 address in the form of an IPv6 one (RFC 4291, section 2.5.5.2). */
static inline void
datagram_map_ipv4(const void *address, uint8_t mapped[16])
{
	memset(mapped, 0, 10);
	memset(mapped + 10, 0xff, 2);
	memcpy(mapped + 12, address, IPV4_ADDR_BYTES);
}

/** Bytes of all headers, including UDP. */
static inline size_t
datagram_headers(const struct path *path)
{
	return path->tag_bytes + ip_frame_headers(path->network != FRAME_IPV4);
}

/**
 * Write the headers in front of a payload, and set the packet's length.
 *
 * @param mac of the port where the frame leaves
 * @param to its address, IPv4 mapped into IPv6
 * @param from_port, to_port of UDP
 * @param bytes of the payload
 * @param sum of the payload
 */
static inline void
datagram_finish(struct rte_mbuf *mbuf, const struct path *path, const struct rte_ether_addr *mac,
	const uint8_t to[16], uint16_t from_port, uint16_t to_port, uint16_t bytes, uint64_t sum)
{
	const bool v6 = path->network != FRAME_IPV4;
	const struct ip_ends ends = {
		.source_mac = mac,
		.destination_mac = &path->mac,
		.tags = path->tags,
		.tag_bytes = path->tag_bytes,
		.v6 = v6,
		.ecn = path->ecn,
		.source = path->address,
		.destination = v6 ? to : to + 12,
		.from = from_port,
		.to = to_port,
	};

	ip_write_frame(rte_pktmbuf_mtod(mbuf, uint8_t *), &ends, bytes, sum);
	mbuf->data_len = (uint16_t)(datagram_headers(path) + bytes);
	mbuf->pkt_len = mbuf->data_len;
}

#endif /* AGGREGATE_DATAGRAM_H */
