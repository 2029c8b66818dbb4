/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IP_HEADERS_H
#define IP_HEADERS_H

/**
 * @file
 * Internet checksums, and the headers of UDP datagrams as all programs here send them: in one
 * piece, without options. Sums are of the fields as they are given: to read them back from the
 * packet would wait until all of it is in the cache. Words are as they stand in memory: a one's
 * complement sum does not depend on the byte order (RFC 1071, section 2.B).
 */

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IP_HOPS 64

/** Marks of congestion in the two low bits of IPv4's type of service and IPv6's traffic class (RFC
 * 3168). */
#define IP_ECN_CAPABLE 2 /**< ECT(0): routers may mark the packet instead of dropping it */
#define IP_ECN_MARKED 3  /**< a router has */
#define IP_ECN_BITS 3
#define IP4_TOS_SHIFT 16   /**< of the type of service in the header's first word */
#define IP6_CLASS_SHIFT 20 /**< of the traffic class, likewise */

/**
 * Whether an address can be another host's: not nobody's, many hosts' or the loopback's, nor an
 * IPv4 address mapped to IPv6, which no packet has (RFC 1122, 3.2.1.3; RFC 4291, 2.5).
 */
static inline bool
ip_is_host(const uint8_t *bytes, bool ip6)
{
	static const uint8_t nobody[16], loopback[16] = {[15] = 1};
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (!ip6)
		return bytes[0] != 0 && bytes[0] != IN_LOOPBACKNET && bytes[0] < 224;
	return bytes[0] != 0xff && memcmp(bytes, nobody, sizeof(nobody)) != 0 &&
		memcmp(bytes, loopback, sizeof(loopback)) != 0 &&
		memcmp(bytes, mapped, sizeof(mapped)) != 0;
}

/** At any even address. */
typedef struct iphdr ip4_header __attribute__((aligned(2)));
typedef struct ip6_hdr ip6_header __attribute__((aligned(2)));

/** A one's complement sum in 16 bits. */
static inline uint16_t
checksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/** What a word that changes adds to the sum. A packet's words cannot make it overflow. */
static inline uint32_t
checksum_change(uint16_t before, uint16_t after)
{
	return (uint32_t)(uint16_t)~before + after;
}

/** What a piece's sum adds to that of a packet in which it stands so far from the start (RFC
 * 1071, section 2 (B)). */
static inline uint16_t
checksum_at(size_t offset, uint16_t sum)
{
	return offset % 2 == 0 ? sum : __builtin_bswap16(sum);
}

/** The checksum after all changes (RFC 1624, equation 3). UDP writes a zero as ones (RFC 768). */
static inline uint16_t
checksum_update(uint16_t checksum, uint64_t changes)
{
	uint16_t updated = (uint16_t)~checksum_fold((uint16_t)~checksum + changes);

	return updated != 0 ? updated : 0xffff;
}

/**
 * Write an IPv4 header.
 *
 * @param source, destination addresses
 * @param udp_bytes UDP header and payload
 * @param ecn its two bits
 * @return the sum of the UDP pseudo-header
 */
static inline uint64_t
ip4_write(void *to, const void *source, const void *destination, uint16_t udp_bytes, uint8_t ecn)
{
	const uint16_t length = htons((uint16_t)(sizeof(struct iphdr) + udp_bytes));
	uint32_t from_address, to_address;
	uint64_t addresses;

	memcpy(&from_address, source, sizeof(from_address));
	memcpy(&to_address, destination, sizeof(to_address));
	addresses = (uint64_t)from_address + to_address;
	*(ip4_header *)to = (struct iphdr){
		.version = 4,
		.ihl = sizeof(struct iphdr) / sizeof(uint32_t),
		.tos = ecn,
		.tot_len = length,
		.frag_off = htons(IP_DF),
		.ttl = IP_HOPS,
		.protocol = IPPROTO_UDP,
		.check = (uint16_t)~checksum_fold(addresses + length +
			htons((uint16_t)(4 << 12 | sizeof(struct iphdr) / sizeof(uint32_t) << 8 |
				ecn)) +
			htons(IP_DF) + htons(IP_HOPS << 8 | IPPROTO_UDP)),
		.saddr = from_address,
		.daddr = to_address,
	};
	return addresses + htons(IPPROTO_UDP) + htons(udp_bytes);
}

/** An IPv6 header, likewise. */
static inline uint64_t
ip6_write(void *to, const void *source, const void *destination, uint16_t udp_bytes, uint8_t ecn)
{
	ip6_header *ip = to;
	uint32_t words[8];
	uint64_t sum = (uint64_t)htons(IPPROTO_UDP) + htons(udp_bytes);

	ip->ip6_flow = htonl(UINT32_C(6) << 28 | (uint32_t)ecn << IP6_CLASS_SHIFT);
	ip->ip6_plen = htons(udp_bytes);
	ip->ip6_nxt = IPPROTO_UDP;
	ip->ip6_hlim = IP_HOPS;
	memcpy(&ip->ip6_src, source, sizeof(ip->ip6_src));
	memcpy(&ip->ip6_dst, destination, sizeof(ip->ip6_dst));
	memcpy(words, source, sizeof(ip->ip6_src));
	memcpy(words + 4, destination, sizeof(ip->ip6_dst));
	for (unsigned int i = 0; i < 8; i++)
		sum += words[i];
	return sum;
}

/** What a frame's headers say. */
struct ip_ends {
	const void *source_mac, *destination_mac;
	const void *tags; /**< of VLANs, as in the frame */
	uint8_t tag_bytes;
	bool v6;
	uint8_t ecn;                      /**< two bits */
	const void *source, *destination; /**< IP addresses */
	uint16_t from, to;                /**< UDP ports, in host order */
};

/** Bytes of the headers, those of VLAN tags not among them. */
static inline size_t
ip_frame_headers(bool v6)
{
	return sizeof(struct ether_header) + sizeof(struct udphdr) +
		(v6 ? sizeof(struct ip6_hdr) : sizeof(struct iphdr));
}

/**
 * Write all headers of a frame with a UDP datagram.
 *
 * @param sum of the payload's words
 */
static inline void
ip_write_frame(uint8_t *frame, const struct ip_ends *ends, uint16_t payload_bytes, uint64_t sum)
{
	struct udphdr udp = {
		.source = htons(ends->from),
		.dest = htons(ends->to),
		.len = htons((uint16_t)(sizeof(udp) + payload_bytes)),
	};
	const uint16_t type = ends->v6 ? htons(ETHERTYPE_IPV6) : htons(ETHERTYPE_IP);

	memcpy(frame, ends->destination_mac, ETH_ALEN);
	memcpy(frame + ETH_ALEN, ends->source_mac, ETH_ALEN);
	frame += 2 * ETH_ALEN;
	memcpy(frame, ends->tags, ends->tag_bytes);
	frame += ends->tag_bytes;
	memcpy(frame, &type, sizeof(type));
	frame += sizeof(type);
	if (ends->v6) {
		sum += ip6_write(frame, ends->source, ends->destination, ntohs(udp.len), ends->ecn);
		frame += sizeof(struct ip6_hdr);
	} else {
		sum += ip4_write(frame, ends->source, ends->destination, ntohs(udp.len), ends->ecn);
		frame += sizeof(struct iphdr);
	}
	udp.check = checksum_update(0xffff, sum + udp.source + udp.dest + udp.len);
	memcpy(frame, &udp, sizeof(udp));
}

#endif /* IP_HEADERS_H */
