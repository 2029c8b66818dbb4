/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <aggregate_wire.h>

#include "clock.h"
#include "member/keys.h"
#include "link/link.h"

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

static bool
is_leaving(const struct peer *peer)
{
	return peer->member.state == AGGREGATE_MEMBER_LEAVING;
}

static void
tell(struct netfc_allreduce *comm, uint64_t now)
{
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (is_leaving(&comm->peer[k]))
			join_say(comm, &comm->peer[k], &join_times, 0, now);
	}
}

void
failure_begin(struct netfc_allreduce *comm, int status)
{
	const uint64_t now = clock_now();

	local_fail(comm, status);
	for (unsigned int k = 0; k < comm->peers; k++)
		aggregate_member_leave(
			&comm->peer[k].member, &join_times, reason_of(comm, status), now);
	tell(comm, now); /* now, in case the program ends */
	pthread_cond_signal(&comm->work);
}

bool
failure_is_due(const struct netfc_allreduce *comm)
{
	bool due = false;

	for (unsigned int k = 0; k < comm->peers; k++)
		due |= is_leaving(&comm->peer[k]);
	return due && comm->life == ALLREDUCE_BROKEN && !comm->driving;
}

/* The switch has answered: it has been told, or no longer has the job, which is just as good. */
static void
hear(struct netfc_allreduce *comm, struct peer *peer)
{
	struct aggregate_message reply;
	uint8_t payload[LARGEST_LEAVE];
	ssize_t length;

	while ((length = link_receive(&peer->link, payload, sizeof(payload))) >= 0) {
		if (keys_read_reply(comm, peer, payload, (size_t)length, &reply))
			aggregate_member_take(&peer->member, &join_times, &reply, clock_now());
	}
}

void
failure_tell(struct netfc_allreduce *comm)
{
	const struct timespec until = clock_timespec(clock_now() + INTERVAL);

	tell(comm, clock_now());
	pthread_cond_timedwait(&comm->work, &comm->lock, &until);
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (is_leaving(&comm->peer[k]))
			hear(comm, &comm->peer[k]);
	}
}
