/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are waited for, and where the MPI library has nothing to hook into while it waits
 * (MPICH), messages, too: as long as reductions are under way there, they go
 * on in turns with tests of what is waited for. Else it is the MPI library that waits.
 */
#include <stdlib.h>
#include <time.h>

#include "job.h"
#include "operation.h"
#include "persistent.h"
#include "shim.h"

#define SPINS 1000
#define NAP_NS 50000

static void
go_on(void)
{
	if (!progress_may_wait())
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
	int error =
		progress_may_wait() ? shim.real.Wait(request, status) : wait_for(request, status);

	return persistent_completed(error, 1, NULL, request);
}

FUNCTION(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]))
{
	int error = progress_may_wait()
		? shim.real.Waitall(count, requests, statuses)
		: UNTIL_DONE(shim.real.Testall(count, requests, &done, statuses));

	return persistent_completed(error, count, NULL, requests);
}

FUNCTION(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))
{
	int error = progress_may_wait()
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
	int error = progress_may_wait()
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

#define WHERE int tag, MPI_Comm comm

#define SEND(name, begin, suffix, counted)                                                   \
	FUNCTION(name##suffix,                                                               \
		(const void *buffer, counted count, MPI_Datatype type, int to, WHERE))       \
	{                                                                                    \
		MPI_Request request;                                                         \
		int error;                                                                   \
                                                                                             \
		if (progress_may_wait())                                                     \
			return shim.real.name##suffix(buffer, count, type, to, tag, comm);   \
		error = PMPI_##begin##suffix(buffer, count, type, to, tag, comm, &request);  \
		return error == MPI_SUCCESS ? wait_for(&request, MPI_STATUS_IGNORE) : error; \
	}

#define RECV(suffix, counted)                                                                 \
	FUNCTION(Recv##suffix,                                                                \
		(void *buffer, counted count, MPI_Datatype type, int source, WHERE,           \
			MPI_Status *status))                                                  \
	{                                                                                     \
		MPI_Request request;                                                          \
		int error;                                                                    \
                                                                                              \
		if (progress_may_wait())                                                      \
			return shim.real.Recv##suffix(                                        \
				buffer, count, type, source, tag, comm, status);              \
		error = PMPI_Irecv##suffix(buffer, count, type, source, tag, comm, &request); \
		return error == MPI_SUCCESS ? wait_for(&request, status) : error;             \
	}

#define SENDRECV(suffix, counted)                                                                 \
	FUNCTION(Sendrecv##suffix,                                                                \
		(const void *sent, counted sent_count, MPI_Datatype sent_type, int to,            \
			int sent_tag, void *buffer, counted count, MPI_Datatype type, int source, \
			WHERE, MPI_Status *status))                                               \
	{                                                                                         \
		MPI_Request sends, receives;                                                      \
		int error;                                                                        \
                                                                                                  \
		if (progress_may_wait())                                                          \
			return shim.real.Sendrecv##suffix(sent, sent_count, sent_type, to,        \
				sent_tag, buffer, count, type, source, tag, comm, status);        \
		error = PMPI_Irecv##suffix(buffer, count, type, source, tag, comm, &receives);    \
		if (error == MPI_SUCCESS)                                                         \
			error = PMPI_Isend##suffix(                                               \
				sent, sent_count, sent_type, to, sent_tag, comm, &sends);         \
		if (error == MPI_SUCCESS)                                                         \
			error = wait_for(&sends, MPI_STATUS_IGNORE);                              \
		return error == MPI_SUCCESS ? wait_for(&receives, status) : error;                \
	}

/* What is sent is packed first, as the same memory receives. */
#define SENDRECV_REPLACE(suffix, counted)                                                          \
	FUNCTION(Sendrecv_replace##suffix,                                                         \
		(void *buffer, counted count, MPI_Datatype type, int to, int sent_tag, int source, \
			WHERE, MPI_Status *status))                                                \
	{                                                                                          \
		counted bytes = 0, packed = 0;                                                     \
		void *sent;                                                                        \
		int error;                                                                         \
                                                                                                   \
		if (progress_may_wait())                                                           \
			return shim.real.Sendrecv_replace##suffix(                                 \
				buffer, count, type, to, sent_tag, source, tag, comm, status);     \
		error = PMPI_Pack_size##suffix(count, type, comm, &bytes);                         \
		if (error != MPI_SUCCESS)                                                          \
			return error;                                                              \
		sent = malloc((size_t)bytes + 1);                                                  \
		if (sent == NULL)                                                                  \
			return raise_error(comm, MPI_ERR_NO_MEM);                                  \
		error = PMPI_Pack##suffix(buffer, count, type, sent, bytes, &packed, comm);        \
		if (error == MPI_SUCCESS)                                                          \
			error = netfc_mpi_Sendrecv##suffix(sent, packed, MPI_PACKED, to, sent_tag, \
				buffer, count, type, source, tag, comm, status);                   \
		free(sent);                                                                        \
		return error;                                                                      \
	}

#define MESSAGES(suffix, counted)            \
	SEND(Send, Isend, suffix, counted)   \
	SEND(Ssend, Issend, suffix, counted) \
	RECV(suffix, counted)                \
	SENDRECV(suffix, counted)            \
	SENDRECV_REPLACE(suffix, counted)

MESSAGES(, int)
#ifdef MPI_LARGE_COUNTS
MESSAGES(_c, MPI_Count)
#endif

FUNCTION(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
	if (progress_may_wait())
		return shim.real.Probe(source, tag, comm, status);
	return UNTIL_DONE(shim.real.Iprobe(source, tag, comm, &done, status));
}

FUNCTION(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
	if (progress_may_wait())
		return shim.real.Mprobe(source, tag, comm, message, status);
	return UNTIL_DONE(shim.real.Improbe(source, tag, comm, &done, message, status));
}

FUNCTION(Request_get_status, (MPI_Request request, int *done, MPI_Status *status))
{
	go_on();
	return shim.real.Request_get_status(request, done, status);
}

FUNCTION(Iprobe, (int source, int tag, MPI_Comm comm, int *found, MPI_Status *status))
{
	go_on();
	return shim.real.Iprobe(source, tag, comm, found, status);
}

FUNCTION(Improbe,
	(int source, int tag, MPI_Comm comm, int *found, MPI_Message *message, MPI_Status *status))
{
	go_on();
	return shim.real.Improbe(source, tag, comm, found, message, status);
}

#endif /* MPI_WAITS_ALONE */
