/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DECK_H
#define DECK_H

/**
 * @file
 * The deck: different requests, made before the run, each with the reply that it must get. They
 * are sent in turn, again and again, each time with another id, so that the run itself copies and
 * compares bytes and never computes.
 */

#include <stdint.h>

#include <netfc.h>

#include "workload/operands.h"
#include "options/options.h"

/** A request and its reply. */
struct card {
	uint8_t *request;     /**< the frame; id 0, z all wrong, UDP checksum zero */
	uint8_t *reply;       /**< the NetFC header, id 0, and x, y, z */
	uint16_t request_sum; /**< of all that the UDP checksum sums up, but the id */
	uint16_t reply_sum;
	uint8_t op;     /**< of enum netfc_op */
	uint64_t right; /**< right replies so far */
};

struct deck {
	const struct netfc_set *set;
	struct route route;
	uint32_t count;          /**< cards */
	uint32_t lanes;          /**< of each card */
	uint32_t frame_length;   /**< of a request, and of a reply */
	uint32_t payload_offset; /**< of the NetFC header in a frame */
	uint32_t payload_length;
	struct card *cards;
	uint8_t *bytes; /**< of all requests and replies */
};

/**
 * Get the operands of a deck: read them all, or draw as many as fill one. What is wrong is said on
 * stderr.
 *
 * @param operands operands_free() frees them
 * @return 0 or -1
 */
int deck_get_operands(
	const struct options *options, const struct netfc_set *set, struct operands *operands);

/**
 * Make the deck. What is wrong is said on stderr.
 *
 * @param set what the replies are computed with
 * @param deck deck_free() frees it
 * @return 0 or -1
 */
int deck_make(const struct options *options, const struct netfc_set *set,
	const struct operands *operands, struct deck *deck);

/** Free it. */
void deck_free(struct deck *deck);

/** A lane's slots in a NetFC payload: which is 0 for x, 1 for y, 2 for z. */
static inline uint16_t
deck_slot(const struct deck *deck, const uint8_t *payload, unsigned int which, uint32_t lane)
{
	const uint8_t *slot = payload + sizeof(struct netfc_hdr) +
		(which * deck->lanes + lane) * sizeof(uint16_t);

	return (uint16_t)(slot[0] << 8 | slot[1]);
}

#endif /* DECK_H */
