/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLY_H
#define REPLY_H

/** @file A reply: found in a packet, compared with what it must be. */

#include <stdbool.h>

#include <rte_mbuf.h>

#include "workload/workload.h"
#include "frame.h"
#include "check/mismatch.h"

/** The longest packet that is parsed. */
#define REPLY_BYTES UINT16_MAX

/** A received NetFC packet. */
struct reply {
	const uint8_t *bytes; /**< the frame in one piece */
	struct frame frame;
	const uint8_t *payload; /**< the NetFC header */
	uint32_t id;
};

/**
 * Look for NetFC in a packet.
 *
 * @param scratch REPLY_BYTES bytes, used if the packet has several segments
 * @return whether it is a NetFC packet
 */
bool reply_parse(const struct rte_mbuf *mbuf, uint8_t *scratch, struct reply *reply);

/** Whether a reply is the one that the request must get, to the last bit. */
bool reply_is_right(
	const struct workload *workload, const struct request *request, const struct reply *reply);

/**
 * Find out what is wrong with a reply. Slow: only for wrong replies.
 *
 * @return whether anything is
 */
bool reply_find_mismatches(const struct workload *workload, const struct request *request,
	const struct reply *reply, struct mismatches *mismatches);

/** The UDP checksum of a packet of that id. */
static inline rte_be16_t
reply_checksum(uint16_t sum, rte_be32_t id)
{
	uint32_t words = (uint32_t)sum + (id & 0xffff) + (id >> 16);
	uint16_t checksum;

	words = (words & 0xffff) + (words >> 16);
	words = (words & 0xffff) + (words >> 16);
	checksum = (uint16_t)~words;
	return checksum != 0 ? checksum : UINT16_MAX;
}

#endif /* REPLY_H */
