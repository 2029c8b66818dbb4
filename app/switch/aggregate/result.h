/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_RESULT_H
#define AGGREGATE_RESULT_H

/** @file Results to the workers of a job: packets with headers of their own and the same values. */

#include "aggregate_seal.h"
#include "aggregate_table.h"
#include "app.h"

/**
 * Find out who sent a packet.
 *
 * @param in index of the port where it came in
 * @param mbuf headers in the first segment
 * @param sender its path is a struct path
 */
void result_learn_sender(unsigned int in, const struct rte_mbuf *mbuf, const struct frame *frame,
	struct aggregate_sender *sender);

/**
 * Whether a worker's result is as long as its request, and can replace it. If the chunk has an
 * owner, only one of the two may have values; and results may have another format.
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
 * Send the parent's result of a chunk to all workers, each in a packet of its own.
 *
 * @param request what AGGREGATE_HANDED_DOWN made of the reply
 * @param outcome AGGREGATE_SEND_RESULTS
 */
void result_hand_down(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome);

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
