/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TALLY_H
#define TALLY_H

/**
 * @file
 * What has become of packets. In the end, sent = answered + lost, and
 * received = answered + late + duplicates + ids never sent + others.
 */

#include <stdint.h>

/** Written by the lcore that sends and receives; others may read at any time. */
struct tally {
	uint64_t sent;
	uint64_t received;       /**< packets of all kinds */
	uint64_t answered;       /**< in time */
	uint64_t right;          /**< of those answered */
	uint64_t wrong;          /**< replies of any kind with something wrong */
	uint64_t lost;           /**< not answered in time */
	uint64_t late;           /**< replies to those lost */
	uint64_t duplicates;     /**< further replies to those answered */
	uint64_t reordered;      /**< answered after one that was sent later */
	uint32_t reorder_extent; /**< how many places the worst of them was overtaken by */
	uint64_t others;         /**< received, but no NetFC */
	uint64_t refused;        /**< times the port had no room for a packet */
	uint64_t no_buffer;      /**< times there was no packet buffer */
	uint64_t held_back;      /**< packets not sent when the rate would have had it */
	uint64_t start, last_sent, last_received; /**< TSC */
};

#endif /* TALLY_H */
