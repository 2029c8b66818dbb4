/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ports.h"
#include "shim.h"

#define MAX_ATTEMPTS 4
#define SHARED_SLOTS 128
#define PORTS_NS (5 * NS_PER_S) /* how long to look for one that is free */
#define PORT_NAP_NS 20000000
#define NEXT_NUMBER 9973 /* from the number of an attempt to that of the next */

const struct place_member *
joining_member(const struct job *job)
{
	return &job->places->member[job->places->of_rank[job->rank]];
}

uint16_t
joining_number(const struct job *job)
{
	return (uint16_t)(job->invitation.job + NEXT_NUMBER * job->attempts);
}

static unsigned int
power_of_two_below(unsigned int number)
{
	return 1U << (31 - __builtin_clz(number));
}

/* Of the size of this one, as many as there may be now. */
static unsigned int
communicators_at_once(const struct job *job)
{
	unsigned int most = 1;
	int world = job->ranks;

	for (int rank = 0; rank < job->ranks; rank++)
		most = job->records[rank].jobs > most ? job->records[rank].jobs : most;
	PMPI_Comm_size(MPI_COMM_WORLD, &world);
	return world > job->ranks ? most * (unsigned int)(world / job->ranks) : most;
}

/*
 * The n-th communicator asks for 128 / n, from 32 down. So 128 of them have 448 together, of the
 * 512 that a switch has by default, and in whichever order they come and go: one that is there
 * with n - 1 older ones was at least the n-th when it came.
 */
uint16_t
joining_slots(const struct job *job)
{
	unsigned int share = SHARED_SLOTS / communicators_at_once(job);

	if (shim.settings.slots != 0)
		return (uint16_t)shim.settings.slots;
	if (share == 0)
		return 1;
	return (uint16_t)(share < JOB_SLOTS ? power_of_two_below(share) : JOB_SLOTS);
}

unsigned int
joining_granted(const struct job *job)
{
	struct netfc_allreduce_info info;

	netfc_allreduce_info(job->network, &info);
	return info.switches == 0 ? 0 : info.slots / info.switches;
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

static void
take_place(const struct job *job, struct netfc_allreduce_options *options)
{
	const struct places *places = job->places;
	const struct place_member *member = joining_member(job);

	options->worker = member->worker;
	options->workers = places->workers[member->leaf];
	if (places->leaves == 1)
		return;
	options->tree_workers = places->members;
	options->levels = 1;
	options->level[0] = (struct netfc_allreduce_level){places->leaves, member->leaf};
}

static bool
may_wait(const struct job *job)
{
	return !job->cut && clock_ns() - job->invited < shim.settings.deadline_ms * NS_PER_MS;
}

/*
 * A rank may have started the reduction and compute since, for as long as a reduction may take. It
 * is heard before it joins: from then on, others give it all the time of a join.
 */
static int
join_with(struct job *job, const struct netfc_allreduce_options *options)
{
	bool heard;
	int status;

	do {
		heard = atomic_load(&job->heard);
		status = netfc_allreduce_join(job->network, options);
	} while (status == NETFC_ALLREDUCE_INTERRUPTED ||
		(status == NETFC_ALLREDUCE_WAITING && !heard && may_wait(job)));
	return status;
}

/*
 * By the first port that no other communicator has. One that was left is free again as soon as the
 * switch has noticed.
 */
static int
join_by_port(struct job *job, const struct netfc_allreduce_options *without_port)
{
	struct netfc_allreduce_options options = *without_port;
	const struct timespec nap = {.tv_nsec = PORT_NAP_NS};
	const uint64_t begun = clock_ns();
	int status = NETFC_ALLREDUCE_SYSTEM;
	unsigned int n = 0;
	struct port port;

	options.interface = port.interface;
	options.bind_address = port.address;
	while (status == NETFC_ALLREDUCE_SYSTEM && !job->cut) {
		const char *problem =
			ports_get(shim.settings.interface, shim.settings.bind_address, n++, &port);

		if (problem != NULL && problem[0] != '\0') {
			job->problem = problem;
			return NETFC_ALLREDUCE_ARGUMENT;
		}
		if (problem == NULL)
			status = join_with(job, &options);
		else if (clock_ns() - begun > PORTS_NS)
			break;
		else
			nanosleep(&nap, NULL);
		n = problem == NULL ? n : 0;
	}
	return status;
}

static int
join_switch(struct job *job)
{
	char names[JOB_SWITCHES_BYTES];
	const char *switches[NETFC_ALLREDUCE_MAX_SWITCHES];
	const bool own_switches = job->places->leaves > 1 && shim.settings.switches != NULL;
	struct netfc_allreduce_options options;

	netfc_allreduce_options_init(&options, sizeof(options));
	snprintf(names, sizeof(names), "%s",
		own_switches ? shim.settings.switches : job->invitation.switches);
	options.switch_count = split(names, switches);
	options.switches = switches;
	options.token = job->invitation.token;
	options.job = joining_number(job);
	options.slots = job->invitation.slots;
	options.interface = shim.settings.interface;
	options.join_ms = shim.settings.join_ms;
	options.deadline_ms = shim.settings.deadline_ms;
	take_place(job, &options);
	if (ports_are_meant(shim.settings.interface))
		return join_by_port(job, &options);
	options.bind_address = shim.settings.bind_address;
	return join_with(job, &options);
}

/* Whether the switch takes exact sums of a format: only trying shows it. */
static int
try_totals(struct job *job, unsigned int format)
{
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(format, 1);
	double zero = 0, result;
	int status;

	if (totals == NULL)
		return NETFC_ALLREDUCE_MEMORY;
	netfc_allreduce_totals_add(totals, &zero);
	if (joining_member(job)->ranks > 1)
		status = netfc_allreduce_digits(job->network, totals, &result, NETFC_ALLREDUCE_SUM);
	else
		status = netfc_allreduce(job->network, &zero, 1, format, NETFC_ALLREDUCE_SUM);
	netfc_allreduce_totals_free(totals);
	return status;
}

static enum job_outcome
outcome_of(const struct job *job, int status)
{
	if (status == NETFC_ALLREDUCE_OK)
		return JOB_JOINED;
	if (status == NETFC_ALLREDUCE_TAKEN && job->attempts + 1 < MAX_ATTEMPTS)
		return JOB_TAKEN;
	return JOB_FAILED;
}

static void *
join(void *argument)
{
	struct job *job = argument;
	int status = join_switch(job);

	job->crowded = status == NETFC_ALLREDUCE_FULL || status == NETFC_ALLREDUCE_NO_SLOTS;
	job->outcome = outcome_of(job, status);
	if (status == NETFC_ALLREDUCE_OK && job->by_nodes) {
		status = try_totals(job, NETFC_ALLREDUCE_FP64);
		if (status == NETFC_ALLREDUCE_OK)
			status = try_totals(job, NETFC_ALLREDUCE_FP32);
		if (status == NETFC_ALLREDUCE_MISMATCH || status == NETFC_ALLREDUCE_ARGUMENT)
			job->outcome = JOB_SEPARATE;
		else
			job->outcome = outcome_of(job, status);
	}
	atomic_store_explicit(&job->join_ended, true, memory_order_release);
	return NULL;
}

/* Signals are for the program's own threads. */
bool
joining_start(struct job *job)
{
	sigset_t all, before;

	job->cut = false;
	atomic_store(&job->join_ended, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	job->joins = pthread_create(&job->joiner, NULL, join, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return job->joins;
}

bool
joining_end(struct job *job)
{
	if (!job->joins)
		return true;
	if (!atomic_load_explicit(&job->join_ended, memory_order_acquire))
		return false;
	pthread_join(job->joiner, NULL);
	job->joins = false;
	return true;
}

/* A join that only now begins forgets it. */
void
joining_cut(struct job *job)
{
	job->cut = true;
	netfc_allreduce_abort(job->network);
}
