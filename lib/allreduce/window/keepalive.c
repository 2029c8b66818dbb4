/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include "clock.h"
#include "error.h"
#include "internal.h"

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
	/* An error is a packet lost. */
	join_send(comm, peer, AGGREGATE_JOIN, peer->session, false);
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

/* Of a join of this session's: what comes late from before it says nothing of it. */
static bool
is_answer(const struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply)
{
	return reply->token == comm->options.token &&
		reply->id - peer->first_alive < comm->next_id - peer->first_alive;
}

int
keepalive_reply(
	struct netfc_allreduce *comm, struct peer *peer, const struct aggregate_message *reply)
{
	if (!is_answer(comm, peer, reply))
		return NETFC_ALLREDUCE_OK;
	if (reply->code == NETFC_STATUS_OK && aggregate_granted_session(reply) == peer->session)
		return NETFC_ALLREDUCE_OK;
	/* The job is another one, or the switch does not know this one's session any more. */
	if (reply->code == NETFC_STATUS_OK || reply->reason == AGGREGATE_REASON_COOKIE ||
		reply->reason == AGGREGATE_REASON_WAITING)
		return error_of_reply(comm, peer, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_NO_JOB);
	return error_of_reply(comm, peer, reply->code, reply->reason);
}
