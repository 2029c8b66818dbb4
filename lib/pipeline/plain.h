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

#include <netfc_wire.h>

#include "checksum.h"
#include "frame.h"
#include "mbuf_bytes.h"

/* Bytes from the start of the frame. */
#define PLAIN_IP 14
#define PLAIN_UDP (PLAIN_IP + 20)
#define PLAIN_NETFC (PLAIN_UDP + 8)
#define PLAIN_LANES (PLAIN_NETFC + 12)
#define PLAIN_OP (PLAIN_NETFC + 3)
#define PLAIN_FORMAT (PLAIN_NETFC + 4)
#define PLAIN_STATUS_BYTE (PLAIN_NETFC + 5)

/* Bytes from the UDP header. */
#define PLAIN_CHECKSUM 6
#define PLAIN_STATUS (PLAIN_STATUS_BYTE - PLAIN_UDP)

/* Eight bytes at each of these offsets hold all fields that are the same in all such requests. */
#define PLAIN_WORDS 4
#define PLAIN_WORD_OFFSETS {12, 20, 36, 44}

/* Formats and operations are less than this in a plain request. */
#define PLAIN_CODES 8

/* Fields that are always the same. */
struct plain_words {
	uint64_t mask[PLAIN_WORDS];
	uint64_t value[PLAIN_WORDS];
};

/* What plain requests look like. */
struct plain_shape {
	struct plain_words any;
	uint64_t like_mask[PLAIN_WORDS]; /* what is the same in requests that are alike */
	/* Which batch, by format and operation, plus 1; 0: not plain. */
	uint8_t batch[PLAIN_CODES * PLAIN_CODES];
	struct frame frame; /* all but payload_length and checksum */
};

/* Requests that are alike: of one format and operation, as many lanes, equally long. */
struct plain_like {
	struct plain_words words;
	uint32_t length; /* of the frame, at the least */
	uint16_t count;
	uint8_t status;     /* as it came */
	struct frame frame; /* theirs, all but the checksum */
};

/** Describe plain requests to a UDP port, in host order; `batch` is for the caller to fill in. */
void plain_describe(struct plain_shape *shape, uint16_t udp_port);

static inline uint32_t
plain_length(const uint8_t *bytes)
{
	return rte_be_to_cpu_16(*(const packet_word *)bytes);
}

static __rte_always_inline uint64_t
plain_word(const uint8_t *bytes, unsigned int index)
{
	static const uint8_t offsets[PLAIN_WORDS] = PLAIN_WORD_OFFSETS;
	uint64_t word;

	memcpy(&word, bytes + offsets[index], sizeof(word));
	return word;
}

static __rte_always_inline bool
plain_matches(const struct plain_words *words, const uint8_t *bytes)
{
	uint64_t wrong = 0;

	for (unsigned int w = 0; w < PLAIN_WORDS; w++)
		wrong |= (plain_word(bytes, w) & words->mask[w]) ^ words->value[w];
	return wrong == 0;
}

/* Which batch a request's lanes belong to, plus 1, or 0. */
static __rte_always_inline unsigned int
plain_batch(const struct plain_shape *shape, const uint8_t *bytes)
{
	return shape->batch[bytes[PLAIN_FORMAT] * PLAIN_CODES + bytes[PLAIN_OP]];
}

/** Whether a packet is one of those requests. */
static __rte_always_inline bool
plain_is_like(const struct plain_like *like, const struct rte_mbuf *mbuf)
{
	return likely(rte_pktmbuf_data_len(mbuf) >= like->length) &&
		plain_matches(&like->words, rte_pktmbuf_mtod(mbuf, const uint8_t *));
}

/** Requests that no packet is like. */
static inline void
plain_like_none(struct plain_like *like)
{
	*like = (struct plain_like){.length = UINT32_MAX};
}

/**
 * Whether a packet is a plain request, and which others are like it.
 *
 * @param like stays as it is if the packet is none
 * @return which batch it belongs to, plus 1; 0 if it is none
 */
static __rte_always_inline unsigned int
plain_learn(const struct plain_shape *shape, const struct rte_mbuf *mbuf, struct plain_like *like)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t length = rte_pktmbuf_data_len(mbuf), total, datagram, count;
	unsigned int batch;

	if (unlikely(length < PLAIN_LANES) || !plain_matches(&shape->any, bytes))
		return 0;
	total = plain_length(bytes + PLAIN_IP + 2);
	datagram = plain_length(bytes + PLAIN_UDP + 4);
	count = plain_length(bytes + PLAIN_NETFC + 6);
	batch = plain_batch(shape, bytes);
	if (unlikely(batch == 0 || total + PLAIN_IP > length ||
		    datagram + PLAIN_UDP - PLAIN_IP > total ||
		    PLAIN_LANES - PLAIN_UDP + count * NETFC_LANE_BYTES > datagram || count == 0))
		return 0;
	for (unsigned int w = 0; w < PLAIN_WORDS; w++) {
		like->words.mask[w] = shape->like_mask[w];
		like->words.value[w] = plain_word(bytes, w) & shape->like_mask[w];
	}
	like->length = total + PLAIN_IP;
	like->count = (uint16_t)count;
	like->status = bytes[PLAIN_STATUS_BYTE];
	like->frame = shape->frame;
	like->frame.payload_length = (uint16_t)(datagram - (PLAIN_NETFC - PLAIN_UDP));
	return batch;
}

/** Write a plain request's status and update its checksum, if it has one. */
static inline void
plain_reply(uint8_t *udp, struct frame *frame, uint64_t changes, uint8_t status)
{
	packet_word *checksum = (packet_word *)(udp + PLAIN_CHECKSUM);
	uint8_t *at = udp + PLAIN_STATUS;
	uint16_t before = *checksum;

	changes += checksum_change(rte_cpu_to_be_16(*at), rte_cpu_to_be_16(status));
	*at = status;
	*checksum = before != 0 ? checksum_update(before, changes) : 0;
	frame->checksum = before;
}

#endif /* PIPELINE_PLAIN_H */
