/* SPDX-License-Identifier: BSD-3-Clause */
#include "persistent.h"

#include <stdlib.h>

#include "job.h"
#include "shim.h"

#define TAG 0

struct persistent {
	struct persistent *next;
	struct call call; /* its communicator is the request's own */
	int rank;
	MPI_Request request;
	bool active;      /* started, and not waited for so far */
	atomic_bool runs; /* the reduction */
	int error;        /* its end */
};

/* Without locking where a program has none at all. */
static struct persistent *
find(MPI_Request request)
{
	struct persistent *found;

	if (atomic_load_explicit(&shim.persistent, memory_order_relaxed) == NULL)
		return NULL;
	pthread_mutex_lock(&shim.persistent_lock);
	for (found = shim.persistent; found != NULL && found->request != request;
		found = found->next)
		;
	pthread_mutex_unlock(&shim.persistent_lock);
	return found;
}

static void
link_up(struct persistent *persistent)
{
	pthread_mutex_lock(&shim.persistent_lock);
	persistent->next = shim.persistent;
	shim.persistent = persistent;
	pthread_mutex_unlock(&shim.persistent_lock);
}

static void
unlink_from_all(const struct persistent *persistent)
{
	struct persistent *before;

	pthread_mutex_lock(&shim.persistent_lock);
	if (shim.persistent == persistent) {
		shim.persistent = persistent->next;
	} else {
		for (before = shim.persistent; before->next != persistent; before = before->next)
			;
		before->next = persistent->next;
	}
	pthread_mutex_unlock(&shim.persistent_lock);
}

int
persistent_make(const struct call *call, MPI_Request *request)
{
	struct persistent *made = calloc(1, sizeof(*made));
	int error;

	if (made == NULL)
		return raise_error(call->comm, MPI_ERR_NO_MEM);
	made->call = *call;
	made->call.persistent = made;
	error = job_copy(call->comm, &made->call.comm);
	if (error == MPI_SUCCESS) {
		PMPI_Comm_rank(made->call.comm, &made->rank);
		error = PMPI_Recv_init(
			NULL, 0, MPI_BYTE, made->rank, TAG, made->call.comm, &made->request);
	}
	if (error != MPI_SUCCESS) {
		free(made);
		return error;
	}
	*request = made->request;
	link_up(made);
	return MPI_SUCCESS;
}

void
persistent_complete(struct persistent *persistent, int error)
{
	persistent->error = error;
	atomic_store(&persistent->runs, false);
	OWN(Send)(NULL, 0, MPI_BYTE, persistent->rank, TAG, persistent->call.comm);
}

/* Whether MPI has said which requests are done: some of them, maybe, with errors of their own. */
static bool
has_told(int error)
{
	int class = MPI_SUCCESS;

	if (error != MPI_SUCCESS)
		PMPI_Error_class(error, &class);
	return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

int
persistent_completed(int error, int count, const int *which, const MPI_Request requests[])
{
	if (!has_told(error))
		return error;
	for (int i = 0; i < count; i++) {
		struct persistent *found = find(requests[which == NULL ? i : which[i]]);

		if (found == NULL || !found->active || atomic_load(&found->runs))
			continue;
		found->active = false;
		if (found->error != MPI_SUCCESS)
			error = raise_error(found->call.comm, found->error);
	}
	return error;
}

/* ---- what a program does with them ---------------------------------------------------------- */

static int
refuse_active(const struct persistent *persistent, const char *function)
{
	shim_log("rank %d: %s of an active request of %s: it has to be waited for first", shim.rank,
		function, persistent->call.name);
	PMPI_Comm_call_errhandler(persistent->call.comm, MPI_ERR_REQUEST);
	return MPI_ERR_REQUEST;
}

static int
start(struct persistent *persistent)
{
	int error;

	if (shim_is_forked())
		return refuse_fork("MPI_Start");
	if (persistent->active)
		return refuse_active(persistent, "MPI_Start");
	error = shim.real.Start(&persistent->request);
	if (error != MPI_SUCCESS)
		return error;
	persistent->active = true;
	atomic_store(&persistent->runs, true);
	error = begin_reduction(&persistent->call, &persistent->request);
	if (error != MPI_SUCCESS) {
		persistent_complete(persistent, error);
		shim.real.Wait(&persistent->request, MPI_STATUS_IGNORE);
		persistent->active = false;
	}
	return error;
}

FUNCTION(Start, (MPI_Request * request))
{
	struct persistent *persistent = find(*request);

	return persistent == NULL ? shim.real.Start(request) : start(persistent);
}

FUNCTION(Startall, (int count, MPI_Request requests[]))
{
	int error = MPI_SUCCESS;

	if (atomic_load_explicit(&shim.persistent, memory_order_relaxed) == NULL)
		return shim.real.Startall(count, requests);
	for (int i = 0; i < count && error == MPI_SUCCESS; i++)
		error = netfc_mpi_Start(&requests[i]);
	return error;
}

/* As soon as MPI has freed it, another thread's request may be the same. */
static int
free_persistent(struct persistent *persistent, MPI_Request *request)
{
	int error;

	unlink_from_all(persistent);
	error = shim.real.Request_free(request);
	if (error != MPI_SUCCESS) {
		link_up(persistent);
		return error;
	}
	error = PMPI_Comm_free(&persistent->call.comm);
	free(persistent);
	return error;
}

FUNCTION(Request_free, (MPI_Request * request))
{
	struct persistent *persistent = find(*request);

	if (persistent == NULL)
		return shim.real.Request_free(request);
	if (persistent->active)
		return refuse_active(persistent, "MPI_Request_free");
	return free_persistent(persistent, request);
}

/* MPI forbids it for a reduction. */
FUNCTION(Cancel, (MPI_Request * request))
{
	struct persistent *persistent = find(*request);

	return persistent == NULL ? shim.real.Cancel(request)
				  : refuse_active(persistent, "MPI_Cancel");
}
