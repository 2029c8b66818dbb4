/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOW_H
#define FLOW_H

/** @file The flow of the requests: their addresses, and the headers with them. */

#include <stdbool.h>
#include <stdint.h>

#include <ip_headers.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

/** Bytes of an IPv6 address; an IPv4 address takes the first four. */
#define IP_BYTES 16

/** Addresses of both ends. */
struct flow {
	struct rte_ether_addr src_mac, dst_mac;
	bool ip6;                                   /**< IPv6, not IPv4 */
	uint8_t src_ip[IP_BYTES], dst_ip[IP_BYTES]; /**< IPv4: the first four */
	uint16_t src_udp, dst_udp;                  /**< ports, in host order */
};

/** Bytes of an IP address. */
static inline uint32_t
flow_address_bytes(const struct flow *flow)
{
	return flow->ip6 ? IP_BYTES : sizeof(rte_be32_t);
}

static inline uint32_t
flow_ip_bytes(const struct flow *flow)
{
	return flow->ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
}

static inline uint32_t
flow_udp_offset(const struct flow *flow)
{
	return RTE_ETHER_HDR_LEN + flow_ip_bytes(flow);
}

/** Where in a frame the addresses start: source, destination, then the UDP ports. */
static inline uint32_t
flow_address_offset(const struct flow *flow)
{
	return flow_udp_offset(flow) - 2 * flow_address_bytes(flow);
}

/** Where the UDP payload starts. */
static inline uint32_t
flow_payload_offset(const struct flow *flow)
{
	return flow_udp_offset(flow) + (uint32_t)sizeof(struct rte_udp_hdr);
}

/**
 * Write Ethernet, IP and UDP headers.
 *
 * @param frame where they go
 * @param port_offset added to the UDP source port
 * @param payload_length of the UDP payload
 * @param sum of the payload's words
 */
static inline void
flow_write_headers(const struct flow *flow, uint8_t *frame, uint16_t port_offset,
	uint16_t payload_length, uint64_t sum)
{
	const struct ip_ends ends = {
		.source_mac = &flow->src_mac,
		.destination_mac = &flow->dst_mac,
		.tags = frame,
		.v6 = flow->ip6,
		.source = flow->src_ip,
		.destination = flow->dst_ip,
		.from = (uint16_t)(flow->src_udp + port_offset),
		.to = flow->dst_udp,
	};

	ip_write_frame(frame, &ends, payload_length, sum);
}

#endif /* FLOW_H */
