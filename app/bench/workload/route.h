/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_H
#define ROUTE_H

/** @file Addresses of requests, and the headers that carry them. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

/** Room for an address of either IP version. */
#define IP_BYTES 16

/** From where to where. */
struct route {
	struct rte_ether_addr src_mac, dst_mac;
	bool ip6;                                   /**< IPv6, not IPv4 */
	uint8_t src_ip[IP_BYTES], dst_ip[IP_BYTES]; /**< IPv4: the first four */
	uint16_t src_udp, dst_udp;                  /**< ports, in host order */
};

/** Length of an address, of an IP header, and where the UDP header starts. */
static inline uint32_t
route_address_bytes(const struct route *route)
{
	return route->ip6 ? IP_BYTES : sizeof(rte_be32_t);
}

static inline uint32_t
route_ip_bytes(const struct route *route)
{
	return route->ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
}

static inline uint32_t
route_udp_offset(const struct route *route)
{
	return RTE_ETHER_HDR_LEN + route_ip_bytes(route);
}

/** Where in a frame the addresses start: source, destination, then the UDP ports. */
static inline uint32_t
route_address_offset(const struct route *route)
{
	return route_udp_offset(route) - 2 * route_address_bytes(route);
}

/** Where the UDP payload starts. */
static inline uint32_t
route_payload_offset(const struct route *route)
{
	return route_udp_offset(route) + (uint32_t)sizeof(struct rte_udp_hdr);
}

/**
 * Write Ethernet, IP and UDP headers. The UDP checksum is left zero.
 *
 * @param frame where they go
 * @param flow added to the UDP source port
 * @param payload_length of the UDP payload that will follow
 */
void route_write_headers(
	const struct route *route, uint8_t *frame, uint16_t flow, uint16_t payload_length);

/**
 * What the UDP checksum sums up: pseudo-header, UDP header and payload, folded into 16 bits, words
 * as they stand in memory.
 *
 * @param frame a whole frame, its UDP checksum zero
 */
uint16_t route_udp_sum(const struct route *route, const uint8_t *frame);

#endif /* ROUTE_H */
