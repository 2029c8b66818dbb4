/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_REPLIES_H
#define PIPELINE_REPLIES_H

/**
 * @file
 * Requests of a burst that become replies: status and checksum of all at once. Written so that the
 * compiler makes vectors of it, whole ones: they may go on after the last reply.
 */

#include "classify.h"
#include "columns.h"
#include "reply.h"

/** With space for a vector after the last one. */
#define REPLIES (CLASSIFY_BURST + CLASSIFY_VECTOR)

/** Those of one lane first. */
struct replies {
	uint8_t *payload[REPLIES];
	/** Of several lanes: what they change in a checksum; flags of eight lanes, or-ed. */
	uint64_t changes[REPLIES] __rte_cache_aligned;
	uint64_t any_of[REPLIES];
	uint16_t at[REPLIES]; /**< of one lane: which of the batch it is */
	/** The result's slot, and it; or of several lanes, all bits and what they change. */
	uint16_t before[REPLIES], z[REPLIES];
	uint16_t flags[REPLIES], status[REPLIES];
	uint16_t checksum[REPLIES]; /**< of UDP; 0: there is none */
};

/** A count rounded up to whole vectors. */
static __rte_always_inline unsigned int
replies_vectors(unsigned int count)
{
	return RTE_ALIGN_CEIL(count, COLUMN);
}

/** Save the fields that the reply is made of, before they are overwritten. */
static __rte_always_inline void
replies_add(struct replies *replies, unsigned int index, uint8_t *payload)
{
	replies->payload[index] = payload;
	replies->status[index] = payload[REPLY_STATUS];
	replies->checksum[index] = load_16(payload - REPLY_CHECKSUM_BEFORE);
}

/* The status in the word that it shares with the format, as this processor reads it. */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define STATUS_SHIFT 8
#else
#define STATUS_SHIFT 0
#endif

static inline uint16_t
add_words(uint16_t a, uint16_t b)
{
	uint16_t sum = (uint16_t)(a + b);

	return (uint16_t)(sum + (sum < a));
}

/** Fold checksum changes and exception flags of replies with several lanes. */
static inline void
replies_fold_lanes(struct replies *replies, unsigned int first, unsigned int count)
{
	for (unsigned int l = first; l < first + replies_vectors(count); l++) {
		uint64_t any = replies->any_of[l], sum = replies->changes[l];

		sum = (sum & UINT32_MAX) + (sum >> 32);
		sum = (sum & UINT16_MAX) + (sum >> 16);
		any |= any >> 32;
		any |= any >> 16;
		replies->before[l] = UINT16_MAX;
		replies->z[l] = add_words((uint16_t)sum, (uint16_t)(sum >> 16));
		replies->flags[l] = (uint8_t)(any | any >> 8);
	}
}

/* As checksum_update(), and the status of each reply. Returns the exceptions of all. */
static inline uint64_t
replies_compute(struct replies *replies, unsigned int count)
{
	uint16_t invalid = 0, divbyzero = 0, overflow = 0, underflow = 0;

	memset(&replies->flags[count], 0, COLUMN_BYTES);
	for (unsigned int l = 0; l < replies_vectors(count); l++) {
		uint16_t flags = replies->flags[l];
		uint16_t old = (uint16_t)(replies->status[l] << STATUS_SHIFT);
		uint16_t new = (uint16_t)(NETFC_STATUS_REPLY | flags);
		uint16_t change = add_words(add_words(replies->z[l], (uint16_t)~replies->before[l]),
			add_words((uint16_t)(new << STATUS_SHIFT), (uint16_t)~old));
		uint16_t checksum = replies->checksum[l];
		uint16_t after = (uint16_t)~add_words((uint16_t)~checksum, change);

		after = after != 0 ? after : UINT16_MAX;
		replies->checksum[l] = checksum != 0 ? after : 0;
		replies->status[l] = new;
		invalid = (uint16_t)(invalid + (flags & 1));
		divbyzero = (uint16_t)(divbyzero + (flags >> 1 & 1));
		overflow = (uint16_t)(overflow + (flags >> 2 & 1));
		underflow = (uint16_t)(underflow + (flags >> 3 & 1));
	}
	return (uint64_t)underflow << 48 | (uint64_t)overflow << 32 | (uint64_t)divbyzero << 16 |
		invalid;
}

static __rte_always_inline uint8_t *
write_reply(const struct replies *replies, unsigned int index)
{
	uint8_t *payload = replies->payload[index];

	payload[REPLY_STATUS] = (uint8_t)replies->status[index];
	store_16(payload - REPLY_CHECKSUM_BEFORE, replies->checksum[index]);
	return payload;
}

/**
 * Write status and checksum of all, and the result of each that has one lane.
 *
 * @param singles so many have
 * @return their exceptions, counted as by flags_spread()
 */
static inline uint64_t
replies_finish(struct replies *replies, unsigned int singles, unsigned int count)
{
	const uint64_t exceptions = replies_compute(replies, count);

	for (unsigned int p = 0; p < singles; p++) {
		uint8_t *payload = write_reply(replies, p);

		store_16(reply_lanes(payload) + 2 * sizeof(uint16_t), replies->z[p]);
	}
	for (unsigned int p = singles; p < count; p++)
		write_reply(replies, p);
	return exceptions;
}

#endif /* PIPELINE_REPLIES_H */
