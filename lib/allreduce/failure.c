/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"

#include <aggregate_wire.h>

#include "clock.h"
#include "keys.h"
#include "net/way.h"

#define TELL_TIME (2 * NS_PER_S)
#define INTERVAL (50 * NS_PER_MS)
/* Replies expected here are no longer than this. */
#define LARGEST_LEAVE (AGGREGATE_HEADER_BYTES + AGGREGATE_TAG_BYTES)

/* The reason passed to the others: which worker is at fault, or what this one was told itself. */
static uint8_t
reason_of(const struct netfc_allreduce *comm, int status)
{
	unsigned int blamed = (unsigned int)comm->silent;

	/* A worker that is late may come yet: it is this one's deadline that has passed. */
	if (status != NETFC_ALLREDUCE_TIMEOUT && comm->silent >= 0 && comm->silent_level > 0)
		return AGGREGATE_REASON_PARENT;
	if (status != NETFC_ALLREDUCE_TIMEOUT && comm->silent >= 0 &&
		blamed != comm->options.worker)
		return (uint8_t)(AGGREGATE_MISSING + blamed);
	switch (status) {
	case NETFC_ALLREDUCE_MISMATCH:
		return AGGREGATE_REASON_MISMATCH;
	case NETFC_ALLREDUCE_WINDOW:
		return AGGREGATE_REASON_WINDOW;
	default:
		return AGGREGATE_REASON_FAILED;
	}
}

static void
tell(struct netfc_allreduce *comm)
{
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (comm->peer[k].joined)
			join_send(comm, &comm->peer[k], AGGREGATE_LEAVE, comm->peer[k].session,
				false);
	}
}

void
failure_begin(struct netfc_allreduce *comm, int status)
{
	comm->failed_for = reason_of(comm, status);
	comm->failure_until = clock_now() + TELL_TIME;
	tell(comm); /* now, in case the program ends */
	pthread_cond_signal(&comm->work);
}

static bool
any_joined(const struct netfc_allreduce *comm)
{
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (comm->peer[k].joined)
			return true;
	}
	return false;
}

bool
failure_is_due(const struct netfc_allreduce *comm)
{
	return comm->life == ALLREDUCE_BROKEN && !comm->driving && any_joined(comm) &&
		clock_now() < comm->failure_until;
}

/* The switch has answered: it has been told, or no longer has the job, which is just as good. */
static void
hear(struct netfc_allreduce *comm, struct peer *peer)
{
	struct aggregate_message reply;
	uint8_t payload[LARGEST_LEAVE];
	ssize_t length;

	while ((length = way_receive(&peer->channel[0], payload, sizeof(payload))) >= 0) {
		if (keys_read_reply(comm, peer, payload, (size_t)length, &reply) &&
			reply.op == AGGREGATE_LEAVE && reply.job == comm->options.job &&
			reply.worker == comm->options.worker && reply.session == peer->session)
			peer->joined = false;
	}
}

void
failure_tell(struct netfc_allreduce *comm)
{
	const struct timespec until = clock_timespec(clock_now() + INTERVAL);

	tell(comm);
	pthread_cond_timedwait(&comm->work, &comm->lock, &until);
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (comm->peer[k].joined)
			hear(comm, &comm->peer[k]);
	}
}
