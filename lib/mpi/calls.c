/* SPDX-License-Identifier: BSD-3-Clause */
/* The reductions of MPI: which go through the switch, and what they have in common. */
#include <limits.h>
#include <stdio.h>

#include "operation.h"
#include "job.h"
#include "persistent.h"
#include "shim.h"

/* ---- what goes through the switch ---------------------------------------------------------- */

static bool
leave_to_mpi(const struct call *call, enum left_to_mpi why)
{
	char type[TALLY_NAME_BYTES], what[128];

	tally_type_name(call->type, type);
	snprintf(what, sizeof(what), "%s of %s, %s,", call->name, type,
		tally_operation_name(call->op));
	shim_count(call->name, call->type, call->op, TALLY_MPI, call->count);
	shim_log_left(why, what, call->comm);
	return false;
}

/* All ranks must decide the same way: only by arguments that MPI requires to be equal in all ranks.
 */
static bool
is_for_switch(struct call *call)
{
	enum conversion_status conversion =
		conversion_find(&call->conversion, call->type, call->op);
	int several = 0, ranks = 0;

	if (PMPI_Comm_test_inter(call->comm, &several) != MPI_SUCCESS)
		return false;
	if (several)
		return leave_to_mpi(call, LEFT_INTERCOMMUNICATOR);
	if (conversion == CONVERSION_NO_TYPE)
		return leave_to_mpi(call, LEFT_TYPE);
	if (conversion == CONVERSION_WIDE)
		return leave_to_mpi(call, LEFT_WIDE);
	if (conversion == CONVERSION_NO_OPERATION)
		return leave_to_mpi(call, LEFT_OPERATION);
	if (call->count > INT_MAX)
		return leave_to_mpi(call, LEFT_LARGE);
	/* From here on each part of a value is one. */
	call->count *= call->conversion.parts;
	call->first *= call->conversion.parts;
	call->kept *= call->conversion.parts;
	PMPI_Comm_size(call->comm, &ranks);
	return ranks > 1;
}

/* ---- reductions ---------------------------------------------------------------------------- */

int
raise_error(MPI_Comm comm, int error)
{
	int class = MPI_SUCCESS;

	/* MPI has raised its own. */
	if (error != MPI_SUCCESS && PMPI_Error_class(error, &class) == MPI_SUCCESS &&
		(class == shim.error_class || class == MPI_ERR_NO_MEM))
		PMPI_Comm_call_errhandler(comm, error);
	return error;
}

static int
wait_for(struct job *job, struct operation *operation)
{
	bool done = false;
	int error;

	while (!done) {
		pthread_mutex_lock(&job->lock);
		job_advance(job, 1);
		done = operation->stage == OPERATION_DONE;
		pthread_mutex_unlock(&job->lock);
		if (!done)
			job_let_mpi_go_on(job);
	}
	error = operation->error;
	operation_release(operation);
	return error;
}

/* The lock is held. */
static int
add(struct job *job, struct operation *operation, MPI_Request *request)
{
	const struct call *call = &operation->call;
	int error = MPI_SUCCESS;

	operation->holders = call->persistent == NULL ? 2 : 1;
	operation->has_request = request != NULL;
	if (request != NULL && call->persistent == NULL) {
		error = progress_make_request(operation);
		*request = operation->request;
	}
	if (error == MPI_SUCCESS)
		job_add(job, operation);
	return error;
}

int
begin_reduction(const struct call *call, MPI_Request *request)
{
	struct operation *operation;
	struct job *job;
	int error;

	if (shim.settings.verbose > 1)
		shim_log("rank %d: %s of %zu values through the switch", shim.rank, call->name,
			call->count);
	job = job_of(call->comm, &error);
	if (job == NULL)
		return raise_error(call->comm, error);
	pthread_mutex_lock(&job->lock);
	operation = operation_new(call, job_keeps_input(job));
	error = operation == NULL ? MPI_ERR_NO_MEM : add(job, operation, request);
	if (error == MPI_SUCCESS && request != NULL)
		job_advance(job, 0);
	pthread_mutex_unlock(&job->lock);
	if (error == MPI_SUCCESS && request == NULL)
		error = wait_for(job, operation);
	return raise_error(call->comm, error);
}

/* ---- who keeps what: false where something is wrong, for MPI finds the words for it ---------- */

static bool
keep_all(struct call *call, const void *send, void *receive, long long count)
{
	if (count <= 0 || receive == NULL || send == receive)
		return false;
	call->send = send == MPI_IN_PLACE ? receive : send;
	call->receive = receive;
	call->count = call->kept = (size_t)count;
	return call->send != NULL;
}

static bool
keep_at_root(struct call *call, const void *send, void *receive, long long count, int root)
{
	int rank, ranks;

	if (PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS ||
		PMPI_Comm_size(call->comm, &ranks) != MPI_SUCCESS || root < 0 || root >= ranks)
		return false;
	call->kind = NETFC_COLLECTIVE_REDUCE;
	call->root = (unsigned int)root;
	if (rank == root)
		return keep_all(call, send, receive, count);
	call->send = send;
	call->count = count > 0 ? (size_t)count : 0;
	return call->count > 0 && send != NULL && send != MPI_IN_PLACE;
}

static bool
keep_part(struct call *call, const void *send, void *receive, long long first, long long kept,
	long long count)
{
	if (first < 0 || kept < 0)
		return false;
	if (kept == 0 && send != MPI_IN_PLACE) { /* there may be no memory for nothing */
		call->send = send;
		call->count = count > 0 ? (size_t)count : 0;
		return call->count > 0 && send != NULL;
	}
	if (!keep_all(call, send, receive, count))
		return false;
	call->first = (size_t)first;
	call->kept = (size_t)kept;
	return true;
}

static bool
keep_block(struct call *call, const void *send, void *receive, long long kept)
{
	int rank, ranks;

	if (PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS ||
		PMPI_Comm_size(call->comm, &ranks) != MPI_SUCCESS)
		return false;
	call->kind = NETFC_COLLECTIVE_REDUCE_SCATTER;
	return keep_part(call, send, receive, rank * kept, kept, ranks * kept);
}

#define KEEP_SCATTERED(suffix, count_type)                                                     \
	static bool keep_scattered##suffix(                                                    \
		struct call *call, const void *send, void *receive, const count_type counts[]) \
	{                                                                                      \
		long long first = 0, count = 0;                                                \
		int rank, ranks, alike = 1;                                                    \
                                                                                               \
		if (PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS ||                        \
			PMPI_Comm_size(call->comm, &ranks) != MPI_SUCCESS || counts == NULL)   \
			return false;                                                          \
		for (int i = 0; i < ranks; i++) {                                              \
			if (counts[i] < 0)                                                     \
				return false;                                                  \
			first += i < rank ? counts[i] : 0;                                     \
			count += counts[i];                                                    \
			alike = alike && counts[i] == counts[0];                               \
		}                                                                              \
		call->kind = NETFC_COLLECTIVE_REDUCE_SCATTER;                                  \
		call->counts = alike ? NULL : counts;                                          \
		call->large_counts = sizeof(*counts) == sizeof(MPI_Count);                     \
		return keep_part(call, send, receive, first, counts[rank], count);             \
	}

int
refuse_fork(const char *name)
{
	shim_log("%s is called in a process that is forked from a rank: that is an error", name);
	return MPI_ERR_OTHER;
}

/* ---- by their names ------------------------------------------------------------------------ */

/* A reduction: its parameters and arguments, what a rank keeps, how it begins, and what there is to
 * do before MPI does it. */
#define CALL(function, parameters, arguments, keep, begin, before)                         \
	FUNCTION(function, parameters)                                                     \
	{                                                                                  \
		struct call call = {                                                       \
			.name = "MPI_" #function, .type = type, .op = op, .comm = comm};   \
                                                                                           \
		if (shim_is_forked())                                                      \
			return refuse_fork(call.name);                                     \
		if (shim_begin() && comm != MPI_COMM_NULL && keep && is_for_switch(&call)) \
			return begin;                                                      \
		before;                                                                    \
		return shim.real.function arguments;                                       \
	}

#define VALUES const void *send, void *receive
#define HOW MPI_Datatype type, MPI_Op op
#define EACH(...) __VA_ARGS__
#define NOTHING ((void)0)

/* One that is waited for, the same only started, and as a request to be started again and again. */
#define REDUCTION(name, started, suffix, parameters, arguments, keep)                            \
	CALL(name##suffix, (EACH parameters, MPI_Comm comm), (EACH arguments, comm), keep,       \
		begin_reduction(&call, NULL), finish_earlier(comm))                              \
	CALL(started##suffix, (EACH parameters, MPI_Comm comm, MPI_Request * request),           \
		(EACH arguments, comm, request), keep, begin_reduction(&call, request), NOTHING) \
	CALL(name##_init##suffix,                                                                \
		(EACH parameters, MPI_Comm comm, MPI_Info info, MPI_Request * request),          \
		(EACH arguments, comm, info, request), keep, persistent_make(&call, request),    \
		NOTHING)

/* All of them, for counts of one type. */
#define REDUCTIONS(suffix, count_type)                                                       \
	KEEP_SCATTERED(suffix, count_type)                                                   \
	REDUCTION(Allreduce, Iallreduce, suffix, (VALUES, count_type count, HOW),            \
		(send, receive, count, type, op), keep_all(&call, send, receive, count))     \
	REDUCTION(Reduce, Ireduce, suffix, (VALUES, count_type count, HOW, int root),        \
		(send, receive, count, type, op, root),                                      \
		keep_at_root(&call, send, receive, count, root))                             \
	REDUCTION(Reduce_scatter, Ireduce_scatter, suffix,                                   \
		(VALUES, const count_type counts[], HOW), (send, receive, counts, type, op), \
		keep_scattered##suffix(&call, send, receive, counts))                        \
	REDUCTION(Reduce_scatter_block, Ireduce_scatter_block, suffix,                       \
		(VALUES, count_type count, HOW), (send, receive, count, type, op),           \
		keep_block(&call, send, receive, count))

REDUCTIONS(, int)
#ifdef MPI_LARGE_COUNTS
REDUCTIONS(_c, MPI_Count)
#endif
