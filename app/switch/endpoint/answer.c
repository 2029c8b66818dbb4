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
#include "endpoint/endpoint.h"
#include "bytes.h"

#define ICMPV6_ECHO_REQUEST 128
#define ICMPV6_ECHO_REPLY 129

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
verify_ipv4(const struct rte_mbuf *mbuf, const struct frame *frame)
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

/* What there is to know of a datagram's sums. */
struct datagram {
	struct rte_udp_hdr *udp;
	uint64_t pseudo;
	uint16_t sum; /* with the checksum in it */
};

/* Its sums; false if the datagram is incomplete, or the IP header is damaged. */
static bool
read_datagram(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum,
	struct datagram *datagram)
{
	datagram->udp = rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, frame->udp_offset);
	datagram->pseudo = pseudo_header(mbuf, frame, datagram->udp->dgram_len);
	return verify_ipv4(mbuf, frame) && datagram_sum(mbuf, frame, checksum, &datagram->sum);
}

/* Only over IPv4 may a datagram have no checksum. */
static bool
has_none(const struct datagram *datagram, const struct frame *frame)
{
	return datagram->udp->dgram_cksum == 0 && frame->network == FRAME_IPV4;
}

/*
 * Packets that the kernel sends over a virtual interface may hold the sum of the pseudo header in
 * place of a checksum, for a device to finish, and there is none.
 */
static bool
has_partial(const struct datagram *datagram)
{
	return same_sum(datagram->udp->dgram_cksum, checksum_fold(datagram->pseudo));
}

static bool
has_right(const struct datagram *datagram)
{
	return same_sum(checksum_fold(datagram->sum + datagram->pseudo), 0xffff);
}

bool
answer_verify_udp(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum)
{
	struct datagram datagram;

	return read_datagram(mbuf, frame, checksum, &datagram) &&
		(has_none(&datagram, frame) || has_right(&datagram) || has_partial(&datagram));
}

bool
answer_complete_udp(struct rte_mbuf *mbuf, struct frame *frame, checksum_fn *checksum)
{
	struct datagram datagram;

	if (mbuf_bytes(mbuf, 0, frame_payload_offset(frame)) == NULL ||
		!read_datagram(mbuf, frame, checksum, &datagram))
		return false;
	if (!has_none(&datagram, frame) && has_right(&datagram))
		return true;
	if (!has_none(&datagram, frame) && !has_partial(&datagram))
		return false;
	frame->checksum = checksum_update(
		UINT16_MAX, datagram.sum + datagram.pseudo + (uint16_t)~datagram.udp->dgram_cksum);
	datagram.udp->dgram_cksum = frame->checksum;
	return true;
}

void
answer_cut_udp(struct rte_mbuf *mbuf, const struct frame *frame, uint16_t payload)
{
	struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, frame->udp_offset);
	void *ip = rte_pktmbuf_mtod_offset(mbuf, void *, frame->network_offset);
	struct rte_ipv4_hdr *ip4 = ip;
	struct rte_ipv6_hdr *ip6 = ip;
	uint16_t length = (uint16_t)(sizeof(*udp) + payload);

	udp->dgram_len = rte_cpu_to_be_16(length);
	if (frame->network == FRAME_IPV4)
		ip4->total_length = rte_cpu_to_be_16((uint16_t)(rte_ipv4_hdr_len(ip4) + length));
	else
		ip6->payload_len = rte_cpu_to_be_16(length);
	rte_pktmbuf_trim(mbuf, (uint16_t)(mbuf->pkt_len - frame->udp_offset - length));
}

void
answer_mark(struct rte_mbuf *mbuf, const struct frame *frame)
{
	void *ip = rte_pktmbuf_mtod_offset(mbuf, void *, frame->network_offset);
	struct rte_ipv4_hdr *ip4 = ip;
	struct rte_ipv6_hdr *ip6 = ip;

	if (frame_ecn(mbuf, frame) == 0)
		return;
	if (frame->network == FRAME_IPV4)
		ip4->type_of_service |= IP_ECN_MARKED;
	else
		ip6->vtc_flow |= RTE_BE32(IP_ECN_MARKED << IP6_CLASS_SHIFT);
}

void
answer_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac)
{
	struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, frame->udp_offset);
	rte_be16_t source = udp->src_port;

	turn_ip(mbuf, frame, frame->udp_offset + (uint32_t)sizeof(*udp));
	udp->src_port = udp->dst_port;
	udp->dst_port = source;
	answer_ethernet(mbuf, mac);
}

void
answer_turn_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac,
	checksum_fn *checksum)
{
	struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, frame->udp_offset);
	uint16_t sum = 0;

	answer_udp(mbuf, frame, mac);
	udp->dgram_cksum = 0;
	datagram_sum(mbuf, frame, checksum, &sum);
	udp->dgram_cksum =
		checksum_update((uint16_t)~sum, pseudo_header(mbuf, frame, udp->dgram_len));
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
verify_icmp(struct rte_mbuf *mbuf, const struct frame *frame, uint32_t offset)
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
	return verify_ipv4(mbuf, frame) && rte_raw_cksum_mbuf(mbuf, offset, length, &sum) == 0 &&
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
	if (!verify_icmp(mbuf, frame, offset))
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
