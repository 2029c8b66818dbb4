/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_DATAGRAM_H
#define AGGREGATE_DATAGRAM_H

/**
 * @file
 * Headers of datagrams that the switch itself originates, to workers and to its parent. A datagram
 * is in one segment.
 */

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include <ip_headers.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "checksum.h"
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

/* Write the Ethernet header with the path's tags. Returns where the IP header goes. */
static inline uint8_t *
datagram_write_ethernet(uint8_t *frame, const struct path *path, const struct rte_ether_addr *mac)
{
	rte_be16_t type = path->network == FRAME_IPV4 ? RTE_BE16(RTE_ETHER_TYPE_IPV4)
						      : RTE_BE16(RTE_ETHER_TYPE_IPV6);

	memcpy(frame, &path->mac, RTE_ETHER_ADDR_LEN);
	memcpy(frame + RTE_ETHER_ADDR_LEN, mac, RTE_ETHER_ADDR_LEN);
	frame += 2 * RTE_ETHER_ADDR_LEN;
	memcpy(frame, path->tags, path->tag_bytes);
	frame += path->tag_bytes;
	memcpy(frame, &type, sizeof(type));
	return frame + sizeof(type);
}

/** Bytes of all headers, including UDP. */
static inline size_t
datagram_headers(const struct path *path)
{
	return RTE_ETHER_HDR_LEN + path->tag_bytes +
		(path->network == FRAME_IPV4 ? sizeof(struct rte_ipv4_hdr)
					     : sizeof(struct rte_ipv6_hdr)) +
		sizeof(struct rte_udp_hdr);
}

/**
 * Write the headers before the UDP header.
 *
 * @param mac of the port where the frame leaves
 * @param to its address, IPv4 mapped into IPv6
 * @param udp_length header of UDP and payload
 * @param pseudo the sum of the UDP pseudo-header
 * @return where the UDP header goes
 */
static inline struct rte_udp_hdr *
datagram_write_headers(uint8_t *frame, const struct path *path, const struct rte_ether_addr *mac,
	const uint8_t to[16], uint16_t udp_length, uint64_t *pseudo)
{
	uint8_t *ip = datagram_write_ethernet(frame, path, mac);

	if (path->network == FRAME_IPV4) {
		*pseudo = ip4_write(ip, path->address, to + 12, udp_length);
		return (struct rte_udp_hdr *)(ip + sizeof(struct rte_ipv4_hdr));
	}
	*pseudo = ip6_write(ip, path->address, to, udp_length);
	return (struct rte_udp_hdr *)(ip + sizeof(struct rte_ipv6_hdr));
}

/**
 * Write the UDP header, and set the packet's length.
 *
 * @param from, to ports
 * @param sum of the pseudo-header and of the payload
 */
static inline void
datagram_finish(struct rte_mbuf *mbuf, struct rte_udp_hdr *udp, uint16_t from, uint16_t to,
	uint16_t udp_length, uint64_t sum)
{
	const struct rte_udp_hdr header = {
		.src_port = rte_cpu_to_be_16(from),
		.dst_port = rte_cpu_to_be_16(to),
		.dgram_len = rte_cpu_to_be_16(udp_length),
		.dgram_cksum = checksum_update(0xffff,
			sum + rte_cpu_to_be_16(from) + rte_cpu_to_be_16(to) +
				rte_cpu_to_be_16(udp_length)),
	};

	*udp = header;
	mbuf->data_len =
		(uint16_t)((uint8_t *)udp - rte_pktmbuf_mtod(mbuf, uint8_t *) + udp_length);
	mbuf->pkt_len = mbuf->data_len;
}

#endif /* AGGREGATE_DATAGRAM_H */
