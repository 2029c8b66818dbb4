/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PARSE_BURST_H
#define PARSE_BURST_H

/**
 * @file
 * The first half of classify_burst.c: a burst's headers up to UDP, a column of 16-bit words for
 * each field. See frame.h for what is to be found.
 */

#include <netinet/in.h>
#include <stddef.h>

#include <rte_ether.h>
#include <rte_prefetch.h>

#include <netfc_wire.h>

#include "bytes.h"
#include "classify.h"
#include "columns.h"

/* Bytes that are always read: two tags and what follows them. */
#define MIN_LENGTH (ETHERNET_BYTES + 2 * TAG_BYTES + FRAME_CONTIGUOUS_BYTES)
/* From the start of the UDP header to the end of a request's count of lanes. */
#define REQUEST_BYTES 18
#define ETHERNET_BYTES 14
#define TAG_BYTES 4
#define UDP_BYTES 8
#define NETFC_BYTES 12
#define IPV4_HDR_BYTES 20
#define IPV6_HDR_BYTES 40
/* The shortest payload whose status byte can be answered in. */
#define ANSWERABLE_BYTES 6
/* No product of so many lanes and their bytes is too great for 16 bits. */
#define MAX_LANES (UINT16_MAX / NETFC_LANE_BYTES)
#define VLAN_ID_MASK 0x0fff
/* Flags and offset of a fragment, in host order. */
#define FRAGMENT_MASK 0x3fff

_Static_assert(sizeof(struct netfc_hdr) == NETFC_BYTES, "as on the wire");

/* Words of a row, each two bytes as they stand in the packet. */
enum ethernet_word { /* from the ether type on; with a tag, the network words follow it */
	ETHERNET_TYPE,
	ETHERNET_TAG,
	ETHERNET_INNER_TYPE,
};

enum network_word { /* from two bytes before the network header on */
	NETWORK_TYPE,
	NETWORK_START, /* version and header length in the first byte */
	NETWORK_IPV4_LENGTH,
	NETWORK_IPV6_LENGTH,
	NETWORK_BYTES_6, /* IPv4: flags and fragment offset; IPv6: next header, hop limit */
	NETWORK_BYTES_8, /* IPv4: time to live, protocol */
	NETWORK_WORDS,
};

enum request_word { /* from the UDP destination port on */
	REQUEST_PORT,
	REQUEST_LENGTH,
	REQUEST_CHECKSUM,
	REQUEST_MAGIC,
	REQUEST_VERSION_OP,
	REQUEST_FORMAT_STATUS,
	REQUEST_LANES,
};

/* The words of a struct frame. */
enum frame_word {
	FRAME_NETWORK_FLAGS,
	FRAME_VLAN,
	FRAME_ETHER_TYPE,
	FRAME_NETWORK_OFFSET,
	FRAME_UDP_OFFSET,
	FRAME_PAYLOAD_LENGTH,
	FRAME_UDP_PORT,
	FRAME_CHECKSUM,
};

#define FRAME_WORD_IS_(word, field) \
	_Static_assert(offsetof(struct frame, field) == 2 * (word), "as struct frame has it")

FRAME_WORD_IS_(FRAME_NETWORK_FLAGS, network);
FRAME_WORD_IS_(FRAME_VLAN, vlan);
FRAME_WORD_IS_(FRAME_ETHER_TYPE, ether_type);
FRAME_WORD_IS_(FRAME_NETWORK_OFFSET, network_offset);
FRAME_WORD_IS_(FRAME_UDP_OFFSET, udp_offset);
FRAME_WORD_IS_(FRAME_PAYLOAD_LENGTH, payload_length);
FRAME_WORD_IS_(FRAME_UDP_PORT, udp_port);
FRAME_WORD_IS_(FRAME_CHECKSUM, checksum);
_Static_assert(sizeof(struct frame) == 2 * ROWS, "a row");

/* struct frame's network and, above it, its flags. */
#define FRAME_UDP 0x100
#define FRAME_NETFC_PORT 0x200
#define FRAME_ANSWERED 0x400
#define FRAME_CONTIGUOUS 0x1000

/* What is known of the packets of a burst so far. */
struct burst {
	uint8_t *bytes[CLASSIFY_BURST];
	uint64_t in_class[CLASSES];      /* a bit for each packet; CLASS_FORWARD is left out */
	uint64_t others;                 /* likewise: requests of groups that are not gathered */
	uint8_t may_be_requests;         /* a bit for each vector: some of its packets */
	column any, all, gathered_lanes; /* see struct gathered; vectors apart */
	struct columns frame;
	uint16_t length[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* 0: for the slow path */
	uint16_t network_offset[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t udp_offset[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t request_at[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* in the segment */
	uint16_t space[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* for UDP; 0: there is none */
	uint16_t is_slow[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t group[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t lanes[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
};

_Static_assert(CLASSIFY_BURST / COLUMN <= 8, "a byte has a bit for each vector of a burst");

/* Frames too short for all that is read, or in several segments, stand as zeros. */
static const uint8_t no_frame[MIN_LENGTH + REQUEST_BYTES];

/* After the UDP header that was found. */
static __rte_always_inline uint8_t *
payload_of(const struct burst *burst, size_t p)
{
	return burst->bytes[p] + burst->request_at[p] + UDP_BYTES;
}

static __rte_always_inline void
load_packets(struct burst *burst, struct rte_mbuf **mbufs, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		uint8_t *bytes = rte_pktmbuf_mtod(mbufs[p], uint8_t *);
		uint16_t length = rte_pktmbuf_data_len(mbufs[p]);

		/* All are fetched before any is read. */
		rte_prefetch0(bytes);
		if (unlikely(length < MIN_LENGTH || length != rte_pktmbuf_pkt_len(mbufs[p]))) {
			/* Nothing is written where the class is CLASS_SLOW. */
			bytes = (uint8_t *)(uintptr_t)no_frame;
			length = 0;
		}
		burst->bytes[p] = bytes;
		burst->length[p] = length;
	}
	/* What is computed of the rest of a vector's packets is not used. */
	for (unsigned int p = count; p % COLUMN != 0; p++) {
		burst->bytes[p] = (uint8_t *)(uintptr_t)no_frame;
		burst->length[p] = 0;
	}
}

static __rte_always_inline column
if_tag(column type)
{
	return column_equals(type, RTE_BE16(RTE_ETHER_TYPE_VLAN)) |
		column_equals(type, RTE_BE16(RTE_ETHER_TYPE_QINQ));
}

/* A bit of a vector's if the condition holds for some of its packets. */
static __rte_always_inline uint8_t
some_of(unsigned int p, column condition)
{
	return (uint8_t)((column_bits(condition) != 0) << p / COLUMN);
}

static __rte_always_inline bool
is_some(uint8_t vectors, unsigned int p)
{
	return (vectors >> p / COLUMN & 1) != 0;
}

/* No packet of a vector has a tag or is IP. */
static __rte_always_inline void
find_no_ip(struct burst *burst, unsigned int p)
{
	column_store(burst->request_at + p, column_of(0));
	column_store(burst->is_slow + p, column_equals(column_load(burst->length + p), 0));
	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p, column_of(FRAME_CONTIGUOUS));
	columns_store(&burst->frame, FRAME_NETWORK_OFFSET, p, column_of(ETHERNET_BYTES));
}

/* Lengths must fit those around them, see frame.h. */
static __rte_always_inline void
find_udp(struct burst *burst, unsigned int p, const column *network)
{
	const column type = network[NETWORK_TYPE], start = network[NETWORK_START];
	const column bytes_6 = network[NETWORK_BYTES_6], bytes_8 = network[NETWORK_BYTES_8];
	const column header_words = start & 0xf, version = start & 0xf0;
	const column ipv4 = column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV4)) &
		column_equals(version, 0x40) & column_at_least(header_words, IPV4_HDR_BYTES / 4);
	const column ipv6 =
		column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV6)) & column_equals(version, 0x60);
	const column header = column_choose(ipv4, header_words * 4, column_of(IPV6_HDR_BYTES));
	const column length = column_swap(
		column_choose(ipv4, network[NETWORK_IPV4_LENGTH], network[NETWORK_IPV6_LENGTH]));
	const column network_offset = column_load(burst->network_offset + p);
	const column frame = column_load(burst->length + p);
	const column is_slow = column_equals(frame, 0);
	const column segment = column_choose(is_slow, column_of(MIN_LENGTH), frame);
	/* What IPv6 calls its length does not count its header. */
	const column besides = network_offset + column_choose(ipv4, column_of(0), header);
	const column payload = column_choose(ipv4, length - header, length);
	const column sound = ipv6 | (ipv4 & (column)(length >= header));
	const column fits = (column)(segment >= besides) & (column)(segment - besides >= length);
	const column udp = column_choose(ipv4,
		column_equals(bytes_6 & RTE_BE16(FRAGMENT_MASK), 0) &
			column_equals(bytes_8 >> 8, IPPROTO_UDP),
		column_equals(bytes_6 & 0xff, IPPROTO_UDP));
	const column offset = network_offset + header, last = segment - REQUEST_BYTES;
	const column near_end = (column)(offset > last);
	const column is_ip = sound & fits, space = is_ip & udp & ~near_end & payload;
	/* As is_contiguous() of frame.c. */
	const column contiguous =
		column_choose(ipv6 & is_ip, (column)(segment - offset >= column_of(UDP_BYTES)),
			~(ipv4 & is_ip & udp) | column_equals(header_words, IPV4_HDR_BYTES / 4));

	column_store(burst->udp_offset + p, offset);
	column_store(burst->request_at + p, column_choose(near_end, last, offset));
	column_store(burst->space + p, space);
	burst->may_be_requests |= some_of(p, ~column_equals(space, 0));
	column_store(burst->is_slow + p, is_slow | (is_ip & udp & near_end));
	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p,
		(is_ip & ((ipv4 & FRAME_IPV4) | (ipv6 & FRAME_IPV6))) |
			(contiguous & FRAME_CONTIGUOUS));
	columns_store(&burst->frame, FRAME_ETHER_TYPE, p, column_swap(type));
	columns_store(&burst->frame, FRAME_NETWORK_OFFSET, p, network_offset);
}

/*
 * What stands after the tags. With one tag at most, all of it has been read with the ether
 * type.
 */
static __rte_always_inline void
read_network(const struct burst *burst, unsigned int p, const column *ethernet, column tagged,
	column twice, column *network)
{
	const struct place place = {burst->bytes, burst->network_offset, -2};

	if (column_bits(twice) != 0) {
		columns_read(&place, p, network);
		return;
	}
	for (unsigned int w = 0; w < NETWORK_WORDS; w++)
		network[w] = column_choose(
			tagged, ethernet[ETHERNET_INNER_TYPE + w], ethernet[ETHERNET_TYPE + w]);
}

static __rte_always_inline void
find_network(struct burst *burst, unsigned int p, const column *ethernet)
{
	const column type = ethernet[ETHERNET_TYPE], tagged = if_tag(type);
	const column twice = tagged & if_tag(ethernet[ETHERNET_INNER_TYPE]);
	const column tag = column_swap(ethernet[ETHERNET_TAG]);
	const column may_be_ip = tagged | column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV4)) |
		column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV6));
	column network[ROWS];

	column_store(burst->network_offset + p,
		ETHERNET_BYTES + (tagged & TAG_BYTES) + (twice & TAG_BYTES));
	columns_store(&burst->frame, FRAME_VLAN, p, tagged & tag & VLAN_ID_MASK);
	if (column_bits(may_be_ip) == 0) {
		columns_store(&burst->frame, FRAME_ETHER_TYPE, p, column_swap(type));
		find_no_ip(burst, p);
		return;
	}
	read_network(burst, p, ethernet, tagged, twice, network);
	find_udp(burst, p, network);
}

/* What each packet of the burst is, up to UDP. */
static __rte_always_inline void
find_frames(struct burst *burst, struct rte_mbuf **mbufs, unsigned int count)
{
	const struct place ethernet = {burst->bytes, NULL, ETHERNET_BYTES - 2};
	column words[ROWS];

	memset(burst->in_class, 0, sizeof(burst->in_class));
	burst->others = 0;
	burst->may_be_requests = 0;
	burst->any = burst->gathered_lanes = column_of(0);
	burst->all = column_of(UINT16_MAX);
	load_packets(burst, mbufs, count);
	for (unsigned int p = 0; p < count; p += COLUMN) {
		columns_read(&ethernet, p, words);
		find_network(burst, p, words);
	}
}

#endif /* PARSE_BURST_H */
