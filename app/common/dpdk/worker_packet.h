/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORKER_PACKET_H
#define WORKER_PACKET_H

/**
 * @file
 * Packets of an aggregation's workers: good and bad ones are written, the switch's replies are
 * read.
 */

#include <aggregate_tag.h>
#include <aggregate_wire.h>
#include <rte_mbuf.h>

#include "dpdk/flow.h"

/** The body of a message, after its header. */
struct worker_body {
	const void *bytes; /**< values; NULL: the caller writes them */
	uint32_t length;
	uint16_t sum;                        /**< of the bytes, RFC 1071, words as in memory */
	const struct aggregate_tag_key *key; /**< of the tag after it; NULL: none */
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

/** Keys of the tags of workers, of both directions: of joins, and of their job's session. */
struct worker_keys;

/**
 * Read a packet, and check its checksums.
 *
 * @param mbuf in one segment
 * @param keys NULL: packets have no tags; see worker_keys_verify()
 * @return whether it is a reply of an aggregation
 */
bool worker_packet_read(
	const struct rte_mbuf *mbuf, const struct worker_keys *keys, struct worker_reply *reply);

/**
 * Make those of joins.
 *
 * @param secret made of the cluster's key; lives longer
 * @return NULL: out of memory
 */
struct worker_keys *worker_keys_create(const struct aggregate_secret *secret);

/** Make those of a session that was granted. */
void worker_keys_set_session(struct worker_keys *keys, uint16_t job, uint64_t session);

/** The key of a request's tag; NULL if there are no keys. */
const struct aggregate_tag_key *worker_keys_of(const struct worker_keys *keys, uint8_t op);

/** Whether a reply has a good tag, or needs none. Chunk numbers have no more than 32 bits. */
bool worker_keys_verify(const struct worker_keys *keys, const struct worker_reply *reply);

/** Bytes of a tag: 0 where there are no keys. */
static inline uint32_t
worker_keys_bytes(const struct worker_keys *keys)
{
	return keys == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/** Clear and free them. NULL is allowed. */
void worker_keys_free(struct worker_keys *keys);

/**
 * Packets that an aggregation must not take, each like a good one except for one thing:
 * X(symbol, name, meaning).
 */
#define BAD_PACKET_KINDS(X)                                                       \
	X(SESSION, stale_session, "with another session: dropped")                \
	X(WORKER, unknown_worker, "of a worker that is not in the job: dropped")  \
	X(ADDRESS, wrong_address, "from an address that has not joined: dropped") \
	X(MAGIC, not_netfc, "without the magic number: dropped")                  \
	X(CHECKSUM, wrong_checksum, "with a wrong UDP checksum: dropped")         \
	X(LENGTH, length, "shorter than its values: answered so")                 \
	X(JOB, no_job, "of a job that there is not: answered so")

enum bad_packet {
#define BAD_PACKET_ENUM_(symbol, name, meaning) BAD_##symbol,
	BAD_PACKET_KINDS(BAD_PACKET_ENUM_)
#undef BAD_PACKET_ENUM_
	BAD_PACKETS
};

/** The name of a kind: "stale_session". */
const char *bad_packet_name(enum bad_packet kind);

/**
 * Write a bad packet.
 *
 * @param flow, message, body as worker_packet_write() takes them for the good one; no worker's
 *   number is higher than 254, no job's than 65534, no address has the second byte 66
 */
void bad_packet_write(enum bad_packet kind, struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body);

#endif /* WORKER_PACKET_H */
