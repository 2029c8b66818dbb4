/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>

#include "bytes.h"
#include "checksum.h"
#include "endpoint/endpoint.h"
#include "endpoint/neighbour.h"

#define ICMPV6_NEIGHBOUR_SOLICITATION 135
#define ICMPV6_NEIGHBOUR_ADVERTISEMENT 136

/* Only a packet from the link itself still has all its hops. */
#define LINK_HOPS 255

#define FLAG_SOLICITED 0x40000000u
#define FLAG_OVERRIDE 0x20000000u
#define OPTION_SOURCE_MAC 1
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
	struct mac_option option;
} __attribute__((packed, aligned(2)));

#define SOLICITATION_BYTES (sizeof(struct rte_ipv6_hdr) + sizeof(struct neighbour_hdr))

/* Longer ones are ignored. */
#define MAX_BYTES 256

/*
 * A message of neighbour discovery from this link, about an address: the packet, or a copy of it.
 * NULL: it is none.
 */
static const struct neighbour_packet *
read_message(const struct rte_mbuf *mbuf, const struct frame *frame, uint8_t type,
	uint8_t copy[MAX_BYTES])
{
	const struct rte_ipv6_hdr *ip;
	const struct neighbour_packet *packet;
	uint32_t length;

	ip = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*ip), copy);
	length = rte_be_to_cpu_16(ip->payload_len);
	if (ip->proto != IPPROTO_ICMPV6 || ip->hop_limits != LINK_HOPS ||
		length < sizeof(packet->neighbour) || length + sizeof(*ip) > MAX_BYTES)
		return NULL;
	packet =
		rte_pktmbuf_read(mbuf, frame->network_offset, (uint32_t)sizeof(*ip) + length, copy);
	if (packet->neighbour.type != type || packet->neighbour.code != 0 ||
		packet->neighbour.target[0] == 0xff)
		return NULL;
	return packet;
}

bool
discovery_solicited_address(
	const struct rte_mbuf *mbuf, const struct frame *frame, uint8_t target[16])
{
	uint8_t copy[MAX_BYTES];
	const struct neighbour_packet *packet =
		read_message(mbuf, frame, ICMPV6_NEIGHBOUR_SOLICITATION, copy);

	if (packet == NULL)
		return false;
	memcpy(target, packet->neighbour.target, 16);
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

/*
 * A host that has no address yet asks from the unspecified one; the answer goes to all nodes
 * (section 7.2.4).
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

/* What options say. */
enum options {
	OPTIONS_MALFORMED, /* one of them is empty, or longer than the packet */
	OPTIONS_WITHOUT,   /* no MAC address of that type */
	OPTIONS_WITH,
};

/* Look for a MAC address among a message's options. */
static enum options
find_mac(const struct neighbour_packet *packet, uint8_t type, struct rte_ether_addr *mac)
{
	const uint8_t *option = (const uint8_t *)&packet->option;
	uint32_t length =
		rte_be_to_cpu_16(packet->ip.payload_len) - (uint32_t)sizeof(packet->neighbour);
	enum options found = OPTIONS_WITHOUT;

	while (length > 0) {
		uint32_t bytes = length < 2 ? 0 : option[1] * 8u;

		if (bytes == 0 || bytes > length)
			return OPTIONS_MALFORMED;
		if (option[0] == type) {
			memcpy(mac, option + 2, sizeof(*mac));
			found = OPTIONS_WITH;
		}
		option += bytes;
		length -= bytes;
	}
	return found;
}

/* To the group of all whose address ends in the same three bytes (RFC 4291, section 2.7.1). */
static void
write_group(const uint8_t target[16], uint8_t group[16])
{
	static const uint8_t all[16] = {0xff, 0x02, [11] = 1, 0xff};

	memcpy(group, all, 13);
	memcpy(group + 13, target + 13, 3);
}

/* What section 7.1.1 wants of a solicitation besides what read_message() checks. */
static bool
may_be_answered(const struct neighbour_packet *packet)
{
	struct rte_ether_addr mac;
	enum options options = find_mac(packet, OPTION_SOURCE_MAC, &mac);
	uint8_t group[16];

	if (is_multicast(&packet->ip.src_addr))
		return false;
	if (!is_unspecified(&packet->ip.src_addr))
		return options != OPTIONS_MALFORMED;
	write_group(packet->neighbour.target, group);
	return options == OPTIONS_WITHOUT &&
		memcmp(&packet->ip.dst_addr, group, sizeof(group)) == 0;
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
discovery_answer(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac)
{
	struct neighbour_packet *packet;
	uint16_t payload = sizeof(*packet) - sizeof(packet->ip);
	uint8_t copy[MAX_BYTES];

	if (mbuf_bytes(mbuf, frame->network_offset, SOLICITATION_BYTES) == NULL ||
		!is_sound(mbuf, frame) ||
		!may_be_answered(read_message(mbuf, frame, ICMPV6_NEIGHBOUR_SOLICITATION, copy)) ||
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

/* ---- what the switch asks -------------------------------------------------------------------- */

struct solicitation_frame {
	struct rte_ether_hdr ethernet;
	struct neighbour_packet packet;
} __attribute__((packed, aligned(2)));

_Static_assert(sizeof(struct solicitation_frame) == DISCOVERY_SOLICITATION_BYTES, "as declared");

void
discovery_write_solicitation(const struct rte_ether_addr *mac, const uint8_t own[16],
	const uint8_t target[16], uint8_t *frame)
{
	struct solicitation_frame question = {
		.ethernet = {.dst_addr = {{0x33, 0x33}},
			.src_addr = *mac,
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6)},
		.packet = {.ip = {.vtc_flow = RTE_BE32(UINT32_C(6) << 28),
				   .proto = IPPROTO_ICMPV6,
				   .hop_limits = LINK_HOPS},
			.neighbour = {.type = ICMPV6_NEIGHBOUR_SOLICITATION},
			.option = {OPTION_SOURCE_MAC, 1, *mac}},
	};
	struct neighbour_packet *packet = &question.packet;
	uint8_t to[16];

	write_group(target, to);
	memcpy(question.ethernet.dst_addr.addr_bytes + 2, to + 12, 4);
	memcpy(&packet->ip.src_addr, own, 16);
	memcpy(&packet->ip.dst_addr, to, 16);
	packet->ip.payload_len = RTE_BE16(sizeof(*packet) - sizeof(packet->ip));
	memcpy(packet->neighbour.target, target, 16);
	packet->neighbour.checksum = rte_ipv6_udptcp_cksum(&packet->ip, &packet->neighbour);
	memcpy(frame, &question, sizeof(question));
}

bool
discovery_read_advertisement(const struct rte_mbuf *mbuf, const struct frame *frame,
	const uint8_t own[16], const uint8_t target[16], struct rte_ether_addr *mac)
{
	uint8_t copy[MAX_BYTES];
	const struct neighbour_packet *packet =
		read_message(mbuf, frame, ICMPV6_NEIGHBOUR_ADVERTISEMENT, copy);

	return packet != NULL && rte_pktmbuf_is_contiguous(mbuf) &&
		memcmp(&packet->ip.dst_addr, own, 16) == 0 &&
		memcmp(packet->neighbour.target, target, 16) == 0 &&
		(packet->neighbour.flags & RTE_BE32(FLAG_SOLICITED)) != 0 &&
		is_sound(mbuf, frame) && find_mac(packet, OPTION_TARGET_MAC, mac) == OPTIONS_WITH;
}
