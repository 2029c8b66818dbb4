/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

#define JOB_NUMBER_SHIFT 48
#define AGREEING_MS 5000 /* more than others need to join, or to hear that the deadline is over */
/* Then a rank tells the others that it has not joined so far, and hears how they are. */
#define TELLING_NS (250 * NS_PER_MS)
/* So long a rank goes on when another one has failed: it may find the same, and say why. */
#define FAILING_NS NS_PER_S

/* A program may have set another error handler since that was made. */
static int
update_private(const struct job *job)
{
	MPI_Errhandler handler;
	int error = PMPI_Comm_get_errhandler(job->comm, &handler);

	if (error != MPI_SUCCESS)
		return error;
	error = PMPI_Comm_set_errhandler(job->private_comm, handler);
	PMPI_Errhandler_free(&handler);
	return error;
}

int
setup_begin(struct job *job)
{
	job->stage = JOB_DUPLICATES;
	if (job->private_comm != MPI_COMM_NULL)
		return update_private(job);
	return PMPI_Comm_idup(job->comm, &job->private_comm, &job->pending);
}

static void
begin_stage(struct job *job, enum job_stage stage)
{
	job->stage = stage;
	job->since = clock_ns();
}

static void
give_up(struct job *job, const char *why)
{
	job_fail(job, why);
	begin_stage(job, JOB_STOPS);
}

/* ---- where each rank is --------------------------------------------------------------------- */

static void
tell(struct job *job)
{
	const char *switches = shim.settings.switches;
	struct place_record *record;

	job->records = calloc((size_t)job->ranks, sizeof(*job->records));
	if (job->records == NULL) {
		give_up(job, "there is not enough memory for a communicator's job");
		return;
	}
	record = &job->records[job->rank];
	job->node.segment.file = shim.settings.separate ? -1 : segment_file();
	record->node =
		job->node.segment.file < 0 ? identity_of_rank(job->rank) : identity_of_node();
	record->switches = switches == NULL ? 0 : places_switches(switches);
	record->process = (int32_t)getpid();
	record->file = job->node.segment.file;
	record->jobs = atomic_load(&shim.job_count);
	job->stage = JOB_TELLS;
	PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, job->records, sizeof(*record), MPI_BYTE,
		job->private_comm, &job->pending);
}

static bool
is_one_node(const struct job *job)
{
	for (int rank = 1; rank < job->ranks; rank++) {
		if (job->records[rank].node != job->records[0].node)
			return false;
	}
	return true;
}

/* Of rank 0. */
static void
fill_invitation(const struct job *job, struct job_invitation *invitation)
{
	const char *switches = shim.settings.switches;

	invitation->fallback = shim.settings.fallback;
	invitation->separate = atomic_load(&shim.separate);
	invitation->slots = joining_slots(job);
	invitation->switchless = shim.settings.local && !invitation->separate && is_one_node(job);
	if (switches == NULL && !invitation->switchless) {
		shim_log_left(LEFT_NO_SWITCH, "a communicator", MPI_COMM_SELF);
		return;
	}
	if (switches != NULL && strlen(switches) >= sizeof(invitation->switches)) {
		shim_log("NETFC_SWITCH is longer than %zu", sizeof(invitation->switches) - 1);
		return;
	}
	if (switches != NULL)
		memcpy(invitation->switches, switches, strlen(switches) + 1);
	invitation->token = netfc_allreduce_draw_token();
	invitation->job = (uint16_t)(netfc_allreduce_draw_token() >> JOB_NUMBER_SHIFT);
}

static void
invite(struct job *job)
{
	struct job_invitation *invitation = &job->invitation;

	if (job->rank == 0)
		fill_invitation(job, invitation);
	job->stage = JOB_INVITES;
	PMPI_Ibcast(invitation, sizeof(*invitation), MPI_BYTE, 0, job->private_comm, &job->pending);
}

/* ---- who joins ------------------------------------------------------------------------------ */

/* Those that name no switches use rank 0's. */
static void
complete_records(struct job *job)
{
	for (int rank = 1; rank < job->ranks; rank++) {
		if (job->records[rank].switches == 0)
			job->records[rank].switches = job->records[0].switches;
	}
}

/* What was to be shared with the node's other ranks. False: it cannot be. */
static bool
share(struct job *job)
{
	const struct place_member *member = joining_member(job);
	const struct segment_shape shape = node_shape(&job->node, member->ranks, 0);
	int file = job->node.segment.file;

	for (int rank = 0; rank < job->rank; rank++)
		job->local += job->places->of_rank[rank] == job->places->of_rank[job->rank];
	if (job->local == 0 &&
		segment_make(&job->node.segment, file, &shape, job->invitation.token))
		return true;
	if (job->local == 0)
		segment_refuse(&job->node.segment);
	else
		segment_close(&job->node.segment);
	return job->local != 0;
}

static void
agree(struct job *job, enum job_outcome outcome)
{
	job->told = job->worst = (int)outcome;
	begin_stage(job, JOB_AGREES);
	if (shim.real.Iallreduce(MPI_IN_PLACE, &job->worst, 1, MPI_INT, MPI_MAX, job->private_comm,
		    &job->pending) != MPI_SUCCESS)
		give_up(job, "MPI cannot set up the communicator's job");
}

/* This rank cannot join, for want of memory or the like: the others have to know. */
static void
refuse(struct job *job, const char *why)
{
	job_fail(job, why);
	agree(job, JOB_FAILED);
}

static void
begin_joining(struct job *job)
{
	begin_stage(job, JOB_JOINS);
	if (job->node.switchless)
		job->outcome = JOB_JOINED;
	else if (job->local == 0 && !joining_start(job))
		refuse(job, "no thread can be made to join with");
}

static void
go_by_mpi(struct job *job)
{
	node_close(&job->node);
	job->by_mpi = true;
	job->stage = JOB_READY;
}

static void
find_places(struct job *job)
{
	enum places_status status;

	free(job->places);
	status = places_find(&job->places, job->records, job->ranks, job->by_nodes);
	if (status == PLACES_NO_MEMORY) {
		refuse(job, "there is not enough memory for a communicator's job");
		return;
	}
	if (status == PLACES_TOO_MANY) {
		shim_log_left(LEFT_SIZE, "a communicator", job->comm);
		go_by_mpi(job);
		return;
	}
	if (job->by_nodes && job->places->members == 1 && !node_begin_alone(&job->node)) {
		refuse(job, "there is not enough memory for exact sums");
		return;
	}
	job->by_nodes = job->by_nodes && job->places->members < (unsigned int)job->ranks;
	if (!job->by_nodes)
		node_close(&job->node);
	if (!job->by_nodes || share(job))
		begin_joining(job);
	else
		agree(job, JOB_SEPARATE);
}

static void
accept_invitation(struct job *job)
{
	job->fallback = job->invitation.fallback;
	job->invited = clock_ns();
	if (job->invitation.token == 0) {
		go_by_mpi(job);
		return;
	}
	complete_records(job);
	job->by_nodes = !job->invitation.separate;
	job->node.switchless = job->invitation.switchless;
	find_places(job);
}

/* ---- whether all have joined ---------------------------------------------------------------- */

/* Of a rank for which another one joins: whether both share memory. */
static bool
end_sharing(struct job *job)
{
	const struct place_member *member = joining_member(job);
	const struct segment_shape shape = node_shape(&job->node, member->ranks, job->local);
	const struct place_record *first = &job->records[member->rank];
	char path[SEGMENT_PATH_BYTES];
	enum segment_status status;

	segment_path(path, first->process, first->file);
	status = segment_attach(&job->node.segment, path, &shape, job->invitation.token);
	job->outcome = status == SEGMENT_OK ? JOB_JOINED : JOB_SEPARATE;
	return status != SEGMENT_NOT_YET;
}

static bool
has_joined(struct job *job)
{
	if (job->local == 0)
		return joining_end(job);
	return job->node.segment.shared != NULL || end_sharing(job);
}

/* Others may wait for one that cannot join: so all tell each other how they are, time and again. */
static void
end_joining(struct job *job)
{
	if (has_joined(job)) {
		if (job->outcome == JOB_FAILED && job->by_nodes)
			job_report_failure(job);
		agree(job, job->outcome);
	} else if (clock_ns() - job->since > TELLING_NS) {
		agree(job, JOB_PENDING);
	}
}

static void
report_slots(const struct job *job)
{
	const unsigned int wanted = shim.settings.slots != 0 ? shim.settings.slots : JOB_SLOTS;
	const unsigned int granted = joining_granted(job);

	if (job->rank != 0 || granted >= wanted || atomic_exchange(&shim.said_slots, true))
		return;
	shim_log("a communicator of %d ranks has %u slots of the switch, not %u: %s (said once)",
		job->ranks, granted, wanted,
		granted < job->invitation.slots
			? "more are not left; start it with more (--aggregate slots=)"
			: "many communicators share them (NETFC_MPI_SLOTS)");
}

static void
report_joined(const struct job *job)
{
	if (!job->node.switchless)
		report_slots(job);
	if (!shim.settings.verbose || job->rank != 0)
		return;
	if (job->node.switchless) {
		shim_log("a communicator of %d ranks needs no switch: they share memory",
			job->ranks);
		return;
	}
	shim_log("a communicator of %d ranks has job %u at %s; workers: %u, switches: %u%s",
		job->ranks, joining_number(job), job->invitation.switches, job->places->members,
		job->places->leaves,
		job->by_nodes ? "; ranks that share memory are one worker" : "");
}

static void
report_separate(const struct job *job)
{
	if (!atomic_exchange(&shim.separate, true) && shim.settings.verbose && job->rank == 0)
		shim_log(
			"each rank of a communicator is a worker of its own, since the switch takes no "
			"exact sums of a node's ranks (--aggregate digits=fp32+fp64), or a node's "
			"ranks cannot share memory");
}

static void
fail_joining(struct job *job)
{
	const char *why = NULL;

	if (job->node.segment.shared != NULL)
		why = node_failure(&job->node);
	if (why != NULL)
		give_up(job, why);
	else if (job->told != JOB_FAILED && (job->cut || job->outcome != JOB_FAILED))
		give_up(job, "another rank of the communicator cannot join: it says why");
	else
		job_fail_of_network(job);
	job->stage = JOB_READY;
}

static bool
may_go_on(const struct job *job)
{
	return !job->failed && job->worst == JOB_PENDING;
}

/* Of a rank that joins while others cannot: whether it has ended that. */
static bool
has_stopped(struct job *job)
{
	const bool has_to = job->failed || job->worst != JOB_FAILED;

	if (joining_end(job))
		return true;
	if (has_to || clock_ns() - job->since > FAILING_NS)
		joining_cut(job);
	return false;
}

/* Ranks of a node cannot be one worker, or need no switch: each is a worker, if there is one. */
static void
separate(struct job *job)
{
	if (job->invitation.switches[0] == '\0') {
		atomic_store(&shim.separate, true);
		shim_log_left(LEFT_MEMORY, "a communicator", job->comm);
		go_by_mpi(job);
		return;
	}
	job->attempts++;
	report_separate(job);
	job->by_nodes = false;
	job->node.switchless = false;
	job->local = 0;
	find_places(job);
}

static void
conclude(struct job *job)
{
	if (job->failed) {
		job->stage = JOB_READY;
		return;
	}
	switch (job->worst) {
	case JOB_JOINED:
		job->stage = JOB_READY;
		report_joined(job);
		return;
	case JOB_PENDING:
		begin_stage(job, JOB_JOINS);
		return;
	case JOB_TAKEN:
		job->attempts++;
		begin_joining(job);
		return;
	case JOB_SEPARATE:
		separate(job);
		return;
	default:
		fail_joining(job);
	}
}

static bool
is_complete(struct job *job)
{
	int complete = 0;

	if (shim.real.Test(&job->pending, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS)
		return complete;
	give_up(job, "MPI cannot set up the communicator's job");
	return false;
}

/* A rank may have started the reduction and compute since, as in any reduction. */
static uint64_t
longest_agreeing_ns(void)
{
	const uint64_t joins = 2 * (uint64_t)shim.settings.join_ms;
	const uint64_t reduces = shim.settings.deadline_ms;

	return ((joins > reduces ? joins : reduces) + AGREEING_MS) * NS_PER_MS;
}

static bool
have_agreed(struct job *job)
{
	if (is_complete(job)) {
		atomic_store(&job->heard, true);
		return true;
	}
	if (job->stage == JOB_AGREES && clock_ns() - job->since > longest_agreeing_ns())
		give_up(job,
			"not all ranks of the communicator say whether they have joined: look for "
			"one that has ended or is stopped");
	return false;
}

void
setup_advance(struct job *job)
{
	if (job->stage == JOB_DUPLICATES && is_complete(job))
		tell(job);
	if (job->stage == JOB_TELLS && is_complete(job))
		invite(job);
	if (job->stage == JOB_INVITES && is_complete(job))
		accept_invitation(job);
	if (job->stage == JOB_JOINS)
		end_joining(job);
	if (job->stage == JOB_AGREES && have_agreed(job))
		begin_stage(job, JOB_STOPS);
	if (job->stage == JOB_STOPS && (may_go_on(job) || has_stopped(job)))
		conclude(job);
}
