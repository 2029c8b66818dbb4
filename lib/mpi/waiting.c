/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are waited for, and where the MPI library has nothing to hook into while it waits
 * (MPICH), messages and other collectives, too: as long as reductions are under way there, they go
 * on in turns with tests of what is waited for. Else it is the MPI library that waits.
 */
#include <time.h>

#include "job.h"
#include "operation.h"
#include "persistent.h"
#include "shim.h"

#define EXPORT __attribute__((visibility("default")))
#define FUNCTION(name, parameters)              \
	EXPORT int netfc_mpi_##name parameters; \
	int netfc_mpi_##name parameters

#define SPINS 1000
#define NAP_NS 50000

/* Whether MPI's own waiting will do: no reduction depends on this rank's going on. */
static bool
may_block(void)
{
#ifdef MPI_WAITS_ALONE
	return atomic_load_explicit(&shim.under_way, memory_order_relaxed) == 0 || shim_is_forked();
#else
	return true;
#endif
}

static void
go_on(void)
{
	if (!may_block())
		job_advance_all();
}

/* Between two tests: others may need the processor. */
static void
take_turn(unsigned int *round)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	job_advance_all();
	if ((*round)++ > SPINS)
		nanosleep(&nap, NULL);
}

/* An expression of MPI's, which sets `done`, until it does or is an error. */
#define UNTIL_DONE(test)                                 \
	({                                               \
		unsigned int round_ = 0;                 \
		int done = 0, error_ = (test);           \
                                                         \
		while (error_ == MPI_SUCCESS && !done) { \
			take_turn(&round_);              \
			error_ = (test);                 \
		}                                        \
		error_;                                  \
	})

static int
wait_for(MPI_Request *request, MPI_Status *status)
{
	return UNTIL_DONE(shim.real.Test(request, &done, status));
}

/* ---- requests ------------------------------------------------------------------------------- */

FUNCTION(Wait, (MPI_Request * request, MPI_Status *status))
{
	int error = may_block() ? shim.real.Wait(request, status) : wait_for(request, status);

	return persistent_completed(error, 1, NULL, request);
}

FUNCTION(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]))
{
	int error = may_block() ? shim.real.Waitall(count, requests, statuses)
				: UNTIL_DONE(shim.real.Testall(count, requests, &done, statuses));

	return persistent_completed(error, count, NULL, requests);
}

FUNCTION(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))
{
	int error = may_block()
		? shim.real.Waitany(count, requests, index, status)
		: UNTIL_DONE(shim.real.Testany(count, requests, index, &done, status));

	return persistent_completed(error, *index != MPI_UNDEFINED, index, requests);
}

/* Some are done, or there is none that could be. */
static int
test_some(int count, MPI_Request requests[], int *some, int indices[], MPI_Status statuses[],
	int *done)
{
	int error = shim.real.Testsome(count, requests, some, indices, statuses);

	*done = *some != 0;
	return error;
}

FUNCTION(Waitsome,
	(int count, MPI_Request requests[], int *some, int indices[], MPI_Status statuses[]))
{
	int error = may_block()
		? shim.real.Waitsome(count, requests, some, indices, statuses)
		: UNTIL_DONE(test_some(count, requests, some, indices, statuses, &done));

	return persistent_completed(error, *some, indices, requests);
}

FUNCTION(Test, (MPI_Request * request, int *done, MPI_Status *status))
{
	int error;

	go_on();
	error = shim.real.Test(request, done, status);
	return persistent_completed(error, *done, NULL, request);
}

FUNCTION(Testall, (int count, MPI_Request requests[], int *done, MPI_Status statuses[]))
{
	int error;

	go_on();
	error = shim.real.Testall(count, requests, done, statuses);
	return persistent_completed(error, *done ? count : 0, NULL, requests);
}

FUNCTION(Testany, (int count, MPI_Request requests[], int *index, int *done, MPI_Status *status))
{
	int error;

	go_on();
	error = shim.real.Testany(count, requests, index, done, status);
	return persistent_completed(error, *done && *index != MPI_UNDEFINED, index, requests);
}

FUNCTION(Testsome,
	(int count, MPI_Request requests[], int *some, int indices[], MPI_Status statuses[]))
{
	int error;

	go_on();
	error = shim.real.Testsome(count, requests, some, indices, statuses);
	return persistent_completed(error, *some, indices, requests);
}

/* ---- messages ------------------------------------------------------------------------------- */

#ifdef MPI_WAITS_ALONE

FUNCTION(Recv,
	(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		MPI_Status *status))
{
	MPI_Request request;
	int error;

	if (may_block())
		return PMPI_Recv(buffer, count, type, source, tag, comm, status);
	error = PMPI_Irecv(buffer, count, type, source, tag, comm, &request);
	return error == MPI_SUCCESS ? wait_for(&request, status) : error;
}

FUNCTION(Send, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm))
{
	MPI_Request request;
	int error;

	if (may_block())
		return PMPI_Send(buffer, count, type, to, tag, comm);
	error = PMPI_Isend(buffer, count, type, to, tag, comm, &request);
	return error == MPI_SUCCESS ? wait_for(&request, MPI_STATUS_IGNORE) : error;
}

FUNCTION(Ssend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm))
{
	MPI_Request request;
	int error;

	if (may_block())
		return PMPI_Ssend(buffer, count, type, to, tag, comm);
	error = PMPI_Issend(buffer, count, type, to, tag, comm, &request);
	return error == MPI_SUCCESS ? wait_for(&request, MPI_STATUS_IGNORE) : error;
}

FUNCTION(Sendrecv,
	(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
		void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		MPI_Status *status))
{
	MPI_Request sends, receives;
	int error;

	if (may_block())
		return PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, buffer, count, type,
			source, tag, comm, status);
	error = PMPI_Irecv(buffer, count, type, source, tag, comm, &receives);
	if (error == MPI_SUCCESS)
		error = PMPI_Isend(sent, sent_count, sent_type, to, sent_tag, comm, &sends);
	if (error == MPI_SUCCESS)
		error = wait_for(&sends, MPI_STATUS_IGNORE);
	return error == MPI_SUCCESS ? wait_for(&receives, status) : error;
}

FUNCTION(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
	if (may_block())
		return PMPI_Probe(source, tag, comm, status);
	return UNTIL_DONE(PMPI_Iprobe(source, tag, comm, &done, status));
}

FUNCTION(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
	if (may_block())
		return PMPI_Mprobe(source, tag, comm, message, status);
	return UNTIL_DONE(PMPI_Improbe(source, tag, comm, &done, message, status));
}

/* ---- other collectives ---------------------------------------------------------------------- */

/*
 * All ranks call a communicator's collectives in the same order. So its reductions that were
 * started before another collective end without that, and nothing would let them go on in it.
 */
static void
finish(MPI_Comm comm)
{
	struct job *job;
	int found = 0;

	if (!may_block() && comm != MPI_COMM_NULL &&
		PMPI_Comm_get_attr(comm, shim.keyval, &job, &found) == MPI_SUCCESS && found)
		job_finish(job);
}

#define COLLECTIVE(name, parameters, arguments) \
	FUNCTION(name, parameters)              \
	{                                       \
		finish(comm);                   \
		return PMPI_##name arguments;   \
	}
#define SENT(count_type) const void *sent, count_type sent_count, MPI_Datatype sent_type
#define RECEIVED(count_type) void *received, count_type count, MPI_Datatype type
#define MANY_SENT(count_type, place_type, types) \
	const void *sent, const count_type *sent_counts, const place_type *sent_places, types
#define MANY_RECEIVED(count_type, place_type, types) \
	void *received, const count_type *counts, const place_type *places, types
#define SENT_TYPE MPI_Datatype sent_type
#define SENT_TYPES const MPI_Datatype sent_types[]
#define TYPE MPI_Datatype type
#define TYPES const MPI_Datatype types[]
#define SCANNED(count_type) const void *sent, void *received, count_type count, TYPE, MPI_Op op

/* Of counts and places of these types. */
#define COLLECTIVES(suffix, counted, place)                                                        \
	COLLECTIVE(Bcast##suffix, (RECEIVED(counted), int root, MPI_Comm comm),                    \
		(received, count, type, root, comm))                                               \
	COLLECTIVE(Gather##suffix, (SENT(counted), RECEIVED(counted), int root, MPI_Comm comm),    \
		(sent, sent_count, sent_type, received, count, type, root, comm))                  \
	COLLECTIVE(Gatherv##suffix,                                                                \
		(SENT(counted), MANY_RECEIVED(counted, place, TYPE), int root, MPI_Comm comm),     \
		(sent, sent_count, sent_type, received, counts, places, type, root, comm))         \
	COLLECTIVE(Scatter##suffix, (SENT(counted), RECEIVED(counted), int root, MPI_Comm comm),   \
		(sent, sent_count, sent_type, received, count, type, root, comm))                  \
	COLLECTIVE(Scatterv##suffix,                                                               \
		(MANY_SENT(counted, place, SENT_TYPE), RECEIVED(counted), int root,                \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_type, received, count, type, root, comm))    \
	COLLECTIVE(Allgather##suffix, (SENT(counted), RECEIVED(counted), MPI_Comm comm),           \
		(sent, sent_count, sent_type, received, count, type, comm))                        \
	COLLECTIVE(Allgatherv##suffix,                                                             \
		(SENT(counted), MANY_RECEIVED(counted, place, TYPE), MPI_Comm comm),               \
		(sent, sent_count, sent_type, received, counts, places, type, comm))               \
	COLLECTIVE(Alltoall##suffix, (SENT(counted), RECEIVED(counted), MPI_Comm comm),            \
		(sent, sent_count, sent_type, received, count, type, comm))                        \
	COLLECTIVE(Alltoallv##suffix,                                                              \
		(MANY_SENT(counted, place, SENT_TYPE), MANY_RECEIVED(counted, place, TYPE),        \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_type, received, counts, places, type, comm)) \
	COLLECTIVE(Alltoallw##suffix,                                                              \
		(MANY_SENT(counted, place, SENT_TYPES), MANY_RECEIVED(counted, place, TYPES),      \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_types, received, counts, places, types,      \
			comm))                                                                     \
	COLLECTIVE(Scan##suffix, (SCANNED(counted), MPI_Comm comm),                                \
		(sent, received, count, type, op, comm))                                           \
	COLLECTIVE(Exscan##suffix, (SCANNED(counted), MPI_Comm comm),                              \
		(sent, received, count, type, op, comm))

COLLECTIVES(, int, int)
COLLECTIVES(_c, MPI_Count, MPI_Aint)
COLLECTIVE(Barrier, (MPI_Comm comm), (comm))
COLLECTIVE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
COLLECTIVE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
COLLECTIVE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
COLLECTIVE(
	Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
COLLECTIVE(Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
	(comm, kind, key, info, made))

FUNCTION(Request_get_status, (MPI_Request request, int *done, MPI_Status *status))
{
	go_on();
	return PMPI_Request_get_status(request, done, status);
}

FUNCTION(Iprobe, (int source, int tag, MPI_Comm comm, int *found, MPI_Status *status))
{
	go_on();
	return PMPI_Iprobe(source, tag, comm, found, status);
}

FUNCTION(Improbe,
	(int source, int tag, MPI_Comm comm, int *found, MPI_Message *message, MPI_Status *status))
{
	go_on();
	return PMPI_Improbe(source, tag, comm, found, message, status);
}

#endif /* MPI_WAITS_ALONE */
