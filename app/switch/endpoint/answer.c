/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include <netfc_wire.h>
#include <rte_arp.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "checksum.h"
#include "endpoint/answer.h"
#include "bytes.h"

#define ICMPV6_ECHO_REQUEST 128
#define ICMPV6_ECHO_REPLY 129
#define ICMPV6_NEIGHBOUR_SOLICITATION 135
#define ICMPV6_NEIGHBOUR_ADVERTISEMENT 136

void
answer_ethernet(struct rte_mbuf *mbuf, const struct rte_ether_addr *mac)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

	ethernet->dst_addr = ethernet->src_addr;
	ethernet->src_addr = *mac;
}

bool
answer_arp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac)
{
	struct rte_arp_hdr *arp = mbuf_bytes(mbuf, frame->network_offset, sizeof(*arp));
	rte_be32_t asked;

	if (arp == NULL)
		return false;
	asked = arp->arp_data.arp_tip;
	arp->arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
	arp->arp_data.arp_tha = arp->arp_data.arp_sha;
	arp->arp_data.arp_tip = arp->arp_data.arp_sip;
	arp->arp_data.arp_sha = *mac;
	arp->arp_data.arp_sip = asked;
	answer_ethernet(mbuf, mac);
	return true;
}

static void
turn_ipv4(struct rte_ipv4_hdr *ip)
{
	rte_be32_t source = ip->src_addr;

	ip->src_addr = ip->dst_addr;
	ip->dst_addr = source;
	ip->time_to_live = ANSWER_HOPS;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

static void
turn_ipv6(struct rte_ipv6_hdr *ip)
{
	uint8_t source[16];

	memcpy(source, &ip->src_addr, sizeof(source));
	memcpy(&ip->src_addr, &ip->dst_addr, sizeof(source));
	memcpy(&ip->dst_addr, source, sizeof(source));
	ip->hop_limits = ANSWER_HOPS;
}

/* Swap the IP addresses; the whole header up to `end` must be there. */
static bool
turn_ip(struct rte_mbuf *mbuf, const struct frame *frame, uint32_t end)
{
	void *ip = mbuf_bytes(mbuf, frame->network_offset, end - frame->network_offset);

	if (ip == NULL)
		return false;
	if (frame->network == FRAME_IPV4)
		turn_ipv4(ip);
	else
		turn_ipv6(ip);
	return true;
}

/*
 * The sum of the pseudo header. DPDK takes the length from the IP header; the UDP header may state
 * less.
 */
static uint64_t
pseudo_header(struct rte_mbuf *mbuf, const struct frame *frame, rte_be16_t length)
{
	void *ip = rte_pktmbuf_mtod_offset(mbuf, void *, frame->network_offset);
	const struct rte_ipv4_hdr *ip4 = ip;
	const struct rte_ipv6_hdr *ip6 = ip;

	if (frame->network == FRAME_IPV6)
		return rte_ipv6_phdr_cksum(ip, 0) + checksum_change(ip6->payload_len, length);
	return rte_ipv4_phdr_cksum(ip, 0) +
		checksum_change(rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(ip4->total_length) -
					rte_ipv4_hdr_len(ip4))),
			length);
}

static bool
is_sound_ipv4(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	return frame->network != FRAME_IPV4 ||
		rte_ipv4_cksum(rte_pktmbuf_mtod_offset(
			mbuf, const struct rte_ipv4_hdr *, frame->network_offset)) == 0;
}

/* Zero and 0xffff are the same sum. */
static bool
same_sum(uint16_t a, uint16_t b)
{
	return a % 0xffff == b % 0xffff;
}

/* The sum of a datagram; false if it is incomplete. */
static bool
datagram_sum(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum, uint16_t *sum)
{
	const struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_udp_hdr *, frame->udp_offset);
	uint32_t length = rte_be_to_cpu_16(udp->dgram_len);

	if (frame->udp_offset + length > rte_pktmbuf_data_len(mbuf))
		return rte_raw_cksum_mbuf(mbuf, frame->udp_offset, length, sum) == 0;
	*sum = checksum(udp, length);
	return true;
}

/*
 * Whether a datagram is undamaged. Packets that the kernel sends over a virtual interface may hold
 * the sum of the pseudo header in place of a checksum, for a device to finish, and there is none.
 */
static bool
is_sound_udp(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum,
	const struct rte_udp_hdr *udp, uint16_t as_sent)
{
	uint64_t pseudo = pseudo_header(mbuf, frame, udp->dgram_len);
	uint16_t sum;

	if (!is_sound_ipv4(mbuf, frame))
		return false;
	if (udp->dgram_cksum == 0 && frame->network == FRAME_IPV4)
		return true;
	if (!datagram_sum(mbuf, frame, checksum, &sum))
		return false;
	return same_sum(checksum_fold(sum + pseudo), 0xffff) ||
		same_sum(as_sent, checksum_fold(pseudo));
}

bool
answer_is_sound_udp(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum)
{
	const struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_udp_hdr *, frame->udp_offset);

	return is_sound_udp(mbuf, frame, checksum, udp, udp->dgram_cksum);
}

void
answer_turn_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac,
	checksum_fn *checksum)
{
	struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, frame->udp_offset);
	rte_be16_t source = udp->src_port;
	uint16_t sum = 0;

	turn_ip(mbuf, frame, frame->udp_offset + (uint32_t)sizeof(*udp));
	udp->src_port = udp->dst_port;
	udp->dst_port = source;
	udp->dgram_cksum = 0;
	datagram_sum(mbuf, frame, checksum, &sum);
	udp->dgram_cksum =
		checksum_update((uint16_t)~sum, pseudo_header(mbuf, frame, udp->dgram_len));
	answer_ethernet(mbuf, mac);
}

bool
answer_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac,
	checksum_fn *checksum)
{
	uint32_t end = frame->udp_offset + (uint32_t)sizeof(struct rte_udp_hdr);
	const struct rte_udp_hdr *udp;

	if (mbuf_bytes(mbuf, 0, end) == NULL)
		return false;
	udp = rte_pktmbuf_mtod_offset(mbuf, const struct rte_udp_hdr *, frame->udp_offset);
	if (!is_sound_udp(mbuf, frame, checksum, udp, frame->checksum))
		return false;
	answer_turn_udp(mbuf, frame, mac, checksum);
	return true;
}

bool
answer_is_reply(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const struct netfc_hdr *header;
	struct netfc_hdr copy;

	if (frame->payload_length < sizeof(*header))
		return false;
	header = rte_pktmbuf_read(mbuf, frame_payload_offset(frame), sizeof(*header), &copy);
	return header->magic == RTE_BE16(NETFC_MAGIC) && (header->status & NETFC_STATUS_REPLY) != 0;
}

/* Offset of the message after the IP header; 0 if the packet is not a whole ICMP message. */
static uint32_t
icmp_offset(struct rte_mbuf *mbuf, const struct frame *frame)
{
	const void *header = rte_pktmbuf_mtod_offset(mbuf, void *, frame->network_offset);
	const struct rte_ipv4_hdr *ip4 = header;
	const struct rte_ipv6_hdr *ip6 = header;
	uint32_t offset = frame->network_offset;

	if (frame->network == FRAME_IPV6)
		return ip6->proto == IPPROTO_ICMPV6 &&
				rte_be_to_cpu_16(ip6->payload_len) >= sizeof(struct rte_icmp_hdr)
			? offset + (uint32_t)sizeof(*ip6)
			: 0;
	if (ip4->next_proto_id != IPPROTO_ICMP || frame_is_fragment(ip4) ||
		rte_be_to_cpu_16(ip4->total_length) <
			rte_ipv4_hdr_len(ip4) + sizeof(struct rte_icmp_hdr))
		return 0;
	return offset + rte_ipv4_hdr_len(ip4);
}

static bool
is_sound_icmp(struct rte_mbuf *mbuf, const struct frame *frame, uint32_t offset)
{
	const void *ip = rte_pktmbuf_mtod_offset(mbuf, const void *, frame->network_offset);
	const struct rte_ipv4_hdr *ip4 = ip;
	const struct rte_ipv6_hdr *ip6 = ip;
	uint64_t pseudo = 0;
	uint32_t length;
	uint16_t sum;

	if (frame->network == FRAME_IPV6) {
		length = rte_be_to_cpu_16(ip6->payload_len);
		pseudo = rte_ipv6_phdr_cksum(ip6, 0);
	} else {
		length = rte_be_to_cpu_16(ip4->total_length) - rte_ipv4_hdr_len(ip4);
	}
	return is_sound_ipv4(mbuf, frame) && rte_raw_cksum_mbuf(mbuf, offset, length, &sum) == 0 &&
		same_sum(checksum_fold(sum + pseudo), 0xffff);
}

enum ping_result
answer_ping(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac)
{
	bool ipv4 = frame->network == FRAME_IPV4;
	uint8_t request = ipv4 ? ICMP_ECHO : ICMPV6_ECHO_REQUEST;
	uint8_t reply = ipv4 ? ICMP_ECHOREPLY : ICMPV6_ECHO_REPLY;
	struct rte_icmp_hdr *icmp;
	uint32_t offset, fixed = ipv4 ? sizeof(struct rte_ipv4_hdr) : sizeof(struct rte_ipv6_hdr);

	if (mbuf_bytes(mbuf, frame->network_offset, fixed) == NULL)
		return PING_MALFORMED;
	offset = icmp_offset(mbuf, frame);
	if (offset == 0)
		return PING_NONE;
	icmp = mbuf_bytes(mbuf, offset, sizeof(*icmp));
	if (icmp == NULL)
		return PING_MALFORMED;
	if (icmp->icmp_type != request || icmp->icmp_code != 0)
		return PING_NONE;
	if (!is_sound_icmp(mbuf, frame, offset))
		return PING_MALFORMED;
	icmp->icmp_type = reply;
	/* The type is the high byte of its word. */
	icmp->icmp_cksum = checksum_update(icmp->icmp_cksum,
		checksum_change(rte_cpu_to_be_16((uint16_t)(request << 8)),
			rte_cpu_to_be_16((uint16_t)(reply << 8))));
	turn_ip(mbuf, frame, offset);
	answer_ethernet(mbuf, mac);
	return PING_ANSWERED;
}

/* ---- neighbour discovery: who has this IPv6 address? (RFC 4861) ------------------------------ */

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
