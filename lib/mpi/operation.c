/* SPDX-License-Identifier: BSD-3-Clause */
#include "operation.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "shim.h"

static void *
allocate(struct operation *operation, size_t bytes)
{
	for (size_t i = 0; i < sizeof(operation->owned) / sizeof(operation->owned[0]); i++) {
		if (operation->owned[i] == NULL)
			return operation->owned[i] = malloc(bytes);
	}
	return NULL;
}

static bool
keeps_all(const struct call *call)
{
	return call->kept == call->count;
}

/* Whether the switch's library can work on the program's own memory, which MPI lets be anywhere. */
static bool
is_direct(const struct call *call, const void *result)
{
	return conversion_is_direct(&call->conversion) &&
		((uintptr_t)call->send | (uintptr_t)result) % call->conversion.value_bytes == 0;
}

static int
ranks_of(MPI_Comm comm)
{
	int ranks = 0;

	PMPI_Comm_size(comm, &ranks);
	return ranks;
}

/* Programs need theirs only as long as the call, with other libraries. False: no memory. */
static bool
keep_counts(struct operation *operation)
{
	struct call *call = &operation->call;
	const size_t each = call->large_counts ? sizeof(MPI_Count) : sizeof(int);
	const size_t bytes = (size_t)ranks_of(call->comm) * each;
	void *copy;

	if (call->counts == NULL)
		return true;
	copy = allocate(operation, bytes);
	if (copy == NULL)
		return false;
	call->counts = memcpy(copy, call->counts, bytes);
	return true;
}

/* Where results are put, where the switch works, and what is left to give to MPI in the end. */
static bool
prepare(struct operation *operation, bool keep_input)
{
	const struct call *call = &operation->call;
	size_t bytes = call->count * call->conversion.value_bytes;
	bool in_place;

	operation->result = keeps_all(call) ? call->receive : allocate(operation, bytes);
	operation->sent = is_direct(call, operation->result)
		? operation->result
		: allocate(operation, conversion_bytes(&call->conversion, call->count));
	if (operation->result == NULL || operation->sent == NULL)
		return false;
	in_place = call->send == operation->result;
	operation->input = in_place ? MPI_IN_PLACE : call->send;
	operation->handles = call->counts == NULL
		? &operation->handle
		: allocate(operation, (size_t)ranks_of(call->comm) * sizeof(void *));
	if (operation->handles == NULL || !keep_counts(operation))
		return false;
	if (in_place && keep_input) {
		void *copy = allocate(operation, bytes);

		if (copy == NULL)
			return false;
		operation->input = memcpy(copy, call->send, bytes);
	}
	return true;
}

struct operation *
operation_new(const struct call *call, bool keep_input)
{
	struct operation *operation = calloc(1, sizeof(*operation));

	if (operation == NULL)
		return NULL;
	operation->call = *call;
	operation->error = MPI_SUCCESS;
	operation->pending = MPI_REQUEST_NULL;
	operation->holders = 1;
	if (!prepare(operation, keep_input)) {
		operation_release(operation);
		return NULL;
	}
	return operation;
}

void
operation_release(struct operation *operation)
{
	if (atomic_fetch_sub(&operation->holders, 1) > 1)
		return;
	for (size_t i = 0; i < sizeof(operation->owned) / sizeof(operation->owned[0]); i++)
		free(operation->owned[i]);
	free(operation);
}

/* The switch's results are there, or MPI's. */
static bool
finish(struct operation *operation, const struct job *job, bool by_switch)
{
	enum tally_way way = !by_switch ? TALLY_MPI : job->by_nodes ? TALLY_NODE : TALLY_SWITCH;
	const struct call *call = &operation->call;
	size_t bytes = call->conversion.value_bytes;

	if (by_switch && operation->sent != operation->result && operation->taken == 0)
		conversion_join(&call->conversion, (char *)operation->result + call->first * bytes,
			(char *)operation->sent + conversion_bytes(&call->conversion, call->first),
			call->kept);
	if (call->receive != NULL && !keeps_all(call))
		memcpy(call->receive, (char *)operation->result + call->first * bytes,
			call->kept * bytes);
	shim_count(call->name, call->type, call->op, way, call->count / call->conversion.parts);
	operation->stage = OPERATION_DONE;
	return true;
}

static bool
fail(struct operation *operation, int error)
{
	operation->error = error;
	operation->stage = OPERATION_DONE;
	return true;
}

static bool
reduce_again(struct operation *operation, struct job *job)
{
	const struct call *call = &operation->call;
	int error = shim.real.Iallreduce(operation->input, operation->result,
		(int)(call->count / call->conversion.parts), call->type, call->op,
		job->private_comm, &operation->pending);

	if (error != MPI_SUCCESS)
		return fail(operation, error);
	operation->stage = OPERATION_AGAIN;
	return false;
}

/* Where all may go on by MPI, all have to know whether somebody has no result. */
static bool
agree(struct operation *operation, struct job *job)
{
	int error = shim.real.Iallreduce(MPI_IN_PLACE, &operation->succeeded, 1, MPI_INT, MPI_MIN,
		job->private_comm, &operation->pending);

	if (error != MPI_SUCCESS)
		return fail(operation, error);
	operation->stage = OPERATION_AGREES;
	return false;
}

static bool
is_complete(struct operation *operation)
{
	int complete = 0;

	operation->error = shim.real.Test(&operation->pending, &complete, MPI_STATUS_IGNORE);
	if (operation->error != MPI_SUCCESS)
		operation->stage = OPERATION_DONE;
	return complete && operation->error == MPI_SUCCESS;
}

static bool
left_the_switch(struct operation *operation, struct job *job)
{
	if (job->fallback)
		return agree(operation, job);
	return operation->succeeded ? finish(operation, job, true) : fail(operation, job->error);
}

/* Where all may have to go on by MPI, all need all results; and a tree has allreduces only. */
static bool
is_shared_out(const struct call *call, const struct job *job)
{
	return call->kind != NETFC_COLLECTIVE_ALLREDUCE && !job->fallback &&
		job->places->leaves == 1;
}

static struct netfc_collective
plan(const struct operation *operation, const struct job *job)
{
	const struct call *call = &operation->call;
	const bool direct = operation->sent == operation->result;
	struct netfc_collective made = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = call->conversion.format,
		.op = call->conversion.op,
		.values = operation->sent,
		.result = operation->sent,
		.count = conversion_count(&call->conversion, call->count)};

	if (!direct)
		conversion_split(&call->conversion, operation->sent, call->send, call->count);
	if (!is_shared_out(call, job)) {
		if (direct && operation->sent != call->send)
			memmove(operation->sent, call->send,
				call->count * call->conversion.value_bytes);
		return made;
	}
	made.kind = call->kind;
	made.root = call->root;
	made.values = direct ? call->send : operation->sent;
	if (call->kind == NETFC_COLLECTIVE_REDUCE_SCATTER) {
		made.count = conversion_count(&call->conversion, call->kept);
		made.result =
			(char *)operation->sent + conversion_bytes(&call->conversion, call->first);
	}
	return made;
}

static bool
start_in_switch(struct operation *operation, struct job *job, const struct netfc_collective *made)
{
	if (netfc_collective_start(job->network, made, !operation->has_request,
		    &operation->handles[operation->started]) == NETFC_ALLREDUCE_OK) {
		operation->started++;
		return true;
	}
	operation->refused = true;
	job_fail_of_network(job);
	return false;
}

static size_t
values_kept_by(const struct call *call, int rank)
{
	size_t count = call->large_counts ? (size_t)((const MPI_Count *)call->counts)[rank]
					  : (size_t)((const int *)call->counts)[rank];

	return count * call->conversion.parts;
}

/* Parts that are not equally long are a reduction each, whose results go to its owner. */
static void
start_parts(struct operation *operation, struct job *job, const struct netfc_collective *whole)
{
	const struct call *call = &operation->call;
	struct netfc_collective part = *whole;
	size_t at = 0, count;

	part.kind = NETFC_COLLECTIVE_REDUCE;
	for (int rank = 0; rank < job->ranks; rank++, at += count) {
		count = values_kept_by(call, rank);
		part.root = (unsigned int)rank;
		part.values = (const char *)whole->values + conversion_bytes(&call->conversion, at);
		part.count = conversion_count(&call->conversion, count);
		if (count != 0 && !start_in_switch(operation, job, &part))
			return;
	}
}

void
operation_start(struct operation *operation, struct job *job)
{
	struct netfc_collective collective;

	operation->stage = OPERATION_RUNS;
	if (job->by_nodes)
		return;
	collective = plan(operation, job);
	if (operation->call.counts != NULL && is_shared_out(&operation->call, job))
		start_parts(operation, job, &collective);
	else
		start_in_switch(operation, job, &collective);
}

/* Ranks of a node do it together. */
static bool
step_in_node(struct operation *operation, struct job *job, int patience_ms)
{
	const char *why = job->failed ? "" : node_advance(job, patience_ms);

	operation->succeeded = operation->taken == operation->call.count;
	if (!operation->succeeded && why == NULL)
		return false;
	if (!operation->succeeded)
		job_fail(job, why);
	return left_the_switch(operation, job);
}

static bool
step_in_switch(struct operation *operation, struct job *job, int patience_ms)
{
	int status = operation->refused ? NETFC_ALLREDUCE_BROKEN : NETFC_ALLREDUCE_OK;

	while (operation->ended < operation->started && status == NETFC_ALLREDUCE_OK) {
		status = netfc_allreduce_wait(
			&operation->handles[operation->ended], patience_ms, NULL);
		if (status == NETFC_ALLREDUCE_PENDING)
			return false;
		operation->ended++;
	}
	operation->succeeded = status == NETFC_ALLREDUCE_OK;
	if (!operation->succeeded)
		job_fail_of_network(job);
	return left_the_switch(operation, job);
}

/* An earlier one has failed somewhere: this one's result is nobody's, even if it is there. */
static bool
give_up_switch(struct operation *operation, struct job *job)
{
	while (operation->ended < operation->started) /* they were aborted: no wait */
		netfc_allreduce_wait(&operation->handles[operation->ended++], -1, NULL);
	return reduce_again(operation, job);
}

/* Before this one it may have turned out that all go by MPI from now on. */
static bool
step_waiting(struct operation *operation, struct job *job)
{
	if (job->by_mpi)
		return reduce_again(operation, job);
	operation->succeeded = 0;
	return left_the_switch(operation, job);
}

static bool
step_agreeing(struct operation *operation, struct job *job)
{
	if (!is_complete(operation))
		return operation->stage == OPERATION_DONE;
	if (operation->succeeded)
		return finish(operation, job, true);
	job_go_by_mpi(job);
	return reduce_again(operation, job);
}

bool
operation_step(struct operation *operation, struct job *job, int patience_ms)
{
	switch (operation->stage) {
	case OPERATION_WAITS:
		return step_waiting(operation, job);
	case OPERATION_RUNS:
		if (job->by_mpi)
			return give_up_switch(operation, job);
		return (job->by_nodes ? step_in_node : step_in_switch)(operation, job, patience_ms);
	case OPERATION_AGREES:
		return step_agreeing(operation, job);
	case OPERATION_AGAIN:
		if (!is_complete(operation))
			return operation->stage == OPERATION_DONE;
		return finish(operation, job, false);
	default:
		return true;
	}
}
