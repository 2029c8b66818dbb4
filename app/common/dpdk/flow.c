/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <string.h>

#include "dpdk/flow.h"

#define HOP_LIMIT 64

static void
write_ipv4(const struct flow *flow, struct rte_ipv4_hdr *ip, uint16_t datagram)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + datagram)),
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = HOP_LIMIT,
		.next_proto_id = IPPROTO_UDP,
	};
	memcpy(&ip->src_addr, flow->src_ip, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, flow->dst_ip, sizeof(ip->dst_addr));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

static void
write_ipv6(const struct flow *flow, struct rte_ipv6_hdr *ip, uint16_t datagram)
{
	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = RTE_BE32(6u << 28),
		.payload_len = rte_cpu_to_be_16(datagram),
		.proto = IPPROTO_UDP,
		.hop_limits = HOP_LIMIT,
	};
	memcpy(&ip->src_addr, flow->src_ip, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, flow->dst_ip, sizeof(ip->dst_addr));
}

void
flow_write_headers(
	const struct flow *flow, uint8_t *frame, uint16_t port_offset, uint16_t payload_length)
{
	struct rte_ether_hdr *ethernet = (struct rte_ether_hdr *)frame;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + flow_udp_offset(flow));
	uint16_t datagram = (uint16_t)(sizeof(*udp) + payload_length);

	ethernet->src_addr = flow->src_mac;
	ethernet->dst_addr = flow->dst_mac;
	ethernet->ether_type =
		rte_cpu_to_be_16(flow->ip6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	if (flow->ip6)
		write_ipv6(flow, (struct rte_ipv6_hdr *)(ethernet + 1), datagram);
	else
		write_ipv4(flow, (struct rte_ipv4_hdr *)(ethernet + 1), datagram);
	*udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16((uint16_t)(flow->src_udp + port_offset)),
		.dst_port = rte_cpu_to_be_16(flow->dst_udp),
		.dgram_len = rte_cpu_to_be_16(datagram),
	};
}

uint16_t
flow_udp_sum(const struct flow *flow, const uint8_t *frame)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN, *udp = frame + flow_udp_offset(flow);
	uint16_t checksum;

	if (flow->ip6)
		checksum = rte_ipv6_udptcp_cksum((const struct rte_ipv6_hdr *)ip, udp);
	else
		checksum = rte_ipv4_udptcp_cksum((const struct rte_ipv4_hdr *)ip, udp);
	return (uint16_t)~checksum;
}
