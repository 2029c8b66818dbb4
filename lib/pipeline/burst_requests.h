/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BURST_REQUESTS_H
#define BURST_REQUESTS_H

/**
 * @file
 * The second half of classify_burst.h: which of a burst's datagrams are requests, and of what
 * class. See request.h for what a request is.
 */

#include "burst_frames.h"
#include "further_groups.h"

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

/* Whether a request that is sound has space for lanes of 32 bits, or needs none. */
static __rte_always_inline column
if_wide_enough(column format, column payload, column lanes)
{
	return ~column_equals(format, NETFC_FP32) |
		(column_at_most(lanes, MOST_WIDE_LANES) &
			(column)(payload - NETFC_BYTES >= lanes * NETFC_WIDE_LANE_BYTES));
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
	const column lanes = column_load(burst->lanes + p);
	const column sound = ~column_equals(flags & FRAME_NETFC_PORT, 0) &
		column_at_least(payload, NETFC_BYTES) & if_asks(words) &
		if_checked(burst, p, words[REQUEST_CHECKSUM]) &
		if_sound(words[REQUEST_VERSION_OP], payload, lanes) &
		if_wide_enough(words[REQUEST_FORMAT_STATUS] & 0xff, payload, lanes);
	const uint32_t walked = (uint32_t)(burst->in_class[CLASS_WALK] >> p);
	const column request =
		take_further(classifier->further, burst, p, column_bits(sound) & walked, words);

	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p, flags | (request & FRAME_ANSWERED));
	columns_store(&burst->frame, FRAME_CHECKSUM, p,
		columns_load(&burst->frame, FRAME_CHECKSUM, p) |
			(request & words[REQUEST_CHECKSUM]));
}

#endif /* BURST_REQUESTS_H */
