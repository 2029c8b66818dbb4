/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/keepalive.h"

#include "clock.h"
#include "error.h"
#include "join.h"

/* How long to listen for replies; there is another time if they take longer. */
#define LISTEN (50 * NS_PER_MS)

static uint64_t
peer_due(const struct netfc_allreduce *comm, const struct peer *peer)
{
	return peer->said + comm->options.keepalive_ms * NS_PER_MS;
}

uint64_t
keepalive_due(const struct netfc_allreduce *comm)
{
	uint64_t due = NEVER;

	if (comm->life != ALLREDUCE_JOINED || comm->options.keepalive_ms == 0)
		return NEVER;
	for (unsigned int k = 0; k < comm->peers; k++) {
		uint64_t then = peer_due(comm, &comm->peer[k]);

		if (then < due)
			due = then;
	}
	return due;
}

static void
tell(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	/* An error shows when something is received. */
	join_send(comm, peer, AGGREGATE_JOIN, 0, peer->cookie, false);
	peer->said = now;
	comm->stats.keepalives++;
}

void
keepalive_send(struct netfc_allreduce *comm)
{
	uint64_t now = clock_now();

	for (unsigned int k = 0; k < comm->peers; k++) {
		if (peer_due(comm, &comm->peer[k]) <= now)
			tell(comm, &comm->peer[k], now);
	}
	comm->keepalive_until = now + LISTEN;
}

void
keepalive_ask(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	tell(comm, peer, now);
	peer->asked = now;
	comm->keepalive_until = now + LISTEN;
}

int
keepalive_reply(
	struct netfc_allreduce *comm, struct peer *peer, const struct aggregate_message *reply)
{
	if (comm->keepalive_until == 0 || reply->code == NETFC_STATUS_OK)
		return NETFC_ALLREDUCE_OK;
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_COOKIE) {
		if (reply->join.cookie != peer->cookie) {
			peer->cookie = reply->join.cookie;
			tell(comm, peer, clock_now());
		}
		return NETFC_ALLREDUCE_OK;
	}
	/* All had joined: if some are missing now, the job is another one. */
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_WAITING)
		return error_of_reply(comm, peer, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NO_JOB);
	return error_of_reply(comm, peer, reply->code, reply->reason);
}
