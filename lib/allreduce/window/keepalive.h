/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_KEEPALIVE_H
#define ALLREDUCE_KEEPALIVE_H

/**
 * @file
 * Keeping the job: a switch ends one that nothing comes from, and a step of training may take
 * longer than that. A join says that we are still here, and can do no harm: it adds nothing.
 */

#include <aggregate_wire.h>

#include "internal.h"

/* When some switch has to be told, ns; NEVER. */
uint64_t keepalive_due(const struct netfc_allreduce *comm);

/* Tell those whose time has come; replies are listened to until comm->keepalive_until. */
void keepalive_send(struct netfc_allreduce *comm);

/* Ask a switch whether it is there. */
void keepalive_ask(struct netfc_allreduce *comm, struct peer *peer, uint64_t now);

/* A reply to a join. Returns OK, or has said what went wrong. */
int keepalive_reply(
	struct netfc_allreduce *comm, struct peer *peer, const struct aggregate_message *reply);

#endif /* ALLREDUCE_KEEPALIVE_H */
