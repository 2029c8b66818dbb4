/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_TEMPLATE_H
#define PIPELINE_TEMPLATE_H

/**
 * @file
 * Uniform requests over IPv4: the same headers except for addresses, checksums and ids.
 * They are recognised by two masked vectors, and what has been found for one holds for all. A
 * template is taken from a uniform burst, and goes on from burst to burst. Requests with
 * VLAN tags or over IPv6 have none: classify() is as fast for them as for any others.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "bytes.h"
#include "classify.h"

/* Sixteen bytes each hold all fields that say what a request is: IPv4; UDP and NetFC. */
#define TEMPLATE_VECTORS 2

struct template
{
	bytes16 mask[TEMPLATE_VECTORS];
	bytes16 value[TEMPLATE_VECTORS];
	uint16_t offset[TEMPLATE_VECTORS]; /* in the frame */
	uint32_t length; /* of the first segment, at least; UINT32_MAX: no packet matches */
	uint16_t payload_offset;
	uint16_t lanes;
	uint16_t group;
	enum packet_class class;
	struct frame frame; /* theirs, all but the checksum */
};

/** A template that no packet matches. */
void template_clear(struct template *template);

/**
 * Classify a burst. One that starts as the last one ended is compared with the template first, and
 * one that seems to be uniform becomes it.
 *
 * @param mbufs not answered yet
 * @param frames, classified what they are; frames of packets for the slow path are not set
 */
void template_classify(struct template *template, const struct classifier *classifier,
	struct rte_mbuf **mbufs, struct frame *frames, unsigned int count,
	struct classified *classified);

#endif /* PIPELINE_TEMPLATE_H */
