/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <aggregate_format.h>

#include "clock.h"
#include "drive.h"
#include "error.h"
#include "window/window.h"

unsigned int
netfc_allreduce_value_bytes(unsigned int format)
{
	return aggregate_value_bytes(format);
}

static int
check(struct netfc_allreduce *comm, const void *data, uint64_t count, unsigned int format,
	unsigned int op)
{
	if (data == NULL)
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT, "The array of values is NULL.");
	if (count == 0 || count > NETFC_ALLREDUCE_MAX_COUNT)
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array has %" PRIu64 " values: give 1 to %" PRIu64 ".", count,
			NETFC_ALLREDUCE_MAX_COUNT);
	if (!aggregate_is_format(format))
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no format %u: see enum netfc_allreduce_format.", format);
	if (!aggregate_is_reduction(op))
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no operation %u: see enum netfc_allreduce_op.", op);
	if ((uintptr_t)data % aggregate_value_bytes(format) != 0)
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array is not aligned to its values of %u bytes: its element type is "
			"another, maybe.",
			aggregate_value_bytes(format));
	if (comm->life == ALLREDUCE_JOINED && comm->bytes < aggregate_value_bytes(format))
		return error_say(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks are granted %u bytes, and a value has %u: ask for more, option bytes.",
			comm->bytes, aggregate_value_bytes(format));
	/* What went wrong first says more. */
	if (comm->life == ALLREDUCE_APART)
		return error_say(comm, NETFC_ALLREDUCE_BROKEN,
			"No job is joined: call netfc_allreduce_join() first.");
	return comm->life == ALLREDUCE_JOINED ? NETFC_ALLREDUCE_OK : NETFC_ALLREDUCE_BROKEN;
}

static void
fill_in(struct netfc_allreduce_handle *handle, struct netfc_allreduce *comm, void *data,
	uint64_t count, unsigned int format, unsigned int op, bool lazily)
{
	unsigned int bytes = aggregate_value_bytes(format);
	unsigned int in_chunk = comm->bytes / bytes;

	*handle = (struct netfc_allreduce_handle){
		.comm = comm,
		.data = data,
		.count = count,
		.chunks = (count - 1) / in_chunk + 1,
		.left = (count - 1) / in_chunk + 1,
		.in_chunk = in_chunk,
		.value_bytes = bytes,
		.format = (uint8_t)format,
		.op = (uint8_t)op,
		.lazy = lazily,
		.status = NETFC_ALLREDUCE_PENDING,
	};
}

/* Put it at the queue's end and send what can be sent of it; with the lock. */
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
netfc_allreduce_start(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op, bool lazily, struct netfc_allreduce_handle **handle)
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
		status = check(comm, data, count, format, op);
	if (made != NULL && status == NETFC_ALLREDUCE_OK) {
		fill_in(made, comm, data, count, format, op, lazily);
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
netfc_allreduce(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op)
{
	struct netfc_allreduce_handle handle;
	int status;

	pthread_mutex_lock(&comm->lock);
	status = check(comm, data, count, format, op);
	if (status == NETFC_ALLREDUCE_OK) {
		fill_in(&handle, comm, data, count, format, op, true);
		start(comm, &handle);
		wait_until(comm, &handle, NEVER);
		status = handle.status;
		TAILQ_REMOVE(&comm->all, &handle, in_all);
	}
	pthread_mutex_unlock(&comm->lock);
	return status;
}
