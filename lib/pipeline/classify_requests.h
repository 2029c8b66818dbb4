/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLASSIFY_REQUESTS_H
#define CLASSIFY_REQUESTS_H

/**
 * @file
 * The second half of classify_burst.c: which of a burst's datagrams are requests, and of what
 * class. See slow_path.c for what a request is.
 */

#include "parse_burst.h"
#include "kernel_groups.h"

static __rte_always_inline column
if_loaded(const struct classifier *classifier, column format)
{
	column loaded = column_of(0);

	for (unsigned int f = 0; f < NETFC_FORMAT_END; f++)
		loaded |= column_equals(format, (uint16_t)f) & column_load(classifier->loaded[f]);
	return loaded;
}

/* Whether a request has the version that it should, and the length that lanes of 8 bits have. */
static __rte_always_inline column
if_sound(column version_op, column payload, column lanes)
{
	return column_equals(version_op & 0xff, NETFC_WIRE_VERSION) & column_at_least(lanes, 1) &
		column_at_most(lanes, MAX_LANES) &
		(column)(payload - NETFC_BYTES >= lanes * NETFC_NARROW_LANE_BYTES);
}

/* Whether a request is of a group whose lanes may be gathered, of 16 bits. */
static __rte_always_inline column
if_gathered(
	const struct classifier *classifier, column op, column format, column payload, column lanes)
{
	return column_at_least(op, NETFC_ADD) & column_at_most(op, NETFC_DIV) &
		if_loaded(classifier, format) &
		(column)(payload - NETFC_BYTES >= lanes * NETFC_LANE_BYTES);
}

/* Whether a datagram without an error asks; one to the port of requests is read. */
static __rte_always_inline column
if_asks(const column *request)
{
	return column_equals(request[REQUEST_MAGIC], RTE_BE16(NETFC_MAGIC)) &
		column_equals(request[REQUEST_FORMAT_STATUS] & NETFC_STATUS_REPLY << 8, 0);
}

/* No checksum: over IPv4 it stays so, over IPv6 that is for the slow path. */
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

/* What stands after UDP. */
static __rte_always_inline void
find_requests_of(const struct classifier *classifier, struct burst *burst, unsigned int p,
	const column *words)
{
	const column port = words[REQUEST_PORT], checksum = words[REQUEST_CHECKSUM];
	const column datagram = column_swap(words[REQUEST_LENGTH]);
	const column lanes = column_swap(words[REQUEST_LANES]);
	const column op = words[REQUEST_VERSION_OP] >> 8;
	const column format = words[REQUEST_FORMAT_STATUS] & 0xff;
	const column udp = column_at_least(datagram, UDP_BYTES) &
		(column)(datagram <= column_load(burst->space + p));
	const column payload = udp & (datagram - UDP_BYTES);
	const column netfc_port = udp & (column)(port == column_load(classifier->udp_port));
	const column asks = if_asks(words);
	const column whole = column_at_least(payload, NETFC_BYTES);
	const column sound = netfc_port & whole & asks & if_checked(burst, p, checksum) &
		if_sound(words[REQUEST_VERSION_OP], payload, lanes);
	const column gathered = sound & if_gathered(classifier, op, format, payload, lanes);
	const column slow = column_load(burst->is_slow + p) |
		(netfc_port & column_at_least(payload, ANSWERABLE_BYTES) & (~whole | asks) &
			~sound);
	const column group = format * GATHERED_OPS + op - NETFC_ADD;

	class_requests(burst, p, gathered, lanes, group);
	burst->others |= (uint64_t)column_bits(sound & ~gathered) << p;
	burst->in_class[CLASS_SLOW] |= (uint64_t)column_bits(slow) << p;
	column_store(burst->group + p, group);
	column_store(burst->lanes + p, lanes);
	columns_store(&burst->frame, FRAME_NETWORK_FLAGS, p,
		columns_load(&burst->frame, FRAME_NETWORK_FLAGS, p) | (udp & FRAME_UDP) |
			(netfc_port & FRAME_NETFC_PORT) | (sound & FRAME_ANSWERED));
	columns_store(&burst->frame, FRAME_UDP_OFFSET, p, udp & column_load(burst->udp_offset + p));
	columns_store(&burst->frame, FRAME_PAYLOAD_LENGTH, p, payload);
	columns_store(&burst->frame, FRAME_UDP_PORT, p, udp & column_swap(port));
	columns_store(&burst->frame, FRAME_CHECKSUM, p, sound & checksum);
}

/* No packet of a vector is UDP. */
static __rte_always_inline void
find_no_requests(struct burst *burst, unsigned int p)
{
	const column none = column_of(0);

	burst->in_class[CLASS_SLOW] |= (uint64_t)column_bits(column_load(burst->is_slow + p)) << p;
	column_store(burst->group + p, none);
	column_store(burst->lanes + p, none);
	columns_store(&burst->frame, FRAME_UDP_OFFSET, p, none);
	columns_store(&burst->frame, FRAME_PAYLOAD_LENGTH, p, none);
	columns_store(&burst->frame, FRAME_UDP_PORT, p, none);
	columns_store(&burst->frame, FRAME_CHECKSUM, p, none);
}

/*
 * Requests that are sound, but of no group whose lanes are gathered: computed where they are, if
 * there is such a group, and if they have space for lanes of its width.
 */
static __rte_always_inline void
find_others(const struct groups *groups, struct burst *burst)
{
	for (uint64_t left = burst->others; left != 0; left &= left - 1) {
		const unsigned int p = (unsigned int)__builtin_ctzll(left);
		const struct netfc_hdr *header = (const void *)(payload_of(burst, p));
		const uint32_t bytes = NETFC_BYTES +
			3 * netfc_wire_operand_bytes(header->op, header->format, burst->lanes[p]);
		const uint16_t group = groups_number(groups, header->format, header->op);
		const bool found =
			group != 0 && burst->frame.word[FRAME_PAYLOAD_LENGTH][p] >= bytes;

		burst->group[p] = group;
		burst->in_class[found ? CLASS_IN_PLACE : CLASS_SLOW] |= UINT64_C(1) << p;
	}
}

/* Which of the burst's datagrams are requests, and of what class. */
static __rte_always_inline void
find_requests(const struct classifier *classifier, struct burst *burst, unsigned int count)
{
	const struct place request = {burst->bytes, burst->request_at, 2};
	column words[ROWS];

	for (unsigned int p = 0; p < count; p += COLUMN) {
		if (!is_some(burst->may_be_requests, p)) {
			find_no_requests(burst, p);
			continue;
		}
		columns_read(&request, p, words);
		find_requests_of(classifier, burst, p, words);
	}
	find_others(classifier->groups, burst);
}

#endif /* CLASSIFY_REQUESTS_H */
