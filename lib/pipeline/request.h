/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_REQUEST_H
#define PIPELINE_REQUEST_H

/** @file A NetFC request in a packet: checked, read, answered in place. */

#include <stddef.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include <netfc.h>

#include "checksum.h"
#include "frame.h"
#include "mbuf_bytes.h"

/* A request of the burst at hand. */
struct request {
	struct rte_mbuf *mbuf;
	struct frame *frame;
	uint32_t offset; /* of the NetFC header */
	uint32_t udp_offset;
	uint32_t count;   /* lanes */
	uint64_t changes; /* of the checksum so far */
	bool checksummed; /* false: an IPv4 datagram without a checksum */
	uint8_t op;
	uint8_t format;
	uint8_t before; /* the status byte as it came */
	uint8_t flags;  /* exception flags of the lanes so far */
};

/**
 * Look for a request.
 *
 * @param frame the parsed frame of mbuf
 * @param udp_port in host order
 * @param loaded a bit per format: whether its table set is loaded
 * @param request filled in if there is one
 * @return the status code of its reply, or -1 if the packet is not to be touched: no NetFC, or
 *   computed by another switch
 */
int request_parse(struct rte_mbuf *mbuf, struct frame *frame, uint16_t udp_port, uint32_t loaded,
	struct request *request);

/**
 * Read lanes into a batch.
 *
 * @param first the request's lane to start with
 * @param x, y where they go, as slots
 * @param count how many, up to NETFC_BATCH
 */
void request_read_lanes(const struct request *request, uint32_t first, uint16_t *x, uint16_t *y,
	unsigned int count);

/** Write a batch's z back, and collect exception flags and the checksum's changes. */
void request_write_lanes(struct request *request, uint32_t first, const uint16_t *z,
	const uint8_t *flags, unsigned int count);

/**
 * Write a query's answer: z and, where the datagram has room, the counters behind it.
 *
 * @param ratio fp16
 */
void
request_write_answer(struct request *request, uint16_t ratio, uint32_t connections, uint64_t bytes);

/** The UDP header of a request that is all in one segment; NULL where it is not. */
uint8_t *request_udp(const struct request *request);

/** Write the status and update the checksum: the packet is a reply from now on. */
void request_finish(struct request *request, enum netfc_status code);

/** The status byte of a reply without an error. */
static inline uint8_t
request_status_ok(uint8_t flags)
{
	return NETFC_STATUS_REPLY | NETFC_STATUS_OK << NETFC_STATUS_CODE_SHIFT | flags;
}

/**
 * Write a status byte and update the checksum, if there is one, where both are at hand.
 *
 * @param udp the UDP header, and behind it the NetFC header up to its status
 * @param frame gets to know the changes
 * @param changes of the checksum so far
 */
static inline void
request_reply(uint8_t *udp, struct frame *frame, uint64_t changes, uint8_t status)
{
	uint8_t *header = udp + sizeof(struct rte_udp_hdr);
	packet_word *checksum = (packet_word *)(udp + offsetof(struct rte_udp_hdr, dgram_cksum));
	/* The status is the low byte of the word that it shares with the format. */
	uint8_t *at = header + offsetof(struct netfc_hdr, status);

	changes += checksum_change(rte_cpu_to_be_16(*at), rte_cpu_to_be_16(status));
	frame->changes = checksum_fold(changes);
	*at = status;
	/* Only over IPv4 may a datagram have none. */
	if (likely(*checksum != 0 || frame->network != FRAME_IPV4))
		*checksum = checksum_update(*checksum, frame->changes);
}

#endif /* PIPELINE_REQUEST_H */
