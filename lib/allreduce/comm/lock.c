/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator's lock. Who drives has it almost all the time, and most implementations hand a
 * mutex to nobody in particular: so the driver waits for those who wait for it.
 */
#include "comm/comm.h"

#include "clock.h"

/* How long the driver waits for a thread that may not have the processor. */
#define LET_IN NS_PER_MS

bool
lock_enter(struct netfc_allreduce *comm)
{
	if (is_forked(comm))
		return false;
	if (pthread_mutex_trylock(&comm->lock) == 0)
		return true;
	atomic_fetch_add(&comm->callers, 1);
	pthread_mutex_lock(&comm->lock);
	atomic_fetch_sub(&comm->callers, 1);
	pthread_cond_signal(&comm->entered);
	return true;
}

void
lock_leave(struct netfc_allreduce *comm)
{
	pthread_mutex_unlock(&comm->lock);
}

void
lock_wait(struct netfc_allreduce *comm, uint64_t then)
{
	const struct timespec until = clock_timespec(then);

	comm->waiters++;
	if (then == NEVER)
		pthread_cond_wait(&comm->done, &comm->lock);
	else
		pthread_cond_timedwait(&comm->done, &comm->lock, &until);
	comm->waiters--;
	if (comm->woken > 0 && --comm->woken == 0)
		pthread_cond_signal(&comm->entered);
}

void
lock_wake(struct netfc_allreduce *comm)
{
	comm->woken = comm->waiters;
	pthread_cond_broadcast(&comm->done);
}

void
lock_let_in(struct netfc_allreduce *comm)
{
	struct timespec until;

	if (atomic_load(&comm->callers) == 0 && comm->woken == 0)
		return;
	until = clock_timespec(clock_now() + LET_IN);
	pthread_cond_timedwait(&comm->entered, &comm->lock, &until);
}
