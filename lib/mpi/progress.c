/* SPDX-License-Identifier: BSD-3-Clause */
#include "operation.h"

#include <time.h>

#include "job.h"
#include "persistent.h"
#include "shim.h"

bool
progress_may_wait(void)
{
#ifdef MPI_WAITS_ALONE
	return atomic_load_explicit(&shim.under_way, memory_order_relaxed) == 0 || shim_is_forked();
#else
	return true;
#endif
}

void
progress_mpi(void)
{
	int found;

#ifndef OPEN_MPI /* which calls it from inside */
	job_advance_all();
#endif
	OWN(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

static int
query(void *argument, MPI_Status *status)
{
	const struct operation *operation = argument;

	PMPI_Status_set_elements(status, operation->call.type, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return operation->error;
}

static int
release(void *argument)
{
	operation_release(argument);
	return MPI_SUCCESS;
}

/* Reductions cannot be cancelled: MPI forbids to try. */
static int
cancel(void *argument, int complete)
{
	(void)argument;
	(void)complete;
	return MPI_SUCCESS;
}

#ifdef OPEN_MPI
static int
advance_all(void)
{
	job_advance_all();
	return 0;
}

bool
progress_begin(void)
{
	/* Its header is not installed. */
	int (*add)(int (*function)(void)) = NULL;

	*(void **)&add = real_symbol("opal_progress_register");
	return add != NULL && add(advance_all) == 0;
}

int
progress_make_request(struct operation *operation)
{
	return PMPI_Grequest_start(query, release, cancel, operation, &operation->request);
}
#else
#define SPINS 1000
#define NAP_NS 50000

static int
poll_all(void *argument, MPI_Status *status)
{
	(void)argument;
	(void)status;
	job_advance_all();
	return MPI_SUCCESS;
}

/* Of MPI_Wait(), and of MPI_Waitall() for several. It ends with all of them, whatever the timeout.
 */
static int
wait_all(int count, void **operations, double timeout, MPI_Status *status)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	(void)timeout;
	(void)status;
	for (int i = 0; i < count; i++) {
		const struct operation *operation = operations[i];

		for (unsigned int round = 0;
			!atomic_load_explicit(&operation->completed, memory_order_acquire);
			round++) {
			if (shim_is_forked()) /* nobody is here to complete it */
				return MPI_ERR_OTHER;
			progress_mpi();
			if (round > SPINS) /* others may need the processor */
				nanosleep(&nap, NULL);
		}
	}
	return MPI_SUCCESS;
}

bool
progress_begin(void)
{
	return true;
}

int
progress_make_request(struct operation *operation)
{
	return PMPIX_Grequest_start(
		query, release, cancel, poll_all, wait_all, operation, &operation->request);
}
#endif

void
progress_complete(struct operation *operation)
{
	if (operation->call.persistent != NULL) {
		persistent_complete(operation->call.persistent, operation->error);
		return;
	}
	PMPI_Grequest_complete(operation->request);
	atomic_store_explicit(&operation->completed, true, memory_order_release);
}
