/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_H
#define COUNTERS_H

/**
 * @file
 * What has become of packets. In the end, sent = answered + lost, and
 * received = answered + late + duplicates + ids never sent + others.
 */

#include <stdint.h>

/** Written by the lcore that sends and receives; others may read at any time. */
struct run_counters {
	uint64_t sent;
	uint64_t received;       /**< packets of all kinds */
	uint64_t answered;       /**< in time */
	uint64_t right;          /**< of those answered */
	uint64_t wrong;          /**< replies of any kind with something wrong */
	uint64_t lost;           /**< not answered in time */
	uint64_t late;           /**< replies to those lost */
	uint64_t duplicates;     /**< further replies to those answered */
	uint64_t reordered;      /**< answered after one that was sent later */
	uint32_t reorder_extent; /**< by how many packets one was overtaken at the most */
	uint64_t others;         /**< received, but no NetFC */
	uint64_t refused;        /**< times the port did not take a packet */
	uint64_t no_buffer;      /**< times there was no packet buffer */
	uint64_t held_back;      /**< packets that the rate asked for, but that were not sent */
	uint64_t start, last_sent, last_received; /**< TSC */
};

#endif /* COUNTERS_H */
