/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_REPLY_H
#define PIPELINE_REPLY_H

/** @file A request of the fast path becomes its reply: status and checksum. */

#include <stddef.h>

#include <rte_udp.h>

#include <netfc_wire.h>

#include "bytes.h"
#include "checksum.h"
#include "frame.h"

/** The status byte, from the payload's start. */
#define REPLY_STATUS offsetof(struct netfc_hdr, status)

/** How far before the payload the UDP checksum stands. */
#define REPLY_CHECKSUM_BEFORE \
	(sizeof(struct rte_udp_hdr) - offsetof(struct rte_udp_hdr, dgram_cksum))

/** Where a request's lanes start: x, after it y, then z. */
static __rte_always_inline uint8_t *
reply_lanes(uint8_t *payload)
{
	return payload + sizeof(struct netfc_hdr);
}

/** And back. */
static __rte_always_inline uint8_t *
reply_payload(uint8_t *lanes)
{
	return lanes - sizeof(struct netfc_hdr);
}

/** Exception flags, a count of 16 bits for each. */
static inline uint64_t
flags_spread(uint8_t flags)
{
	return (flags * UINT64_C(0x0000200040008001)) & UINT64_C(0x0001000100010001);
}

/** The status byte of a reply without an error. */
static __rte_always_inline uint8_t
reply_status(uint8_t flags)
{
	return NETFC_STATUS_REPLY | NETFC_STATUS_OK << NETFC_STATUS_CODE_SHIFT | flags;
}

/**
 * Write status and checksum, without a branch.
 *
 * @param payload of UDP, all of it where the UDP header is, too
 * @param frame with the checksum as received
 * @param changes what the results change in it
 * @param flags exceptions of all lanes
 */
static __rte_always_inline void
reply_write(uint8_t *payload, const struct frame *frame, uint64_t changes, uint8_t flags)
{
	uint8_t *status = payload + REPLY_STATUS;
	const uint8_t after = reply_status(flags);
	/* Only over IPv4 may a datagram have none. */
	const bool has_none = (frame->checksum == 0) & (frame->network == FRAME_IPV4);
	uint16_t updated;

	/* The status is the low byte of the word that it shares with the format. */
	changes += checksum_change(rte_cpu_to_be_16(*status), rte_cpu_to_be_16(after));
	updated = checksum_update(frame->checksum, changes);
	*status = after;
	store_16(payload - REPLY_CHECKSUM_BEFORE, has_none ? 0 : updated);
}

#endif /* PIPELINE_REPLY_H */
