/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <signal.h>
#include <string.h>

#include "shim.h"

#define JOB_NUMBER_SHIFT 48

int
setup_begin(struct job *job)
{
	job->stage = JOB_DUPLICATES;
	return PMPI_Comm_idup(job->comm, &job->private_comm, &job->pending);
}

/* Of rank 0. */
static void
fill_invitation(struct job_invitation *invitation)
{
	const char *switches = shim.settings.switches;

	invitation->fallback = shim.settings.fallback;
	if (switches == NULL) {
		shim_say_left(LEFT_NO_SWITCH, "a communicator", MPI_COMM_SELF);
		return;
	}
	if (strlen(switches) >= sizeof(invitation->switches)) {
		shim_say("NETFC_SWITCH is longer than %zu", sizeof(invitation->switches) - 1);
		return;
	}
	memcpy(invitation->switches, switches, strlen(switches) + 1);
	invitation->token = netfc_allreduce_draw_token();
	invitation->job = (uint16_t)(netfc_allreduce_draw_token() >> JOB_NUMBER_SHIFT);
}

static void
invite(struct job *job)
{
	struct job_invitation *invitation = &job->invitation;

	if (job->rank == 0)
		fill_invitation(invitation);
	job->stage = JOB_INVITES;
	PMPI_Ibcast(invitation, sizeof(*invitation), MPI_BYTE, 0, job->private_comm, &job->pending);
}

/* The names between commas, in place. */
static unsigned int
split(char *names, const char *switches[])
{
	unsigned int count = 0;
	char *state, *name;

	for (name = strtok_r(names, ", ", &state);
		name != NULL && count < NETFC_ALLREDUCE_MAX_SWITCHES;
		name = strtok_r(NULL, ", ", &state))
		switches[count++] = name;
	return count;
}

static void *
join(void *argument)
{
	struct job *job = argument;
	const char *switches[NETFC_ALLREDUCE_MAX_SWITCHES];
	struct netfc_allreduce_options options;

	netfc_allreduce_options_init(&options, sizeof(options));
	options.switch_count = split(job->invitation.switches, switches);
	options.switches = switches;
	options.token = job->invitation.token;
	options.job = job->invitation.job;
	options.worker = (unsigned int)job->rank;
	options.workers = (unsigned int)job->ranks;
	options.interface = shim.settings.interface;
	options.join_ms = shim.settings.join_ms;
	options.deadline_ms = shim.settings.deadline_ms;
	do
		job->join_status = netfc_allreduce_join(job->network, &options);
	while (job->join_status == NETFC_ALLREDUCE_INTERRUPTED);
	atomic_store_explicit(&job->join_ended, true, memory_order_release);
	return NULL;
}

/* Signals are for the program's own threads. */
static bool
start_joiner(struct job *job)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&job->joiner, NULL, join, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static void
accept_invitation(struct job *job)
{
	job->fallback = job->invitation.fallback;
	job->by_mpi = job->invitation.token == 0;
	job->stage = JOB_READY;
	if (job->by_mpi)
		return;
	if (start_joiner(job))
		job->stage = JOB_JOINS;
	else
		job_fail(job, "no thread can be made to join with");
}

static void
end_joining(struct job *job)
{
	if (!atomic_load_explicit(&job->join_ended, memory_order_acquire))
		return;
	pthread_join(job->joiner, NULL);
	job->stage = JOB_READY;
	if (job->join_status != NETFC_ALLREDUCE_OK)
		job_fail(job, netfc_allreduce_error(job->network));
	else if (shim.settings.verbose && job->rank == 0)
		shim_say("a communicator of %d ranks has job %u at %s", job->ranks,
			job->invitation.job, shim.settings.switches);
}

static bool
is_complete(struct job *job)
{
	int complete = 0;

	if (PMPI_Test(&job->pending, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS)
		return complete;
	job_fail(job, "MPI cannot set up the communicator's job");
	job->stage = JOB_READY;
	return false;
}

void
setup_advance(struct job *job)
{
	if (job->stage == JOB_DUPLICATES && is_complete(job))
		invite(job);
	if (job->stage == JOB_INVITES && is_complete(job))
		accept_invitation(job);
	if (job->stage == JOB_JOINS)
		end_joining(job);
}
