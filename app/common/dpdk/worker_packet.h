/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORKER_PACKET_H
#define WORKER_PACKET_H

/** @file Packets of an aggregation's workers: written, and the switch's replies read. */

#include <rte_mbuf.h>

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "dpdk/flow.h"

/** What stands behind the header of a message. */
struct worker_body {
	const void *bytes; /**< values; NULL: nothing that is not written by who calls */
	uint32_t length;
	uint16_t sum;                        /**< of the bytes, RFC 1071, words as in memory */
	const struct aggregate_tag_key *key; /**< of the tag behind it; NULL: none */
};

/** A reply. */
struct worker_reply {
	struct aggregate_message message;
	const uint8_t *payload;
	uint32_t length;           /**< of the payload, its tag included */
	uint16_t src_udp, dst_udp; /**< ports, host order */
	uint8_t dst_ip[IP_BYTES];  /**< as in struct flow */
	bool ip6;
	bool sound; /**< checksums are right, or were not asked for */
};

/** Bytes of a frame with such a body. */
static inline uint32_t
worker_packet_bytes(const struct flow *flow, uint32_t body)
{
	return flow_payload_offset(flow) + AGGREGATE_HEADER_BYTES + body;
}

/**
 * Write a request: Ethernet, IP and UDP headers, a message and its body, with checksums.
 *
 * @param mbuf an empty one with space for worker_packet_bytes()
 * @param flow from the worker to the shard
 */
void worker_packet_write(struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body);

/**
 * Write a join or a leave.
 *
 * @param key of its tag; NULL: none
 */
void worker_packet_write_short(struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct aggregate_tag_key *key);

/** The sum of a written packet's UDP pseudo header. */
uint64_t worker_packet_pseudo_sum(const struct rte_mbuf *mbuf, const struct flow *flow);

/**
 * Read a packet.
 *
 * @param mbuf in one segment
 * @param verify compute its checksums
 * @return whether it is a reply of an aggregation
 */
bool worker_packet_read(const struct rte_mbuf *mbuf, bool verify, struct worker_reply *reply);

#endif /* WORKER_PACKET_H */
