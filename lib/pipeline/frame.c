/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "frame.h"

#define MAX_VLAN_TAGS 2
#define VLAN_ID_MASK 0x0fff

/* Walk over the Ethernet header and its VLAN tags; false if the frame ends before. */
static bool
parse_ethernet(const struct rte_mbuf *mbuf, struct frame *frame)
{
	const struct rte_ether_hdr *ethernet;
	const struct rte_vlan_hdr *vlan;
	struct rte_ether_hdr ethernet_copy;
	struct rte_vlan_hdr vlan_copy;
	uint32_t offset = sizeof(*ethernet);
	rte_be16_t type;

	ethernet = rte_pktmbuf_read(mbuf, 0, sizeof(*ethernet), &ethernet_copy);
	if (ethernet == NULL)
		return false;
	type = ethernet->ether_type;
	for (int tags = 0; tags < MAX_VLAN_TAGS; tags++) {
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		vlan = rte_pktmbuf_read(mbuf, offset, sizeof(*vlan), &vlan_copy);
		if (vlan == NULL)
			return false;
		if (tags == 0)
			frame->vlan = rte_be_to_cpu_16(vlan->vlan_tci) & VLAN_ID_MASK;
		offset += sizeof(*vlan);
		type = vlan->eth_proto;
	}
	frame->ether_type = rte_be_to_cpu_16(type);
	frame->network_offset = (uint16_t)offset;
	return true;
}

/* Fill in the UDP part if `length` bytes at `offset` are a UDP datagram. */
static void
parse_udp(const struct rte_mbuf *mbuf, uint32_t offset, uint32_t length, struct frame *frame)
{
	const struct rte_udp_hdr *udp;
	struct rte_udp_hdr copy;
	uint32_t datagram;

	if (length < sizeof(*udp))
		return;
	udp = rte_pktmbuf_read(mbuf, offset, sizeof(*udp), &copy);
	if (udp == NULL)
		return;
	datagram = rte_be_to_cpu_16(udp->dgram_len);
	if (datagram < sizeof(*udp) || datagram > length)
		return;
	frame->udp = true;
	frame->udp_offset = (uint16_t)offset;
	frame->payload_length = (uint16_t)(datagram - sizeof(*udp));
	frame->udp_port = rte_be_to_cpu_16(udp->dst_port);
}

static void
parse_ipv4(const struct rte_mbuf *mbuf, struct frame *frame)
{
	const uint32_t offset = frame->network_offset;
	const struct rte_ipv4_hdr *ip;
	struct rte_ipv4_hdr copy;
	uint32_t header, total;

	ip = rte_pktmbuf_read(mbuf, offset, sizeof(*ip), &copy);
	if (ip == NULL || ip->version_ihl >> 4 != 4)
		return;
	header = (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(*ip) || total < header || offset + total > mbuf->pkt_len)
		return;
	frame->network = FRAME_IPV4;
	if (ip->next_proto_id == IPPROTO_UDP && !frame_is_fragment(ip))
		parse_udp(mbuf, offset + header, total - header, frame);
}

static void
parse_ipv6(const struct rte_mbuf *mbuf, struct frame *frame)
{
	const uint32_t offset = frame->network_offset;
	const struct rte_ipv6_hdr *ip;
	struct rte_ipv6_hdr copy;
	uint32_t payload;

	ip = rte_pktmbuf_read(mbuf, offset, sizeof(*ip), &copy);
	if (ip == NULL || (rte_be_to_cpu_32(ip->vtc_flow) >> 28) != 6)
		return;
	payload = rte_be_to_cpu_16(ip->payload_len);
	if (offset + sizeof(*ip) + payload > mbuf->pkt_len)
		return;
	frame->network = FRAME_IPV6;
	if (ip->proto == IPPROTO_UDP)
		parse_udp(mbuf, offset + sizeof(*ip), payload, frame);
}

static bool
is_contiguous(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const uint32_t length = rte_pktmbuf_data_len(mbuf);
	uint32_t end = frame->network_offset + FRAME_CONTIGUOUS_BYTES;

	if (frame->network_offset == 0)
		return false;
	if (frame->network == FRAME_IPV6)
		end = frame->network_offset + (uint32_t)sizeof(struct rte_ipv6_hdr) +
			(uint32_t)sizeof(struct rte_udp_hdr);
	if (frame->network == FRAME_IPV4 && frame->udp &&
		frame->udp_offset != frame->network_offset + (uint32_t)sizeof(struct rte_ipv4_hdr))
		return false;
	return end <= length && (!frame->udp || frame_payload_offset(frame) <= length);
}

static void
parse_network(const struct rte_mbuf *mbuf, struct frame *frame)
{
	if (frame->ether_type == RTE_ETHER_TYPE_IPV4)
		parse_ipv4(mbuf, frame);
	else if (frame->ether_type == RTE_ETHER_TYPE_IPV6)
		parse_ipv6(mbuf, frame);
}

void
frame_parse(const struct rte_mbuf *mbuf, struct frame *frame)
{
	*frame = (struct frame){.network = FRAME_OTHER};
	if (parse_ethernet(mbuf, frame))
		parse_network(mbuf, frame);
	frame->contiguous = is_contiguous(mbuf, frame);
}
