/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_REQUEST_H
#define PIPELINE_REQUEST_H

/** @file A NetFC request in a packet: checked, read, answered in place. */

#include <rte_mbuf.h>

#include <netfc.h>

#include "frame.h"
#include "groups.h"

/* A request on the slow path. */
struct request {
	struct rte_mbuf *mbuf;
	struct frame *frame;
	uint32_t offset; /* of the NetFC header */
	uint32_t udp_offset;
	uint32_t count;   /* lanes */
	uint32_t words;   /* of 16 bits, of x, and so of y and z: half of one a lane, one, or two */
	uint64_t changes; /* of the checksum so far */
	uint16_t checksum; /* UDP's, as it came */
	uint8_t op;
	uint8_t format;
	uint8_t before; /* the status byte as it came */
	uint8_t flags;  /* exception flags of the lanes so far */
};

/**
 * Look for a request.
 *
 * @param frame the parsed frame of mbuf
 * @param groups what is computed
 * @param request filled in if there is one
 * @return the status code of its reply, or -1 if the packet is not to be touched: no NetFC, or
 *   computed by another switch
 */
int request_parse(struct rte_mbuf *mbuf, struct frame *frame, const struct groups *groups,
	struct request *request);

/** Fill in a request that a packet is known to be, if only by its first bytes. */
void request_open(struct rte_mbuf *mbuf, struct frame *frame, struct request *request);

enum request_operand {
	REQUEST_X,
	REQUEST_Y,
	REQUEST_Z
};

/**
 * Read slots. Lanes of 32 bits are two words each, of 8 bits two a word.
 *
 * @param first the operand's word to start with
 * @param to where they go, as slots
 * @param count how many words
 */
void request_read(const struct request *request, enum request_operand operand, uint32_t first,
	uint16_t *to, unsigned int count);

/** Write words of z, up to NETFC_BATCH, and collect the checksum's changes. */
void request_write(struct request *request, uint32_t first, const uint16_t *z, unsigned int count);

/**
 * Write a query's answer: z and, where the datagram has space, the counters behind it.
 *
 * @param ratio fp16
 */
void
request_write_answer(struct request *request, uint16_t ratio, uint32_t connections, uint64_t bytes);

/** Write the status and update the checksum: the packet is a reply from now on. */
void request_finish(struct request *request, enum netfc_status code);

#endif /* PIPELINE_REQUEST_H */
