/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery: who has this IPv6 address? (RFC 4861) */
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>

#include "endpoint/answer.h"
#include "endpoint/answer_common.h"
#include "checksum.h"

/* Only a packet from the link itself still has all its hops. */
#define LINK_HOPS 255

#define FLAG_SOLICITED 0x40000000u
#define FLAG_OVERRIDE 0x20000000u
#define OPTION_TARGET_MAC 2

/* A solicitation or an advertisement. */
struct neighbour_hdr {
	uint8_t type, code;
	rte_be16_t checksum;
	rte_be32_t flags;
	uint8_t target[16];
} __attribute__((packed));

struct mac_option {
	uint8_t type, length; /* length in units of 8 bytes */
	struct rte_ether_addr mac;
} __attribute__((packed, aligned(2)));

struct neighbour_packet {
	struct rte_ipv6_hdr ip;
	struct neighbour_hdr neighbour;
	struct mac_option option; /* of an advertisement */
} __attribute__((packed, aligned(2)));

#define SOLICITATION_BYTES (sizeof(struct rte_ipv6_hdr) + sizeof(struct neighbour_hdr))

bool
answer_solicited_address(const struct rte_mbuf *mbuf, const struct frame *frame, uint8_t target[16])
{
	uint8_t copy[256];
	const struct rte_ipv6_hdr *ip;
	const struct neighbour_hdr *solicitation;
	uint32_t length;

	ip = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*ip), copy);
	length = rte_be_to_cpu_16(ip->payload_len);
	if (ip->proto != IPPROTO_ICMPV6 || ip->hop_limits != LINK_HOPS ||
		length < sizeof(*solicitation) || length + sizeof(*ip) > sizeof(copy))
		return false;
	ip = rte_pktmbuf_read(mbuf, frame->network_offset, (uint32_t)sizeof(*ip) + length, copy);
	solicitation = (const struct neighbour_hdr *)(ip + 1);
	if (solicitation->type != ICMPV6_NEIGHBOUR_SOLICITATION || solicitation->code != 0 ||
		solicitation->target[0] == 0xff)
		return false;
	memcpy(target, solicitation->target, 16);
	return true;
}

static bool
is_unspecified(const void *address)
{
	static const uint8_t unspecified[16];

	return memcmp(address, unspecified, sizeof(unspecified)) == 0;
}

/* Addresses are arrays of bytes, or, since DPDK 24.11, a struct around one. */
static bool
is_multicast(const void *address)
{
	return *(const uint8_t *)address == 0xff;
}

/* Cut or extend the packet to `length` bytes. */
static bool
set_length(struct rte_mbuf *mbuf, uint32_t length)
{
	if (mbuf->nb_segs != 1)
		return false;
	if (mbuf->pkt_len >= length)
		return rte_pktmbuf_trim(mbuf, (uint16_t)(mbuf->pkt_len - length)) == 0;
	return rte_pktmbuf_append(mbuf, (uint16_t)(length - mbuf->pkt_len)) != NULL;
}

/* Whoever has no address yet asks on behalf of none; the answer goes to all nodes (section 7.2.4).
 */
static rte_be32_t
address_answer(struct rte_ipv6_hdr *ip, const uint8_t target[16])
{
	static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
	bool nobody = is_unspecified(&ip->src_addr);

	memcpy(&ip->dst_addr, nobody ? (const void *)all_nodes : &ip->src_addr, 16);
	memcpy(&ip->src_addr, target, 16);
	return rte_cpu_to_be_32(FLAG_OVERRIDE | (nobody ? 0 : FLAG_SOLICITED));
}

static bool
is_sound(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_ipv6_hdr *, frame->network_offset);
	uint16_t sum;

	return rte_raw_cksum_mbuf(mbuf, frame->network_offset + (uint32_t)sizeof(*ip),
		       rte_be_to_cpu_16(ip->payload_len), &sum) == 0 &&
		checksum_fold((uint64_t)sum + rte_ipv6_phdr_cksum(ip, 0)) == 0xffff;
}

bool
answer_solicitation(
	struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac)
{
	struct neighbour_packet *packet;
	uint16_t payload = sizeof(*packet) - sizeof(packet->ip);

	if (mbuf_bytes(mbuf, frame->network_offset, SOLICITATION_BYTES) == NULL ||
		!is_sound(mbuf, frame) ||
		!set_length(mbuf, frame->network_offset + (uint32_t)sizeof(*packet)))
		return false;
	packet = rte_pktmbuf_mtod_offset(mbuf, struct neighbour_packet *, frame->network_offset);
	packet->neighbour.flags = address_answer(&packet->ip, packet->neighbour.target);
	packet->ip.payload_len = rte_cpu_to_be_16(payload);
	packet->ip.hop_limits = LINK_HOPS;
	packet->neighbour.type = ICMPV6_NEIGHBOUR_ADVERTISEMENT;
	packet->option = (struct mac_option){OPTION_TARGET_MAC, 1, *mac};
	packet->neighbour.checksum = 0;
	packet->neighbour.checksum = rte_ipv6_udptcp_cksum(&packet->ip, &packet->neighbour);
	answer_ethernet(mbuf, mac);
	if (is_multicast(&packet->ip.dst_addr)) {
		struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

		/* All nodes' multicast MAC address: 33-33 and the last four bytes (RFC 2464). */
		ethernet->dst_addr = (struct rte_ether_addr){{0x33, 0x33, 0, 0, 0, 1}};
	}
	return true;
}
