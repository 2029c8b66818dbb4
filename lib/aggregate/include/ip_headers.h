/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IP_HEADERS_H
#define IP_HEADERS_H

/**
 * @file
 * IP headers of UDP datagrams as all programs here send them: in one piece, without options. Sums
 * are of the fields as they are given: to read them back from the packet would wait until all of it
 * is in the cache. Words are as they stand in memory (RFC 1071, section 2.B).
 */

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdint.h>
#include <string.h>

#define IP_HOPS 64

/** At any even address. */
typedef struct iphdr ip4_header __attribute__((aligned(2)));
typedef struct ip6_hdr ip6_header __attribute__((aligned(2)));

/** A one's complement sum in 16 bits. */
static inline uint16_t
ip_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/**
 * Write an IPv4 header.
 *
 * @param source, destination addresses
 * @param udp_bytes UDP header and payload
 * @return the sum of the UDP pseudo-header
 */
static inline uint64_t
ip4_write(void *to, const void *source, const void *destination, uint16_t udp_bytes)
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
		.tot_len = length,
		.frag_off = htons(IP_DF),
		.ttl = IP_HOPS,
		.protocol = IPPROTO_UDP,
		.check = (uint16_t)~ip_fold(addresses + length +
			htons(4 << 12 | sizeof(struct iphdr) / sizeof(uint32_t) << 8) +
			htons(IP_DF) + htons(IP_HOPS << 8 | IPPROTO_UDP)),
		.saddr = from_address,
		.daddr = to_address,
	};
	return addresses + htons(IPPROTO_UDP) + htons(udp_bytes);
}

/** An IPv6 header, likewise. */
static inline uint64_t
ip6_write(void *to, const void *source, const void *destination, uint16_t udp_bytes)
{
	ip6_header *ip = to;
	uint32_t words[8];
	uint64_t sum = (uint64_t)htons(IPPROTO_UDP) + htons(udp_bytes);

	ip->ip6_flow = htonl(UINT32_C(6) << 28);
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

#endif /* IP_HEADERS_H */
