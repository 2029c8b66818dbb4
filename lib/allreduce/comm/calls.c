/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <aggregate_format.h>

#include "clock.h"
#include "comm/comm.h"

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

	if (TAILQ_EMPTY(&comm->calls.queue))
		comm->head_since = now;
	TAILQ_INSERT_TAIL(&comm->all, handle, in_all);
	comm->eager += !handle->lazy;
	calls_append(&comm->calls, &handle->call);
	for (unsigned int k = 0; k < comm->peers; k++)
		window_extend(&comm->peer[k].window);
	progress_send(comm, now);
	progress_wake(comm);
	if (!handle->lazy && !comm->driving)
		pthread_cond_signal(&comm->work);
}

void
calls_finish(struct netfc_allreduce *comm, struct call *call, uint64_t now)
{
	struct netfc_allreduce_handle *handle = (struct netfc_allreduce_handle *)call;

	if (call == TAILQ_FIRST(&comm->calls.queue))
		comm->head_since = now;
	TAILQ_REMOVE(&comm->calls.queue, call, in_queue);
	comm->eager -= !handle->lazy;
	comm->stats.allreduces++;
	comm->stats.values += call->values;
	handle->status = NETFC_ALLREDUCE_OK;
	lock_wake(comm);
}

/* With the lock. */
static void
wait_until(struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle, uint64_t then)
{
	while (handle->status == NETFC_ALLREDUCE_PENDING) {
		if (!comm->driving)
			progress_until(comm, handle, then);
		else
			lock_wait(comm, then);
		if (then != NEVER && clock_now() >= then)
			return;
	}
}

int
netfc_collective_start_labelled(struct netfc_allreduce *comm,
	const struct netfc_collective *collective, uint32_t label, bool lazily,
	struct netfc_allreduce_handle **handle)
{
	struct netfc_allreduce_handle *made;
	int status;

	*handle = NULL;
	if (!lock_enter(comm))
		return NETFC_ALLREDUCE_BROKEN;
	made = malloc(sizeof(*made));
	if (made == NULL)
		status = error_set(
			comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory for a handle.");
	else
		status = collective_plan(comm, collective, label, lazily, made);
	if (made != NULL && status == NETFC_ALLREDUCE_OK)
		start(comm, made);
	lock_leave(comm);
	if (status == NETFC_ALLREDUCE_OK)
		*handle = made;
	else
		free(made);
	return status;
}

int
netfc_collective_start(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	bool lazily, struct netfc_allreduce_handle **handle)
{
	return netfc_collective_start_labelled(comm, collective, 0, lazily, handle);
}

int
netfc_allreduce_wait(struct netfc_allreduce_handle **handle, int timeout_ms, unsigned int *flags)
{
	struct netfc_allreduce_handle *one = *handle;
	struct netfc_allreduce *comm = one->comm;
	uint64_t then = timeout_ms < 0 ? NEVER : clock_now() + (uint64_t)timeout_ms * NS_PER_MS;
	int status;

	if (!lock_enter(comm)) {
		*handle = NULL;
		return NETFC_ALLREDUCE_BROKEN;
	}
	wait_until(comm, one, then);
	status = one->status;
	if (status != NETFC_ALLREDUCE_PENDING)
		TAILQ_REMOVE(&comm->all, one, in_all);
	lock_leave(comm);
	if (status == NETFC_ALLREDUCE_PENDING)
		return status;
	if (flags != NULL)
		*flags = one->call.flags;
	*handle = NULL;
	free(one);
	return status;
}

int
netfc_collective(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	struct netfc_allreduce_handle handle;
	int status;

	if (!lock_enter(comm))
		return NETFC_ALLREDUCE_BROKEN;
	status = collective_plan(comm, collective, 0, true, &handle);
	if (status == NETFC_ALLREDUCE_OK) {
		start(comm, &handle);
		wait_until(comm, &handle, NEVER);
		status = handle.status;
		TAILQ_REMOVE(&comm->all, &handle, in_all);
	}
	lock_leave(comm);
	return status;
}

/* A function for each collective: what it is called with, as a struct netfc_collective. */

static struct netfc_collective
allreduce_of(void *data, uint64_t count, unsigned int format, unsigned int op)
{
	return (struct netfc_collective){.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = format,
		.op = op,
		.values = data,
		.result = data,
		.count = count};
}

int
netfc_allreduce_start(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op, bool lazily, struct netfc_allreduce_handle **handle)
{
	const struct netfc_collective collective = allreduce_of(data, count, format, op);

	return netfc_collective_start(comm, &collective, lazily, handle);
}

int
netfc_allreduce(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op)
{
	const struct netfc_collective collective = allreduce_of(data, count, format, op);

	return netfc_collective(comm, &collective);
}

int
netfc_allreduce_digits(struct netfc_allreduce *comm, const struct netfc_allreduce_totals *totals,
	void *result, unsigned int op)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_DIGITS,
		.format = totals != NULL ? totals->lanes.format : 0,
		.op = op,
		.values = totals,
		.result = result,
		.count = totals != NULL ? totals->count : 0};

	return netfc_collective(comm, &collective);
}

int
netfc_reduce(struct netfc_allreduce *comm, const void *values, void *result, uint64_t count,
	unsigned int format, unsigned int op, unsigned int root)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_REDUCE,
		.format = format,
		.op = op,
		.root = root,
		.values = values,
		.result = result,
		.count = count};

	return netfc_collective(comm, &collective);
}

int
netfc_reduce_scatter(struct netfc_allreduce *comm, const void *values, void *result, uint64_t count,
	unsigned int format, unsigned int op)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_REDUCE_SCATTER,
		.format = format,
		.op = op,
		.values = values,
		.result = result,
		.count = count};

	return netfc_collective(comm, &collective);
}

int
netfc_allgather(struct netfc_allreduce *comm, const void *own, void *all, uint64_t bytes)
{
	const struct netfc_collective collective = {
		.kind = NETFC_COLLECTIVE_ALLGATHER, .values = own, .result = all, .count = bytes};

	return netfc_collective(comm, &collective);
}

int
netfc_broadcast(struct netfc_allreduce *comm, void *data, uint64_t bytes, unsigned int root)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_BROADCAST,
		.root = root,
		.values = data,
		.result = data,
		.count = bytes};

	return netfc_collective(comm, &collective);
}

int
netfc_barrier(struct netfc_allreduce *comm)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_BARRIER};

	return netfc_collective(comm, &collective);
}
