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
#define PLAIN_ONE_LANE (PLAIN_LANES + NETFC_LANE_BYTES)

/* Bytes from the UDP header. */
#define PLAIN_CHECKSUM 6
#define PLAIN_STATUS (PLAIN_NETFC - PLAIN_UDP + 5)

/* Eight bytes at each of these offsets hold all fields that are the same in all such requests. */
#define PLAIN_WORDS 4
#define PLAIN_WORD_OFFSETS     \
	{                      \
		12, 20, 36, 44 \
	}

/* Formats and operations are less than this in a plain request. */
#define PLAIN_CODES 8

/* Fields that are always the same. */
struct plain_words {
	uint64_t mask[PLAIN_WORDS];
	uint64_t value[PLAIN_WORDS];
};

/* What plain requests look like. */
struct plain_shape {
	struct plain_words one; /* of one lane, nothing behind it, status 0 */
	struct plain_words any;
	/* Which batch, by format and operation, plus 1; 0: not plain. */
	uint8_t batch[PLAIN_CODES * PLAIN_CODES];
	struct frame one_frame; /* all but checksum */
	struct frame any_frame; /* all but payload_length and checksum */
};

struct plain_request {
	uint8_t *udp; /* the UDP header and everything behind it */
	uint16_t payload_length;
	uint16_t count;
};

/** Describe plain requests to a UDP port, in host order; `batch` is for the caller to fill in. */
void plain_describe(struct plain_shape *shape, uint16_t udp_port);

static inline uint32_t
plain_length(const uint8_t *bytes)
{
	return rte_be_to_cpu_16(*(const packet_word *)bytes);
}

static __rte_always_inline bool
plain_matches(const struct plain_words *words, const uint8_t *bytes)
{
	static const uint8_t offsets[PLAIN_WORDS] = PLAIN_WORD_OFFSETS;
	uint64_t wrong = 0;

	for (unsigned int w = 0; w < PLAIN_WORDS; w++) {
		uint64_t word;

		memcpy(&word, bytes + offsets[w], sizeof(word));
		wrong |= (word & words->mask[w]) ^ words->value[w];
	}
	return wrong == 0;
}

/* Which batch a request's lanes belong to, plus 1, or 0. */
static __rte_always_inline unsigned int
plain_batch(const struct plain_shape *shape, const uint8_t *bytes)
{
	return shape->batch[bytes[PLAIN_FORMAT] * PLAIN_CODES + bytes[PLAIN_OP]];
}

/** Whether a packet is a plain request of one lane, of the format and operation in `words`. */
static __rte_always_inline bool
plain_is_one(const struct plain_words *words, const struct rte_mbuf *mbuf)
{
	return likely(rte_pktmbuf_data_len(mbuf) >= PLAIN_ONE_LANE) &&
		plain_matches(words, rte_pktmbuf_mtod(mbuf, const uint8_t *));
}

/** Words that no packet matches. */
static inline void
plain_expect_none(struct plain_words *words)
{
	*words = (struct plain_words){.value = {1}, .mask = {0}};
}

/**
 * Learn what the next plain requests of one lane may look like.
 *
 * @param mbuf one that matches shape->one
 * @param words what others of its format and operation look like
 * @return which batch it belongs to, plus 1; 0 if none: then words stay as they are
 */
unsigned int plain_learn_one(
	const struct plain_shape *shape, const struct rte_mbuf *mbuf, struct plain_words *words);

/**
 * Whether a packet is a plain request.
 *
 * @return which batch it belongs to, plus 1; 0 if it is not
 */
static __rte_always_inline unsigned int
plain_parse(const struct plain_shape *shape, struct rte_mbuf *mbuf, struct plain_request *request)
{
	uint8_t *bytes = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t length = rte_pktmbuf_data_len(mbuf), total, datagram, count;

	if (unlikely(length < PLAIN_LANES) || !plain_matches(&shape->any, bytes))
		return 0;
	total = plain_length(bytes + PLAIN_IP + 2);
	datagram = plain_length(bytes + PLAIN_UDP + 4);
	count = plain_length(bytes + PLAIN_NETFC + 6);
	if (unlikely(total + PLAIN_IP > length || datagram + PLAIN_UDP - PLAIN_IP > total ||
		    PLAIN_LANES - PLAIN_UDP + count * NETFC_LANE_BYTES > datagram || count == 0))
		return 0;
	request->udp = bytes + PLAIN_UDP;
	request->payload_length = (uint16_t)(datagram - (PLAIN_NETFC - PLAIN_UDP));
	request->count = (uint16_t)count;
	return plain_batch(shape, bytes);
}

/** Write a plain request's status and update its checksum, if it has one. */
static inline void
plain_reply(uint8_t *udp, struct frame *frame, uint32_t changes, uint8_t status)
{
	packet_word *checksum = (packet_word *)(udp + PLAIN_CHECKSUM);
	uint8_t *at = udp + PLAIN_STATUS;
	uint16_t before = *checksum;

	changes += checksum_change(rte_cpu_to_be_16(*at), rte_cpu_to_be_16(status));
	*at = status;
	*checksum = before != 0 ? checksum_update_few(before, changes) : 0;
	frame->checksum = before;
}

#endif /* PIPELINE_PLAIN_H */
