/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BAD_PACKET_H
#define BAD_PACKET_H

/** @file Packets that an aggregation must not take, each like a good one but for one thing. */

#include "dpdk/worker_packet.h"

/** Kinds: X(symbol, name, meaning). */
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
 * Write one.
 *
 * @param flow, message, body as worker_packet_write() takes them for the good one; no worker's
 *   number is higher than 254, no job's than 65534, no address has the second byte 66
 */
void bad_packet_write(enum bad_packet kind, struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body);

#endif /* BAD_PACKET_H */
