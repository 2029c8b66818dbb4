/* SPDX-License-Identifier: BSD-3-Clause */
#include <ip_headers.h>

#include "dpdk/flow.h"

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
		ip6_write(ethernet + 1, flow->src_ip, flow->dst_ip, datagram);
	else
		ip4_write(ethernet + 1, flow->src_ip, flow->dst_ip, datagram);
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
