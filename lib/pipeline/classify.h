/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_CLASSIFY_H
#define PIPELINE_CLASSIFY_H

/**
 * @file
 * What is to be done with each packet of a burst, found out without a branch that depends on the
 * packet: a burst of packets that all differ takes as long as a uniform one.
 *
 * Twice, words are loaded from all packets of the burst: VLAN tag, IPv4 with or without options, or
 * IPv6; then, where those end, UDP and NetFC; once more between them where some packets have two
 * tags. What they say is computed for many packets at once, in the processor's vectors (columns.h).
 * Whatever is odd (a frame too short for these words, headers that may go on in another segment, a
 * request to be refused) is left to slow_path.h.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include <netfc.h>

#include "frame.h"
#include "vector.h"

/** Packets of a burst at most. */
#define CLASSIFY_BURST 64

/** Lanes of requests that are gathered: two vectors of 8 slots. */
#define CLASSIFY_GATHERED 16

/** What is to be done with a packet. */
enum packet_class {
	CLASS_FORWARD,  /**< nothing: it is forwarded as it is */
	CLASS_SLOW,     /**< the slow path */
	CLASS_SINGLE,   /**< a request of one lane */
	CLASS_LANES_8,  /**< of 2 to 8 lanes */
	CLASS_LANES_16, /**< of 9 to 16 lanes */
	CLASS_IN_PLACE, /**< of more, or of a group that is not gathered: computed where they are */
	CLASSES,
};

/** Packets that vectors hold at most. */
#define CLASSIFY_VECTOR 32

struct classified;
struct classifier;
struct groups;

/** See classify(). */
typedef void (*classify_fn)(const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int first, unsigned int end, struct classified *classified);

/** What packets are compared with, a vector each; it never changes. */
struct classifier {
	classify_fn classify;
	uint16_t udp_port[CLASSIFY_VECTOR] __rte_aligned(64); /* of requests, as in packets */
	uint16_t loaded[NETFC_FORMAT_END][CLASSIFY_VECTOR]; /* all bits: its table set is loaded */
	const struct groups *groups;
};

/** What requests that are gathered have in common. */
struct gathered {
	uint16_t any, all; /**< bits of their groups: of one of them, of all of them */
	uint16_t lanes;    /**< of all together */
};

/** A classified burst. Arrays of requests are indexed by a packet's position in the burst. */
struct classified {
	unsigned int count[CLASSES];
	unsigned int uniform;            /**< number of first packets that match a template, */
	enum packet_class uniform_class; /**< all of this class */
	struct gathered gathered;
	/** Indices, in order; those of CLASS_FORWARD are not listed. */
	uint8_t packet[CLASSES][CLASSIFY_BURST];
	/** The NetFC header; the UDP header stands before it, all lanes after it. */
	uint8_t *payload[CLASSIFY_BURST];
	uint16_t at[CLASSIFY_BURST]; /**< first lane in the batch, once more than one is gathered */
	uint16_t lanes[CLASSIFY_BURST + CLASSIFY_VECTOR];
	uint16_t group[CLASSIFY_BURST + CLASSIFY_VECTOR];
};

/** The class of requests of so many lanes, at least one. */
static __rte_always_inline enum packet_class
classify_size(uint32_t lanes)
{
	return CLASS_SINGLE + (uint32_t)(lanes > 1) + (uint32_t)(lanes > CLASSIFY_GATHERED / 2) +
		(uint32_t)(lanes > CLASSIFY_GATHERED);
}

/** Nothing has been found yet. */
static inline void
classified_clear(struct classified *classified)
{
	memset(classified->count, 0, sizeof(classified->count));
	classified->uniform = 0;
	classified->gathered = (struct gathered){.all = UINT16_MAX};
}

/** Whether all packets of a class, one at least, match a template: they are the first ones. */
static inline bool
classified_is_uniform(const struct classified *classified, enum packet_class class)
{
	return classified->uniform > 0 && classified->uniform_class == class &&
		classified->uniform == classified->count[class];
}

/** Add what is known of requests that are gathered. */
static inline void
classified_add(struct classified *classified, struct gathered added)
{
	struct gathered *gathered = &classified->gathered;

	gathered->any |= added.any;
	gathered->all &= added.all;
	gathered->lanes = (uint16_t)(gathered->lanes + added.lanes);
}

/** The bits in which the groups of requests that are gathered differ. */
static inline unsigned int
gathered_differ(const struct gathered *gathered)
{
	return gathered->any & (unsigned int)~gathered->all;
}

/* One for each instruction set. */
void classify_plain(const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int first, unsigned int end, struct classified *classified);
void classify_avx2(const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int first, unsigned int end, struct classified *classified);
void classify_avx512(const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int first, unsigned int end, struct classified *classified);

/**
 * Classify packets.
 *
 * @param frames what each packet is; not set where the class is CLASS_SLOW
 * @param first, end which packets of the burst, at least one
 * @param classified what is found is added to it
 */
static inline void
classify(const struct classifier *classifier, struct rte_mbuf **mbufs, struct frame *frames,
	unsigned int first, unsigned int end, struct classified *classified)
{
	classifier->classify(classifier, mbufs, frames, first, end, classified);
}

#endif /* PIPELINE_CLASSIFY_H */
