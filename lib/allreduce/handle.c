/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <time.h>

#include <aggregate_format.h>

#include "clock.h"
#include "collective.h"
#include "drive.h"
#include "error.h"
#include "window/window.h"

unsigned int
netfc_allreduce_value_bytes(unsigned int format)
{
	return aggregate_value_bytes(format);
}

/* Append it to the queue and send what the window allows; with the lock. */
static void
start(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle)
{
	uint64_t now = clock_now();

	if (TAILQ_EMPTY(&comm->queue))
		comm->head_since = now;
	TAILQ_INSERT_TAIL(&comm->all, handle, in_all);
	TAILQ_INSERT_TAIL(&comm->queue, handle, in_queue);
	comm->eager += !handle->lazy;
	window_extend(comm, handle);
	drive_send(comm, now);
	drive_wake(comm);
	if (!handle->lazy && !comm->driving)
		pthread_cond_signal(&comm->work);
}

/* With the lock. */
static void
wait_until(struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle, uint64_t then)
{
	const struct timespec until = clock_timespec(then);

	while (handle->status == NETFC_ALLREDUCE_PENDING) {
		if (!comm->driving)
			drive_for(comm, handle, then);
		else if (then == NEVER)
			pthread_cond_wait(&comm->done, &comm->lock);
		else
			pthread_cond_timedwait(&comm->done, &comm->lock, &until);
		if (then != NEVER && clock_now() >= then)
			return;
	}
}

int
netfc_collective_start(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	bool lazily, struct netfc_allreduce_handle **handle)
{
	struct netfc_allreduce_handle *made;
	int status;

	*handle = NULL;
	made = malloc(sizeof(*made));
	pthread_mutex_lock(&comm->lock);
	if (made == NULL)
		status = error_say(
			comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory for a handle.");
	else
		status = collective_check(comm, collective);
	if (made != NULL && status == NETFC_ALLREDUCE_OK) {
		collective_plan(comm, collective, lazily, made);
		start(comm, made);
	}
	pthread_mutex_unlock(&comm->lock);
	if (status == NETFC_ALLREDUCE_OK)
		*handle = made;
	else
		free(made);
	return status;
}

int
netfc_allreduce_wait(struct netfc_allreduce_handle **handle, int timeout_ms, unsigned int *flags)
{
	struct netfc_allreduce_handle *one = *handle;
	struct netfc_allreduce *comm = one->comm;
	uint64_t then = timeout_ms < 0 ? NEVER : clock_now() + (uint64_t)timeout_ms * NS_PER_MS;
	int status;

	pthread_mutex_lock(&comm->lock);
	wait_until(comm, one, then);
	status = one->status;
	if (status != NETFC_ALLREDUCE_PENDING)
		TAILQ_REMOVE(&comm->all, one, in_all);
	pthread_mutex_unlock(&comm->lock);
	if (status == NETFC_ALLREDUCE_PENDING)
		return status;
	if (flags != NULL)
		*flags = one->flags;
	*handle = NULL;
	free(one);
	return status;
}

int
netfc_collective(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	struct netfc_allreduce_handle handle;
	int status;

	pthread_mutex_lock(&comm->lock);
	status = collective_check(comm, collective);
	if (status == NETFC_ALLREDUCE_OK) {
		collective_plan(comm, collective, true, &handle);
		start(comm, &handle);
		wait_until(comm, &handle, NEVER);
		status = handle.status;
		TAILQ_REMOVE(&comm->all, &handle, in_all);
	}
	pthread_mutex_unlock(&comm->lock);
	return status;
}
