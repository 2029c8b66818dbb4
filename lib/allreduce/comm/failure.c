/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <aggregate_wire.h>

#include "clock.h"

#define INTERVAL (50 * NS_PER_MS)

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

void
failure_begin(struct netfc_allreduce *comm, int status)
{
	const uint64_t now = clock_now();

	local_fail(comm, status);
	for (unsigned int k = 0; k < comm->peers; k++)
		member_part(&comm->peer[k].member, reason_of(comm, status), now);
	pthread_cond_signal(&comm->work);
}

bool
failure_is_due(const struct netfc_allreduce *comm)
{
	bool due = false;

	for (unsigned int k = 0; k < comm->peers; k++)
		due |= member_is_leaving(&comm->peer[k].member);
	return due && comm->life == ALLREDUCE_BROKEN && !comm->driving;
}

void
failure_tell(struct netfc_allreduce *comm)
{
	const uint64_t now = clock_now();
	const struct timespec until = clock_timespec(now + INTERVAL);

	for (unsigned int k = 0; k < comm->peers; k++)
		member_part_again(&comm->peer[k].member, now);
	pthread_cond_timedwait(&comm->work, &comm->lock, &until);
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (member_is_leaving(&comm->peer[k].member))
			member_hear(&comm->peer[k].member);
	}
}
