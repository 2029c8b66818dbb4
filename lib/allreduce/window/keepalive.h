/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_KEEPALIVE_H
#define ALLREDUCE_KEEPALIVE_H

/**
 * @file
 * Keep-alives: a switch ends idle jobs, and a training step may take longer than its limit. A join
 * shows that this worker is alive and adds nothing.
 */

#include <aggregate_wire.h>

#include "internal.h"

/* When the next keep-alive is due, ns; NEVER. */
uint64_t keepalive_due(const struct netfc_allreduce *comm);

/* Send the keep-alives that are due; receive replies until comm->keepalive_until. */
void keepalive_send(struct netfc_allreduce *comm);

/* Ask a switch whether it is there. */
void keepalive_ask(struct netfc_allreduce *comm, struct peer *peer, uint64_t now);

/* A reply to a join. Returns OK, or has said what went wrong. */
int keepalive_reply(
	struct netfc_allreduce *comm, struct peer *peer, const struct aggregate_message *reply);

#endif /* ALLREDUCE_KEEPALIVE_H */
