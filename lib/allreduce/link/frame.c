/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/frame.h"

#include <ip_headers.h>
#include <sys/random.h>

/* Of a MAC address's first byte. */
#define MULTICAST 1
#define LOCAL 2

/* The bytes as big-endian words, added up; folded later. An odd byte only comes last. */
static uint64_t
add_up(uint64_t sum, const uint8_t *bytes, size_t count)
{
	uint32_t word;

	for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, bytes, count);
	return sum + word;
}

size_t
frame_address_bytes(const struct frame_ends *ends)
{
	return ends->v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
}

/* Of a UDP datagram with its header, and the pseudo header; the same in both directions. */
static uint16_t
udp_checksum(const struct frame_ends *ends, const uint8_t *udp, size_t bytes)
{
	uint64_t sum = (uint64_t)htons(IPPROTO_UDP) + htons((uint16_t)bytes);

	sum = add_up(sum, ends->local, frame_address_bytes(ends));
	sum = add_up(sum, ends->remote, frame_address_bytes(ends));
	return (uint16_t)~checksum_fold(add_up(sum, udp, bytes));
}

bool
frame_draw_mac(uint8_t mac[6])
{
	if (getrandom(mac, ETH_ALEN, 0) != ETH_ALEN)
		return false;
	mac[0] = (uint8_t)((mac[0] & ~MULTICAST) | LOCAL);
	return true;
}

void
frame_learn(struct frame_ends *ends, const uint8_t *frame)
{
	const uint8_t *source = frame + offsetof(struct ether_header, ether_shost);

	if ((source[0] & MULTICAST) == 0)
		memcpy(ends->remote_mac, source, ETH_ALEN);
}

bool
frame_knows_remote(const struct frame_ends *ends)
{
	return (ends->remote_mac[0] & MULTICAST) == 0;
}

size_t
frame_header_bytes(const struct frame_ends *ends)
{
	return ip_frame_headers(ends->v6);
}

void
frame_finish(const struct frame_ends *ends, uint8_t *frame, size_t payload_bytes, uint16_t from,
	uint16_t to)
{
	const struct ip_ends between = {
		.source_mac = ends->local_mac,
		.destination_mac = ends->remote_mac,
		.tags = frame,
		.v6 = ends->v6,
		.ecn = IP_ECN_CAPABLE,
		.source = ends->local,
		.destination = ends->remote,
		.from = from,
		.to = to,
	};

	ip_write_frame(frame, &between, (uint16_t)payload_bytes,
		add_up(0, frame + frame_header_bytes(ends), payload_bytes));
}

/* Whether it is a UDP datagram of these ends'; it may be of another length than the frame. */
static bool
is_ours_v4(const struct frame_ends *ends, const uint8_t *from)
{
	struct iphdr ip;

	memcpy(&ip, from, sizeof(ip));
	return ip.version == 4 && ip.ihl == sizeof(ip) / sizeof(uint32_t) &&
		(ip.frag_off & htons(IP_MF | IP_OFFMASK)) == 0 && ip.protocol == IPPROTO_UDP &&
		memcmp(&ip.saddr, ends->remote, sizeof(ip.saddr)) == 0 &&
		memcmp(&ip.daddr, ends->local, sizeof(ip.daddr)) == 0;
}

static bool
is_ours_v6(const struct frame_ends *ends, const uint8_t *from)
{
	struct ip6_hdr ip;

	memcpy(&ip, from, sizeof(ip));
	return ip.ip6_vfc >> 4 == 6 && ip.ip6_nxt == IPPROTO_UDP &&
		memcmp(&ip.ip6_src, ends->remote, sizeof(ip.ip6_src)) == 0 &&
		memcmp(&ip.ip6_dst, ends->local, sizeof(ip.ip6_dst)) == 0;
}

static bool
is_marked(const struct frame_ends *ends, const uint8_t *ip)
{
	uint32_t first; /* word of the header */

	memcpy(&first, ip, sizeof(first));
	first = ntohl(first) >> (ends->v6 ? IP6_CLASS_SHIFT : IP4_TOS_SHIFT);
	return (first & IP_ECN_BITS) == IP_ECN_MARKED;
}

bool
frame_read(const struct frame_ends *ends, const uint8_t *frame, size_t length,
	struct frame_datagram *datagram)
{
	size_t header = frame_header_bytes(ends);
	struct ether_header ether;
	struct udphdr udp;
	size_t bytes;

	if (length < header)
		return false;
	memcpy(&ether, frame, sizeof(ether));
	if (ether.ether_type != htons(ends->v6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP))
		return false;
	if (!(ends->v6 ? is_ours_v6 : is_ours_v4)(ends, frame + sizeof(ether)))
		return false;
	memcpy(&udp, frame + header - sizeof(udp), sizeof(udp));
	bytes = ntohs(udp.len);
	if (bytes < sizeof(udp) || bytes > length - header + sizeof(udp))
		return false;
	if (udp.check != 0 && udp_checksum(ends, frame + header - sizeof(udp), bytes) != 0)
		return false;
	*datagram = (struct frame_datagram){.payload = frame + header,
		.length = bytes - sizeof(udp),
		.from = ntohs(udp.source),
		.to = ntohs(udp.dest),
		.marked = is_marked(ends, frame + sizeof(ether))};
	return true;
}
