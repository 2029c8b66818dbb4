/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_TEMPLATE_H
#define PIPELINE_TEMPLATE_H

/**
 * @file
 * Requests that are all alike: of the same headers but for addresses, checksums and ids. They are
 * recognised by a few masked words, and what has been found for one holds for all. A template is
 * taken from a burst that was all alike, and goes on from burst to burst.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "bytes.h"
#include "classify.h"

/* Eight bytes each hold all fields that say what a request is. */
#define TEMPLATE_WORDS 5

struct template
{
	uint16_t offset[TEMPLATE_WORDS]; /* in the frame */
	uint64_t mask[TEMPLATE_WORDS];
	uint64_t value[TEMPLATE_WORDS];
	uint32_t length; /* of the first segment, at the least; UINT32_MAX: no packet matches */
	uint16_t payload_offset;
	uint16_t lanes;
	uint8_t group;
	enum packet_class class;
	struct frame frame; /* theirs, all but the checksum */
};

/** A template that no packet matches. */
void template_clear(struct template *template);

/**
 * Take packets as the template, if they are requests that are all alike.
 *
 * @param mbufs not answered yet
 * @param frames, classified what they are
 * @param first, end which packets of the burst, at least one
 */
void template_learn(struct template *template, struct rte_mbuf **mbufs, const struct frame *frames,
	unsigned int first, unsigned int end, const struct classified *classified);

static __rte_always_inline bool
template_matches(const struct template *template, const struct rte_mbuf *mbuf)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint64_t wrong = 0;

	if (rte_pktmbuf_data_len(mbuf) < template->length)
		return false;
	for (unsigned int w = 0; w < TEMPLATE_WORDS; w++)
		wrong |= (load_64(bytes + template->offset[w]) & template->mask[w]) ^
			template->value[w];
	return wrong == 0;
}

/**
 * Classify the packets of a burst up to the first that does not match.
 *
 * @return how many packets
 */
unsigned int template_classify(const struct template *template, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int count, struct classified *classified);

#endif /* PIPELINE_TEMPLATE_H */
