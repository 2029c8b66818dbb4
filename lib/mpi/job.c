/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "operation.h"
#include "shim.h"

#define NAME "netfc-mpi: "
#define NAP_NS 100000

bool
job_keeps_input(struct job *job)
{
	return job->stage != JOB_READY || job->fallback;
}

void
job_add(struct job *job, struct operation *operation)
{
	if (job->last == NULL)
		job->first = operation;
	else
		job->last->next = operation;
	job->last = operation;
	atomic_fetch_add(&shim.under_way, 1);
}

static bool
can_start(const struct job *job)
{
	return job->stage == JOB_READY && !job->failed && !job->by_mpi;
}

static void
start_waiting(struct job *job)
{
	struct operation *operation;

	for (operation = job->first; operation != NULL && can_start(job);
		operation = operation->next) {
		if (operation->stage == OPERATION_WAITS)
			operation_start(operation, job);
	}
}

void
job_advance(struct job *job, int patience_ms)
{
	if (job->stage != JOB_READY)
		setup_advance(job);
	if (job->stage != JOB_READY)
		return;
	start_waiting(job);
	while (job->first != NULL && operation_step(job->first, job, patience_ms)) {
		struct operation *done = job->first;

		job->first = done->next;
		if (job->first == NULL)
			job->last = NULL;
		atomic_fetch_sub(&shim.under_way, 1);
		if (done->has_request)
			progress_complete(done);
		operation_release(done);
	}
}

void
job_let_mpi_go_on(struct job *job)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	bool is_ready;

	pthread_mutex_lock(&job->lock);
	is_ready = job->stage == JOB_READY;
	pthread_mutex_unlock(&job->lock);
	progress_mpi();
	if (!is_ready)
		nanosleep(&nap, NULL);
}

void
job_go_by_mpi(struct job *job)
{
	if (job->by_mpi)
		return;
	job->by_mpi = true;
	netfc_allreduce_abort(job->network);
	if (job->rank == 0)
		shim_log("reductions of this communicator go by MPI from now on "
			 "(NETFC_MPI_FALLBACK=1): their results depend on order again");
}

void
job_fail(struct job *job, const char *why)
{
	char text[MPI_MAX_ERROR_STRING];

	if (job->failed)
		return;
	job->failed = true;
	if (job->by_nodes) /* others may wait for this one */
		netfc_allreduce_abort(job->network);
	shim_log("rank %d: %s", shim.rank, why);
	snprintf(text, sizeof(text), NAME "%.*s", (int)(sizeof(text) - sizeof(NAME)), why);
	if (PMPI_Add_error_code(shim.error_class, &job->error) != MPI_SUCCESS ||
		PMPI_Add_error_string(job->error, text) != MPI_SUCCESS)
		job->error = MPI_ERR_OTHER;
}

/* Who has many requests may not know that the switch has a job for each. */
static const char *
reason_of_crowd(const struct job *job)
{
	if (!job->crowded || job->first == NULL || job->first->call.persistent == NULL)
		return "";
	return "Each persistent request has a job of its own: free those that are of no use any "
	       "more (MPI_Request_free). ";
}

/* What the network says, and who of the communicator is meant where that is not plain. */
static void
write_failure(const struct job *job, char *text, size_t bytes)
{
	unsigned int level, leaf;
	int member = netfc_allreduce_silent_member(job->network, &level);
	int length = snprintf(text, bytes, "%s%s", reason_of_crowd(job),
		job->problem != NULL ? job->problem : netfc_allreduce_error(job->network));
	char names[128];

	if (member < 0 || level != 0 || (!job->by_nodes && job->places->leaves == 1))
		return;
	leaf = job->places->member[job->places->of_rank[job->rank]].leaf;
	places_name(job->places, job->ranks, leaf, (unsigned int)member, names, sizeof(names));
	snprintf(text + length, bytes - (size_t)length, " That is %s of the communicator.", names);
}

void
job_fail_of_network(struct job *job)
{
	char text[SEGMENT_WHY_BYTES];

	write_failure(job, text, sizeof(text));
	job_fail(job, text);
}

void
job_report_failure(struct job *job)
{
	char text[SEGMENT_WHY_BYTES];

	write_failure(job, text, sizeof(text));
	segment_fail(&job->node.segment, 0, -1, text);
}

int
job_local_rank(const struct job *job, int n)
{
	unsigned int member = job->places->of_rank[job->rank];
	int rank;

	for (rank = 0; rank < job->ranks; rank++) {
		if (job->places->of_rank[rank] == member && n-- == 0)
			break;
	}
	return rank;
}

void
job_advance_all(void)
{
	if (atomic_load_explicit(&shim.under_way, memory_order_relaxed) == 0 || shim_is_forked() ||
		pthread_mutex_trylock(&shim.lock) != 0)
		return;
	for (struct job *job = shim.jobs; job != NULL; job = job->next) {
		if (job->first == NULL || pthread_mutex_trylock(&job->lock) != 0)
			continue;
		job_advance(job, 0);
		pthread_mutex_unlock(&job->lock);
	}
	pthread_mutex_unlock(&shim.lock);
}

static void
register_job(struct job *job)
{
	pthread_mutex_lock(&shim.lock);
	job->next = shim.jobs;
	shim.jobs = job;
	atomic_fetch_add(&shim.job_count, 1);
	pthread_mutex_unlock(&shim.lock);
}

static void
unregister_job(struct job *job)
{
	struct job **link;

	pthread_mutex_lock(&shim.lock);
	for (link = &shim.jobs; *link != job; link = &(*link)->next)
		;
	*link = job->next;
	atomic_fetch_sub(&shim.job_count, 1);
	pthread_mutex_unlock(&shim.lock);
}

static void
free_job(struct job *job)
{
	if (job == NULL || job->pending != MPI_REQUEST_NULL) /* MPI may write to it yet */
		return;
	netfc_allreduce_free(job->network);
	pthread_mutex_destroy(&job->lock);
	free(job->records);
	free(job->places);
	free(job);
}

static struct job *
new_job(MPI_Comm comm)
{
	struct job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return NULL;
	pthread_mutex_init(&job->lock, NULL);
	job->comm = comm;
	job->private_comm = MPI_COMM_NULL;
	job->pending = MPI_REQUEST_NULL;
	job->node.segment.file = -1;
	PMPI_Comm_rank(comm, &job->rank);
	PMPI_Comm_size(comm, &job->ranks);
	return job;
}

/* It goes with the communicator. NULL: *error says why. */
static struct job *
attach(MPI_Comm comm, int *error)
{
	struct job *job = new_job(comm);

	*error = job == NULL ? MPI_ERR_NO_MEM : PMPI_Comm_set_attr(comm, shim.keyval, job);
	if (*error == MPI_SUCCESS)
		return job;
	free_job(job);
	return NULL;
}

#ifdef MPI_IDUP_IS_MIXED_UP
int
job_copy(MPI_Comm comm, MPI_Comm *copy)
{
	MPI_Group group;
	int error = PMPI_Comm_group(comm, &group);

	if (error != MPI_SUCCESS)
		return error;
	error = shim.real.Comm_create(comm, group, copy);
	PMPI_Group_free(&group);
	return error;
}

int
job_prepare(MPI_Comm comm)
{
	int several, ranks, error;
	struct job *job;

	if (comm == MPI_COMM_NULL || shim_is_forked() || !shim_attach())
		return MPI_SUCCESS;
	PMPI_Comm_test_inter(comm, &several);
	PMPI_Comm_size(comm, &ranks);
	if (several || ranks == 1)
		return MPI_SUCCESS;
	job = attach(comm, &error);
	return job == NULL ? error : job_copy(comm, &job->private_comm);
}
#else
/* It may not wait alone: other ranks may need this one's reductions before they copy it, too. */
int
job_copy(MPI_Comm comm, MPI_Comm *copy)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	MPI_Request pending;
	int done = 0, error = PMPI_Comm_idup(comm, copy, &pending);

	while (error == MPI_SUCCESS && !done) {
		job_advance_all();
		error = shim.real.Test(&pending, &done, MPI_STATUS_IGNORE);
		if (!done)
			nanosleep(&nap, NULL);
	}
	return error;
}

int
job_prepare(MPI_Comm comm)
{
	(void)comm;
	return MPI_SUCCESS;
}
#endif

/* At its first reduction. */
static int
begin(struct job *job)
{
	int error = MPI_ERR_NO_MEM;

	job->network = netfc_allreduce_new();
	if (job->network != NULL)
		error = setup_begin(job);
	if (error == MPI_SUCCESS) {
		register_job(job);
	} else {
		netfc_allreduce_free(job->network);
		job->network = NULL;
	}
	return error;
}

struct job *
job_of(MPI_Comm comm, int *error)
{
	struct job *job;
	int found;

	*error = PMPI_Comm_get_attr(comm, shim.keyval, &job, &found);
	if (*error != MPI_SUCCESS)
		return NULL;
	if (!found)
		job = attach(comm, error);
	if (job != NULL && job->network == NULL)
		*error = begin(job);
	return *error == MPI_SUCCESS ? job : NULL;
}

void
job_finish(struct job *job)
{
	bool busy = true;

	while (busy) {
		pthread_mutex_lock(&job->lock);
		job_advance(job, 1);
		busy = job->first != NULL || job->stage != JOB_READY;
		pthread_mutex_unlock(&job->lock);
		if (busy)
			job_let_mpi_go_on(job);
	}
}

void
finish_earlier(MPI_Comm comm)
{
	struct job *job;
	int found = 0;

	if (!progress_may_wait() && comm != MPI_COMM_NULL &&
		PMPI_Comm_get_attr(comm, shim.keyval, &job, &found) == MPI_SUCCESS && found)
		job_finish(job);
}

static void
leave(struct job *job)
{
	job_finish(job);
	netfc_allreduce_leave(job->network);
	node_close(&job->node);
}

void
job_leave_all(void)
{
	for (struct job *job = shim.jobs; job != NULL; job = job->next)
		leave(job);
}

int
job_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
	struct job *job = value;

	(void)comm;
	(void)keyval;
	(void)extra;
	if (shim_is_forked() || shim.ended) /* the parent's, or left already */
		return MPI_SUCCESS;
	if (job->network != NULL) {
		unregister_job(job);
		leave(job);
	}
	if (job->private_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&job->private_comm);
	free_job(job);
	return MPI_SUCCESS;
}
