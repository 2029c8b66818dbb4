/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_RESULT_H
#define AGGREGATE_RESULT_H

/** @file Results to the workers of a job: packets with headers of their own and the same values. */

#include "aggregate_seal.h"
#include "aggregate_table.h"
#include "app.h"

/** How a worker is reached: what stands in the headers of its packets, the other way round. */
struct worker_path {
	struct rte_ether_addr mac; /**< the worker's, or its router's */
	uint16_t port;             /**< index of the switch's port */
	uint8_t network;           /**< enum frame_network */
	uint8_t tag_bytes;         /**< of VLAN tags: 0, 4 or 8 */
	uint8_t tags[8];           /**< as they stand in the frame */
	uint8_t address[16];       /**< the switch's, that the worker sends to; IPv4: four bytes */
};

/**
 * Find out who sent a packet.
 *
 * @param in index of the port where it came in
 * @param mbuf headers in the first segment
 * @param sender its path is a struct worker_path
 */
void result_learn_sender(unsigned int in, const struct rte_mbuf *mbuf, const struct frame *frame,
	struct aggregate_sender *sender);

/**
 * Send a chunk's result to all workers.
 *
 * @param request the last worker's, whose own packet becomes its reply
 * @param outcome AGGREGATE_SEND_RESULTS
 * @param seal of the request
 * @param payload the request's: the result is written there
 */
void result_send(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, const struct aggregate_seal *seal,
	uint8_t *payload);

#endif /* AGGREGATE_RESULT_H */
