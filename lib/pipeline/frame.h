/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_FRAME_H
#define PIPELINE_FRAME_H

/**
 * @file
 * What a frame is, found out once for each packet: where its IP and UDP headers are.
 *
 * A header counts only if it is whole and its lengths fit those around it: the IP datagram
 * the frame (which may be padded), the UDP datagram the IP payload.
 */

#include <stdbool.h>
#include <stdint.h>

#include <ip_headers.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

/** The network layer of a frame. */
enum frame_network {
	FRAME_OTHER = 0, /**< no IP, or an IP header whose lengths do not fit */
	FRAME_IPV4 = 4,
	FRAME_IPV6 = 6,
};

/**
 * A frame is contiguous if its first segment has all headers that were found, without IPv4 options,
 * and this many bytes after the tags, so that addresses and ports can be read without a check.
 */
#define FRAME_CONTIGUOUS_BYTES 24

/** A parsed frame; offsets in bytes from the start of the frame. */
struct frame {
	uint8_t network;         /**< enum frame_network */
	bool udp : 1;            /**< an unfragmented UDP datagram, after no extension header */
	bool to_netfc_port : 1;  /**< UDP to the port of requests; set by pipeline_process() */
	bool answered : 1;       /**< a request that pipeline_process() has made a reply */
	bool query : 1;          /**< a query, left to pipeline_answer_query() */
	bool contiguous : 1;     /**< see FRAME_CONTIGUOUS_BYTES */
	bool refused : 1;        /**< a request that a struct pipeline_gate does not let in */
	uint16_t vlan;           /**< VLAN of the outer tag, 0 without one */
	uint16_t ether_type;     /**< after the tags, in host order; 0 if the frame ends before */
	uint16_t network_offset; /**< of what ether_type says */
	uint16_t udp_offset;     /**< of the UDP header; set if udp */
	uint16_t payload_length; /**< UDP payload, in bytes; set if udp */
	uint16_t udp_port;       /**< destination port, in host order; set if udp */
	uint16_t checksum;       /**< of UDP before it was answered; set if answered */
} __attribute__((aligned(16)));

/** Where the UDP payload starts. */
static inline uint32_t
frame_payload_offset(const struct frame *frame)
{
	return frame->udp_offset + 8u;
}

/** The mark of congestion of an IP packet, whose header is in the first segment: IP_ECN_BITS. */
static inline uint8_t
frame_ecn(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const void *ip = rte_pktmbuf_mtod_offset(mbuf, const void *, frame->network_offset);
	const struct rte_ipv4_hdr *ip4 = ip;
	const struct rte_ipv6_hdr *ip6 = ip;

	if (frame->network == FRAME_IPV4)
		return ip4->type_of_service & IP_ECN_BITS;
	return rte_be_to_cpu_32(ip6->vtc_flow) >> IP6_CLASS_SHIFT & IP_ECN_BITS;
}

/** Whether an IPv4 packet is a fragment, be it the first. */
static inline bool
frame_is_fragment(const struct rte_ipv4_hdr *ip)
{
	return (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) !=
		0;
}

/**
 * Parse a frame: Ethernet, up to two VLAN tags (IEEE 802.1Q and 802.1ad), IPv4 with options
 * or IPv6, UDP.
 *
 * @param mbuf the packet, in one or more segments
 * @param frame what was found
 */
void frame_parse(const struct rte_mbuf *mbuf, struct frame *frame);

#endif /* PIPELINE_FRAME_H */
