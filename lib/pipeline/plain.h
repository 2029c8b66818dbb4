/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_PLAIN_H
#define PIPELINE_PLAIN_H

/**
 * @file
 * Requests of the usual shape, recognised without walking their headers: Ethernet without a tag,
 * IPv4 without options, UDP, an operation on lanes that are all there, in one segment. What is not
 * of that shape, or not right, goes the general way (frame.h, request.h).
 */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "frame.h"
#include "mbuf_bytes.h"

/* Bytes from the start of the frame. */
#define PLAIN_IP 14
#define PLAIN_UDP (PLAIN_IP + 20)
#define PLAIN_NETFC (PLAIN_UDP + 8)
#define PLAIN_LANES (PLAIN_NETFC + 12)

/* Eight bytes at each of these offsets hold all fields that are the same in all such requests. */
#define PLAIN_WORDS 4
#define PLAIN_WORD_OFFSETS     \
	{                      \
		12, 20, 36, 44 \
	}

/* Formats and operations are less than this in a plain request. */
#define PLAIN_CODES 8

/* What plain requests look like. */
struct plain_shape {
	uint64_t mask[PLAIN_WORDS];
	uint64_t value[PLAIN_WORDS];
	/* Which batch, by format and operation, plus 1; 0: not plain. */
	uint8_t batch[PLAIN_CODES * PLAIN_CODES];
	struct frame frame; /* all but payload_length and changes */
};

struct plain_request {
	uint8_t *udp; /* the UDP header and everything behind it */
	uint16_t payload_length;
	uint16_t count;
	uint8_t batch;
};

/** Describe plain requests to a UDP port, in host order; `batch` is for the caller to fill in. */
void plain_describe(struct plain_shape *shape, uint16_t udp_port);

static inline uint32_t
plain_length(const uint8_t *bytes)
{
	return rte_be_to_cpu_16(*(const packet_word *)bytes);
}

/** Whether a packet is a plain request. */
static inline bool
plain_parse(const struct plain_shape *shape, struct rte_mbuf *mbuf, struct plain_request *request)
{
	static const uint8_t offsets[PLAIN_WORDS] = PLAIN_WORD_OFFSETS;
	uint8_t *bytes = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t length = rte_pktmbuf_data_len(mbuf), total, datagram, count;
	uint64_t wrong = 0;

	if (unlikely(length < PLAIN_LANES))
		return false;
	for (unsigned int w = 0; w < PLAIN_WORDS; w++) {
		uint64_t word;

		memcpy(&word, bytes + offsets[w], sizeof(word));
		wrong |= (word ^ shape->value[w]) & shape->mask[w];
	}
	if (wrong != 0)
		return false;
	total = plain_length(bytes + PLAIN_IP + 2);
	datagram = plain_length(bytes + PLAIN_UDP + 4);
	count = plain_length(bytes + PLAIN_NETFC + 6);
	if (unlikely(total + PLAIN_IP > length || datagram + PLAIN_UDP - PLAIN_IP > total ||
		    PLAIN_LANES - PLAIN_UDP + count * 6 > datagram || count == 0))
		return false;
	request->udp = bytes + PLAIN_UDP;
	request->payload_length = (uint16_t)(datagram - (PLAIN_NETFC - PLAIN_UDP));
	request->count = (uint16_t)count;
	request->batch =
		shape->batch[bytes[PLAIN_NETFC + 4] * PLAIN_CODES + bytes[PLAIN_NETFC + 3]];
	return request->batch-- != 0;
}

#endif /* PIPELINE_PLAIN_H */
