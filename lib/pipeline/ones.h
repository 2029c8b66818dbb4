/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_ONES_H
#define PIPELINE_ONES_H

/**
 * @file
 * The smallest requests, of one lane: a field of each after the other, so that not only lanes but
 * also checksums are computed together.
 */

#include "branch.h"
#include "plain.h"

/* As many as packets in a burst. */
#define ONES_MAX 64

/* Requests of one format and operation. */
struct ones {
	const struct branch *branch;
	enum netfc_op op;
	unsigned int count;
	uint8_t *udp[ONES_MAX];
	/* Words as in the packets. */
	uint16_t x[ONES_MAX] __rte_cache_aligned;
	uint16_t y[ONES_MAX];
	uint16_t z[ONES_MAX];
	uint16_t z_before[ONES_MAX];
	uint16_t checksum[ONES_MAX];
	uint8_t flags[ONES_MAX];
};

/** Add a request as the one at index `at`; the caller counts them. */
static __rte_always_inline void
ones_add(struct ones *ones, unsigned int at, uint8_t *udp, struct frame *frame)
{
	const packet_word *lane = (const packet_word *)(udp + PLAIN_LANES - PLAIN_UDP);
	uint16_t checksum = *(const packet_word *)(udp + PLAIN_CHECKSUM);

	ones->udp[at] = udp;
	ones->x[at] = lane[0];
	ones->y[at] = lane[1];
	ones->z_before[at] = lane[2];
	ones->checksum[at] = checksum;
	frame->checksum = checksum;
}

/**
 * Compute the requests, answer them, empty the list.
 *
 * @param lanes an lcore's working memory, for stages
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t ones_run(struct ones *ones, struct netfc_lanes *lanes);

#endif /* PIPELINE_ONES_H */
