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
 * Whether a worker's result is as long as its request, and can take its place: of a chunk with an
 * owner, one of both has values and the other has not, maybe; and results may have another format.
 */
bool result_fits_request(
	const struct aggregate_message *request, const struct aggregate_outcome *outcome);

/**
 * Send a chunk's result to all workers.
 *
 * @param request the last worker's, whose own packet becomes its reply if that fits
 * @param outcome AGGREGATE_SEND_RESULTS
 * @param seal of the request
 * @param payload the request's: the result is written there
 */
void result_send(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, const struct aggregate_seal *seal,
	uint8_t *payload);

/**
 * Send a chunk's result to one worker, in a packet of its own.
 *
 * @param request that worker's
 * @param outcome AGGREGATE_SEND_RESULT
 * @param seal of the request
 * @param sender of the request
 */
void result_send_again(struct app *app, struct lcore *lcore,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal, const struct aggregate_sender *sender);

#endif /* AGGREGATE_RESULT_H */
