/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_ip.h>

#include "bytes.h"
#include "endpoint/endpoint.h"
#include "endpoint/neighbour.h"

void
endpoint_init(struct endpoint *endpoint, const struct addresses *addresses, uint16_t port,
	const struct rte_ether_addr *mac)
{
	*endpoint = (struct endpoint){.mac = *mac, .checksum = checksum_choose(vector_isa_best())};
	for (unsigned int a = 0; a < addresses->count; a++) {
		const struct address *address = &addresses->address[a];

		if (address->port == port || address->port == EVERY_PORT)
			endpoint->address[endpoint->count++] = *address;
	}
}

static bool
has_address(const struct endpoint *endpoint, uint8_t family, const void *bytes)
{
	size_t length = family == 4 ? 4 : 16;

	for (unsigned int a = 0; a < endpoint->count; a++) {
		const struct address *address = &endpoint->address[a];

		if (address->family == family && memcmp(address->bytes, bytes, length) == 0)
			return true;
	}
	return false;
}

/* More than all headers that are answered to; longer than a message of neighbour discovery. */
#define HEADERS 256u

/* Have the headers of a packet for the switch in its first segment, if there is space for them. */
static void
pull_headers(struct rte_mbuf *mbuf)
{
	if (mbuf->nb_segs > 1)
		mbuf_pull(mbuf, RTE_MIN(rte_pktmbuf_pkt_len(mbuf), HEADERS));
}

static enum verdict
drop(enum drop_reason *reason, enum drop_reason why)
{
	*reason = why;
	return VERDICT_DROP;
}

/* Of the kind whose addresses stand where the header has them. */
static bool
is_ethernet_ipv4(const struct rte_arp_hdr *arp)
{
	return arp->arp_hardware == RTE_BE16(RTE_ARP_HRD_ETHER) &&
		arp->arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
		arp->arp_hlen == RTE_ETHER_ADDR_LEN && arp->arp_plen == sizeof(rte_be32_t);
}

/* Whether one station has sent it (IEEE 802.3, section 3.2.3): a group cannot. */
static bool
is_from_station(const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet;
	struct rte_ether_hdr copy;

	ethernet = rte_pktmbuf_read(mbuf, 0, sizeof(*ethernet), &copy);
	return rte_is_unicast_ether_addr(&ethernet->src_addr);
}

static enum verdict
handle_arp(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	const struct rte_arp_hdr *arp;
	struct rte_arp_hdr copy;

	arp = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*arp), &copy);
	if (arp == NULL || !is_ethernet_ipv4(arp))
		return VERDICT_FORWARD;
	if (!has_address(endpoint, 4, &arp->arp_data.arp_tip))
		return VERDICT_FORWARD;
	if (arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST))
		return endpoint->asks ? VERDICT_NEIGHBOUR : drop(reason, DROP_NO_SERVICE);
	if (!is_from_station(mbuf))
		return drop(reason, DROP_MALFORMED);
	pull_headers(mbuf);
	return answer_arp(mbuf, frame, &endpoint->mac) ? VERDICT_ANSWER
						       : drop(reason, DROP_MALFORMED);
}

/*
 * Whether an answer would go to one host, which is another. From other addresses, hosts discard
 * what they get (RFC 1122, section 3.2.1.3; RFC 4291, section 2.7).
 */
static bool
is_from_host(
	const struct endpoint *endpoint, const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const bool ipv4 = frame->network == FRAME_IPV4;
	const uint32_t at = ipv4 ? offsetof(struct rte_ipv4_hdr, src_addr)
				 : offsetof(struct rte_ipv6_hdr, src_addr);
	const uint32_t length = ipv4 ? 4 : 16;
	struct address sender = {.family = ipv4 ? 4 : 6};
	uint8_t copy[16];

	memcpy(sender.bytes, rte_pktmbuf_read(mbuf, frame->network_offset + at, length, copy),
		length);
	if (!is_from_station(mbuf) || !address_is_host(&sender))
		return false;
	for (unsigned int a = 0; a < endpoint->count; a++) {
		if (addresses_same_host(&endpoint->address[a], &sender) ||
			address_is_link(&endpoint->address[a], &sender))
			return false;
	}
	return true;
}

/* A UDP datagram to one of our addresses: NetFC or nothing. */
static enum verdict
handle_udp(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	if (frame->refused)
		return drop(reason, DROP_MALFORMED);
	if (!frame->answered && frame->to_netfc_port)
		return drop(
			reason, answer_is_reply(mbuf, frame) ? DROP_STRAY_REPLY : DROP_NOT_NETFC);
	if (!frame->answered &&
		(uint16_t)(frame->udp_port - endpoint->aggregate_port) < endpoint->aggregate_ports)
		return VERDICT_AGGREGATE;
	if (!frame->answered)
		return drop(reason, DROP_NO_SERVICE);
	answer_udp(mbuf, frame, &endpoint->mac);
	return VERDICT_ANSWER;
}

static enum verdict
handle_icmp(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	switch (answer_ping(mbuf, frame, &endpoint->mac)) {
	case PING_ANSWERED:
		return VERDICT_ANSWER;
	case PING_MALFORMED:
		return drop(reason, DROP_MALFORMED);
	case PING_NONE:
	default:
		return endpoint->asks && frame->network == FRAME_IPV6
			? VERDICT_NEIGHBOUR
			: drop(reason, DROP_NO_SERVICE);
	}
}

/* It is to an address of the switch. */
static enum verdict
handle_own(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	if (!is_from_host(endpoint, mbuf, frame))
		return drop(reason, DROP_MALFORMED);
	pull_headers(mbuf);
	if (frame->udp)
		return handle_udp(endpoint, mbuf, frame, reason);
	return handle_icmp(endpoint, mbuf, frame, reason);
}

static enum verdict
handle_ipv4(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	const struct rte_ipv4_hdr *ip;
	struct rte_ipv4_hdr copy;

	ip = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*ip), &copy);
	return has_address(endpoint, 4, &ip->dst_addr) ? handle_own(endpoint, mbuf, frame, reason)
						       : VERDICT_FORWARD;
}

static enum verdict
handle_ipv6(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	const struct rte_ipv6_hdr *ip;
	struct rte_ipv6_hdr copy;
	uint8_t target[16];

	if (discovery_solicited_address(mbuf, frame, target)) {
		if (!has_address(endpoint, 6, target))
			return VERDICT_FORWARD;
		if (!is_from_station(mbuf))
			return drop(reason, DROP_MALFORMED);
		pull_headers(mbuf);
		return discovery_answer(mbuf, frame, &endpoint->mac) ? VERDICT_ANSWER
								     : drop(reason, DROP_MALFORMED);
	}
	ip = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*ip), &copy);
	return has_address(endpoint, 6, &ip->dst_addr) ? handle_own(endpoint, mbuf, frame, reason)
						       : VERDICT_FORWARD;
}

enum verdict
endpoint_handle(const struct endpoint *endpoint, struct rte_mbuf *mbuf, const struct frame *frame,
	enum drop_reason *reason)
{
	if (frame->ether_type == RTE_ETHER_TYPE_ARP)
		return handle_arp(endpoint, mbuf, frame, reason);
	if (frame->network == FRAME_IPV4)
		return handle_ipv4(endpoint, mbuf, frame, reason);
	if (frame->network == FRAME_IPV6)
		return handle_ipv6(endpoint, mbuf, frame, reason);
	return VERDICT_FORWARD;
}

/* Whether an IP packet is for one of our addresses. */
static bool
is_addressed(
	const struct endpoint *endpoint, const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const bool ipv4 = frame->network == FRAME_IPV4;
	const uint32_t at = ipv4 ? offsetof(struct rte_ipv4_hdr, dst_addr)
				 : offsetof(struct rte_ipv6_hdr, dst_addr);
	uint8_t copy[16];

	return has_address(endpoint, ipv4 ? 4 : 6,
		rte_pktmbuf_read(mbuf, frame->network_offset + at, ipv4 ? 4 : sizeof(copy), copy));
}

bool
endpoint_admit(const void *arg, struct rte_mbuf *mbuf, struct frame *frame)
{
	const struct endpoint *endpoint = arg;

	if (!is_addressed(endpoint, mbuf, frame))
		return true;
	if (!is_from_host(endpoint, mbuf, frame))
		return false;
	pull_headers(mbuf);
	return answer_complete_udp(mbuf, frame, endpoint->checksum);
}
