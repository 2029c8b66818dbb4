/* SPDX-License-Identifier: BSD-3-Clause */
/* See classify.h; included once for each instruction set. */
#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_prefetch.h>

#include <netfc_wire.h>

#include "branch.h"
#include "bytes.h"
#include "classify.h"
#include "columns.h"
#include "further_groups.h"

/* How many packets ahead bytes are fetched. */
#define PREFETCH 4

/* Bytes that are read whatever they are: two tags, and some behind them. */
#define LEAST_LENGTH (ETHERNET_BYTES + 2 * TAG_BYTES + FRAME_CONTIGUOUS_BYTES)
/* From the start of the UDP header to the end of a request's count of lanes. */
#define REQUEST_BYTES 18
#define ETHERNET_BYTES 14
#define TAG_BYTES 4
#define UDP_BYTES 8
#define NETFC_BYTES 12
#define IPV4_BYTES 20
#define IPV6_BYTES 40
/* The shortest payload whose status byte can be answered in. */
#define ANSWERABLE_BYTES 6
/* No product of so many lanes and their bytes is too great for 16 bits. */
#define MOST_LANES (UINT16_MAX / NETFC_LANE_BYTES)
#define VLAN_ID_MASK 0x0fff
/* Flags and offset of a fragment, in host order. */
#define FRAGMENT_MASK 0x3fff

_Static_assert(sizeof(struct netfc_hdr) == NETFC_BYTES, "as on the wire");

/* Words of a row, each two bytes as they stand in the packet. */
enum ethernet_word { /* from the ether type on */
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

/* struct frame's network and, above it, its flags. */
#define FRAME_UDP 0x100
#define FRAME_NETFC_PORT 0x200
#define FRAME_ANSWERED 0x400
#define FRAME_CONTIGUOUS 0x1000

/* What is known of the packets of a burst so far. */
struct burst {
	uint8_t *bytes[CLASSIFY_BURST];
	uint64_t in_class[CLASSES];         /* a bit for each packet; CLASS_FORWARD is left out */
	uint8_t may_be_ip, may_be_requests; /* a bit for each vector: some of its packets */
	column any, all, gathered_lanes;    /* see struct gathered; vectors apart */
	struct columns frame;
	uint16_t length[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* of the first segment */
	uint16_t is_cut[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* 1: there are more */
	uint16_t network_offset[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t udp_offset[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t request_at[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* in the segment */
	uint16_t space[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES); /* for UDP; 0: there is none */
	uint16_t is_walk[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t group[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
	uint16_t lanes[CLASSIFY_BURST] __rte_aligned(COLUMN_BYTES);
};

_Static_assert(CLASSIFY_BURST / COLUMN <= 8, "a byte has a bit for each vector of a burst");

/* Frames too short for all that is read stand as zeros until they are walked. */
static const uint8_t no_frame[LEAST_LENGTH + REQUEST_BYTES];

static __rte_always_inline void
load_packets(struct burst *burst, struct rte_mbuf **mbufs, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		uint8_t *bytes = rte_pktmbuf_mtod(mbufs[p], uint8_t *);
		const uint16_t length = rte_pktmbuf_data_len(mbufs[p]);
		const bool is_short = length < LEAST_LENGTH;

		if (p + PREFETCH < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[p + PREFETCH], void *));
		/* Nothing is written where the class is CLASS_WALK. */
		burst->bytes[p] = is_short ? (uint8_t *)(uintptr_t)no_frame : bytes;
		burst->length[p] = length;
		burst->is_cut[p] = rte_pktmbuf_pkt_len(mbufs[p]) != length;
	}
	/* What is computed of the rest of a vector's packets is not used. */
	for (unsigned int p = count; p % COLUMN != 0; p++) {
		burst->bytes[p] = (uint8_t *)(uintptr_t)no_frame;
		burst->length[p] = LEAST_LENGTH;
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

static __rte_always_inline void
find_network(struct burst *burst, unsigned int p, const column *ethernet)
{
	const column type = ethernet[ETHERNET_TYPE], tagged = if_tag(type);
	const column twice = tagged & if_tag(ethernet[ETHERNET_INNER_TYPE]);
	const column tag = column_swap(ethernet[ETHERNET_TAG]);

	column_store(burst->network_offset + p,
		ETHERNET_BYTES + (tagged & TAG_BYTES) + (twice & TAG_BYTES));
	columns_store(&burst->frame, FRAME_VLAN, p, tagged & tag & VLAN_ID_MASK);
	columns_store(&burst->frame, FRAME_ETHER_TYPE, p, column_swap(type));
	burst->may_be_ip |= some_of(p,
		tagged | column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV4)) |
			column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV6)));
}

/* No packet of a vector has a tag or is IP. */
static __rte_always_inline void
find_no_ip(struct burst *burst, unsigned int p)
{
	const column length = column_load(burst->length + p);

	column_store(burst->request_at + p, column_of(0));
	column_store(burst->is_walk + p, column_at_most(length, LEAST_LENGTH - 1));
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
		column_equals(version, 0x40) & column_at_least(header_words, IPV4_BYTES / 4);
	const column ipv6 =
		column_equals(type, RTE_BE16(RTE_ETHER_TYPE_IPV6)) & column_equals(version, 0x60);
	const column header = column_choose(ipv4, header_words * 4, column_of(IPV6_BYTES));
	const column length = column_swap(
		column_choose(ipv4, network[NETWORK_IPV4_LENGTH], network[NETWORK_IPV6_LENGTH]));
	const column network_offset = column_load(burst->network_offset + p);
	const column length_of = column_load(burst->length + p);
	const column is_short = column_at_most(length_of, LEAST_LENGTH - 1);
	const column segment = column_choose(is_short, column_of(LEAST_LENGTH), length_of);
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
			~(ipv4 & is_ip & udp) | column_equals(header_words, IPV4_BYTES / 4));

	column_store(burst->udp_offset + p, offset);
	column_store(burst->request_at + p, column_choose(near_end, last, offset));
	column_store(burst->space + p, space);
	burst->may_be_requests |= some_of(p, ~column_equals(space, 0));
	column_store(burst->is_walk + p,
		is_short | (is_ip & udp & near_end) |
			(sound & ~fits & column_equals(column_load(burst->is_cut + p), 1)));
	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p,
		(is_ip & ((ipv4 & FRAME_IPV4) | (ipv6 & FRAME_IPV6))) |
			(contiguous & FRAME_CONTIGUOUS));
	columns_store(&burst->frame, FRAME_ETHER_TYPE, p, column_swap(type));
	columns_store(&burst->frame, FRAME_NETWORK_OFFSET, p, network_offset);
}

static __rte_always_inline column
if_loaded(const struct classifier *classifier, column format)
{
	column loaded = column_of(0);

	for (unsigned int f = 0; f < NETFC_FORMAT_END; f++)
		loaded |= column_equals(format, (uint16_t)f) & column_load(classifier->loaded[f]);
	return loaded;
}

/* Whether a request has the version and the length that it should. */
static __rte_always_inline column
if_sound(column version_op, column payload, column lanes)
{
	return column_equals(version_op & 0xff, NETFC_WIRE_VERSION) & column_at_least(lanes, 1) &
		column_at_most(lanes, MOST_LANES) &
		(column)(payload - NETFC_BYTES >= lanes * NETFC_LANE_BYTES);
}

/* Whether a request is of one of the four operations, and can be computed. */
static __rte_always_inline column
if_right(const struct classifier *classifier, const column *request, column payload, column lanes)
{
	const column version_op = request[REQUEST_VERSION_OP], op = version_op >> 8;
	const column format = request[REQUEST_FORMAT_STATUS] & 0xff;

	return column_at_least(op, NETFC_ADD) & column_at_most(op, NETFC_DIV) &
		if_loaded(classifier, format) & if_sound(version_op, payload, lanes);
}

/* Whether a datagram without an error asks; one to the port of requests is read. */
static __rte_always_inline column
if_asks(const column *request)
{
	return column_equals(request[REQUEST_MAGIC], RTE_BE16(NETFC_MAGIC)) &
		column_equals(request[REQUEST_FORMAT_STATUS] & NETFC_STATUS_REPLY << 8, 0);
}

/* No checksum: over IPv4 it stays so, over IPv6 it is walked. */
static __rte_always_inline column
if_checked(const struct burst *burst, unsigned int p, column checksum)
{
	return ~column_equals(checksum, 0) |
		column_equals(
			columns_load(&burst->frame, FRAME_NETWORK_FLAGS, p) & 0xff, FRAME_IPV4);
}

static __rte_always_inline void
class_requests(struct burst *burst, unsigned int p, column request, column lanes, column group)
{
	const column gathered = request & column_at_most(lanes, CLASSIFY_GATHERED);
	const uint64_t all = column_bits(request), several = column_bits(column_at_least(lanes, 2));
	const uint64_t above_8 = column_bits(column_at_least(lanes, CLASSIFY_GATHERED / 2 + 1));
	const uint64_t above_16 = column_bits(column_at_least(lanes, CLASSIFY_GATHERED + 1));

	burst->in_class[CLASS_SINGLE] |= (all & ~several) << p;
	burst->in_class[CLASS_LANES_8] |= (all & several & ~above_8) << p;
	burst->in_class[CLASS_LANES_16] |= (all & above_8 & ~above_16) << p;
	burst->in_class[CLASS_IN_PLACE] |= (all & above_16) << p;
	burst->any |= gathered & group;
	burst->all &= ~gathered | group;
	burst->gathered_lanes += gathered & lanes;
}

/* What stands behind UDP. */
static __rte_always_inline void
find_requests(const struct classifier *classifier, struct burst *burst, unsigned int p,
	const column *words)
{
	const column port = words[REQUEST_PORT], checksum = words[REQUEST_CHECKSUM];
	const column datagram = column_swap(words[REQUEST_LENGTH]);
	const column lanes = column_swap(words[REQUEST_LANES]);
	const column version_op = words[REQUEST_VERSION_OP];
	const column format_status = words[REQUEST_FORMAT_STATUS];
	const column udp = column_at_least(datagram, UDP_BYTES) &
		(column)(datagram <= column_load(burst->space + p));
	const column payload = udp & (datagram - UDP_BYTES);
	const column netfc_port = udp & (column)(port == column_load(classifier->udp_port));
	const column asks = if_asks(words);
	const column whole = column_at_least(payload, NETFC_BYTES);
	const column checked = if_checked(burst, p, checksum);
	const column request =
		netfc_port & whole & asks & checked & if_right(classifier, words, payload, lanes);
	const column walk = column_load(burst->is_walk + p) |
		(netfc_port & column_at_least(payload, ANSWERABLE_BYTES) & (~whole | asks) &
			~request);

	const column group = (format_status & 0xff) * BRANCH_OPS + (version_op >> 8) - NETFC_ADD;

	class_requests(burst, p, request, lanes, group);
	burst->in_class[CLASS_WALK] |= (uint64_t)column_bits(walk) << p;
	column_store(burst->group + p, group);
	column_store(burst->lanes + p, lanes);
	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p,
		columns_load(&burst->frame, FRAME_NETWORK_FLAGS, p) | (udp & FRAME_UDP) |
			(netfc_port & FRAME_NETFC_PORT) | (request & FRAME_ANSWERED));
	columns_store(&burst->frame, FRAME_UDP_OFFSET, p, udp & column_load(burst->udp_offset + p));
	columns_store(&burst->frame, FRAME_PAYLOAD_LENGTH, p, payload);
	columns_store(&burst->frame, FRAME_UDP_PORT, p, udp & column_swap(port));
	columns_store(&burst->frame, FRAME_CHECKSUM, p, request & checksum);
}

/* No packet of a vector is UDP. */
static __rte_always_inline void
find_no_requests(struct burst *burst, unsigned int p)
{
	const column none = column_of(0);

	burst->in_class[CLASS_WALK] |= (uint64_t)column_bits(column_load(burst->is_walk + p)) << p;
	column_store(burst->group + p, none);
	column_store(burst->lanes + p, none);
	columns_store(&burst->frame, FRAME_UDP_OFFSET, p, none);
	columns_store(&burst->frame, FRAME_PAYLOAD_LENGTH, p, none);
	columns_store(&burst->frame, FRAME_UDP_PORT, p, none);
	columns_store(&burst->frame, FRAME_CHECKSUM, p, none);
}

/* Take those requests from the walk that are of further operations. Returns all bits for each. */
static __rte_always_inline column
take_further(const struct further_groups *further, struct burst *burst, unsigned int p,
	uint32_t sound, const column *words)
{
	uint16_t taken[COLUMN], version_op[COLUMN], format_status[COLUMN];

	column_store(taken, column_of(0));
	column_store(version_op, words[REQUEST_VERSION_OP]);
	column_store(format_status, words[REQUEST_FORMAT_STATUS]);
	for (; sound != 0; sound &= sound - 1) {
		const unsigned int w = (unsigned int)__builtin_ctz(sound);
		const uint16_t group =
			further_group(further, format_status[w] & 0xff, version_op[w] >> 8);

		if (group == 0)
			continue;
		taken[w] = UINT16_MAX;
		burst->group[p + w] = group;
		burst->in_class[CLASS_WALK] &= ~(UINT64_C(1) << (p + w));
		burst->in_class[CLASS_FURTHER] |= UINT64_C(1) << (p + w);
	}
	return column_load(taken);
}

/*
 * What is to be walked of a vector may be requests of further operations. They are looked for on
 * their own, so that bursts without any take no longer for it. find_requests() has been there.
 */
static __rte_always_inline void
find_further(const struct classifier *classifier, struct burst *burst, unsigned int p,
	const column *words)
{
	const column flags = columns_load(&burst->frame, FRAME_NETWORK_FLAGS, p);
	const column payload = columns_load(&burst->frame, FRAME_PAYLOAD_LENGTH, p);
	const column sound = ~column_equals(flags & FRAME_NETFC_PORT, 0) &
		column_at_least(payload, NETFC_BYTES) & if_asks(words) &
		if_checked(burst, p, words[REQUEST_CHECKSUM]) &
		if_sound(words[REQUEST_VERSION_OP], payload, column_load(burst->lanes + p));
	const uint32_t walked = (uint32_t)(burst->in_class[CLASS_WALK] >> p);
	const column request =
		take_further(classifier->further, burst, p, column_bits(sound) & walked, words);

	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p, flags | (request & FRAME_ANSWERED));
	columns_store(&burst->frame, FRAME_CHECKSUM, p,
		columns_load(&burst->frame, FRAME_CHECKSUM, p) |
			(request & words[REQUEST_CHECKSUM]));
}

static __rte_always_inline void
list_class(const struct burst *burst, struct classified *classified, unsigned int class,
	unsigned int first, unsigned int count)
{
	uint64_t left = burst->in_class[class] & UINT64_MAX >> (CLASSIFY_BURST - count);
	uint8_t *listed = classified->packet[class] + classified->count[class];

	classified->count[class] += (unsigned int)__builtin_popcountll(left);
	for (; left != 0; left &= left - 1)
		*listed++ = (uint8_t)(first + (unsigned int)__builtin_ctzll(left));
}

/* Put packets on the lists of their classes; the first packet's index is `first`. */
static __rte_always_inline void
list_packets(const struct burst *burst, struct classified *classified, unsigned int first,
	unsigned int count)
{
	for (unsigned int class = CLASS_WALK; class < CLASS_FURTHER; class ++)
		list_class(burst, classified, class, first, count);
	if (burst->in_class[CLASS_FURTHER] != 0)
		list_class(burst, classified, CLASS_FURTHER, first, count);
}

/* Over the packets of a vector. */
static __rte_always_inline struct gathered
sum_up(const struct burst *burst)
{
	uint16_t any[COLUMN], all[COLUMN], lanes[COLUMN];
	struct gathered gathered = {.all = UINT16_MAX};

	column_store(any, burst->any);
	column_store(all, burst->all);
	column_store(lanes, burst->gathered_lanes);
	for (unsigned int w = 0; w < COLUMN; w++) {
		gathered.any |= any[w];
		gathered.all &= all[w];
		gathered.lanes = (uint16_t)(gathered.lanes + lanes[w]);
	}
	return gathered;
}

/* Vectors may go on behind the last packet of all, where they are not used. */
static __rte_always_inline void
describe_packets(const struct burst *burst, struct classified *classified, unsigned int first,
	unsigned int count)
{
	uint8_t **payload = classified->payload + first;

	for (unsigned int p = 0; p < count; p += COLUMN) {
		column_store(classified->group + first + p, column_load(burst->group + p));
		column_store(classified->lanes + first + p, column_load(burst->lanes + p));
	}
	for (size_t p = 0; p < count; p++)
		payload[p] = burst->bytes[p] + burst->request_at[p] + UDP_BYTES;
}

static __rte_always_inline void
write_frames(const struct burst *burst, struct frame *frames, unsigned int count)
{
	struct frame last[COLUMN];
	unsigned int p;

	for (p = 0; p + COLUMN <= count; p += COLUMN)
		columns_write(&burst->frame, (uint8_t *)&frames[p], p);
	if (p == count)
		return;
	columns_write(&burst->frame, (uint8_t *)last, p);
	memcpy(&frames[p], last, (count - p) * sizeof(last[0]));
}

void
CLASSIFY(const struct classifier *classifier, struct rte_mbuf **mbufs, struct frame *frames,
	unsigned int first, unsigned int end, struct classified *classified)
{
	const unsigned int count = end - first;
	struct burst burst;
	const struct place ethernet = {burst.bytes, NULL, ETHERNET_BYTES - 2};
	const struct place network = {burst.bytes, burst.network_offset, -2};
	const struct place request = {burst.bytes, burst.request_at, 2};
	column words[ROWS];

	memset(burst.in_class, 0, sizeof(burst.in_class));
	burst.may_be_ip = burst.may_be_requests = 0;
	burst.any = burst.gathered_lanes = column_of(0);
	burst.all = column_of(UINT16_MAX);
	load_packets(&burst, mbufs + first, count);
	for (unsigned int p = 0; p < count; p += COLUMN) {
		columns_read(&ethernet, p, words);
		find_network(&burst, p, words);
	}
	for (unsigned int p = 0; p < count; p += COLUMN) {
		if (!is_some(burst.may_be_ip, p)) {
			find_no_ip(&burst, p);
			continue;
		}
		columns_read(&network, p, words);
		find_udp(&burst, p, words);
	}
	for (unsigned int p = 0; p < count; p += COLUMN) {
		if (!is_some(burst.may_be_requests, p)) {
			find_no_requests(&burst, p);
			continue;
		}
		columns_read(&request, p, words);
		find_requests(classifier, &burst, p, words);
	}
	for (unsigned int p = 0; burst.in_class[CLASS_WALK] != 0 && p < count; p += COLUMN) {
		if (!is_some(burst.may_be_requests, p))
			continue;
		columns_read(&request, p, words);
		find_further(classifier, &burst, p, words);
	}
	write_frames(&burst, frames + first, count);
	describe_packets(&burst, classified, first, count);
	list_packets(&burst, classified, first, count);
	classified_add(classified, sum_up(&burst));
}
