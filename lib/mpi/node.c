/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"
#include "job.h"

#define LOOK_NS (20 * NS_PER_MS)
#define CHECK_NS NS_PER_S
#define STOPPED_NS (5 * NS_PER_S) /* of waiting; then, of being stopped: a switch's stall=10 */
/* The first rank knows more: let it speak first. */
#define GRACE_NS (2 * NS_PER_S)
#define CUT_BYTES (2 * SEGMENT_PIECE_BYTES)

static bool
is_first(const struct node *node)
{
	return node->segment.rank == 0;
}

static size_t
values_of_piece(const struct operation *operation, size_t done)
{
	size_t most = SEGMENT_PIECE_BYTES / operation->call.conversion.value_bytes;
	size_t left = operation->call.count - done;

	return left < most ? left : most;
}

/* ---- each rank gives and takes -------------------------------------------------------------- */

static void
give(struct node *node, struct operation *operation)
{
	const struct conversion *conversion = &operation->call.conversion;
	struct segment_rank *self = &node->segment.shared->rank[node->segment.rank];
	size_t values = values_of_piece(operation, operation->given);

	memcpy(segment_piece(&node->segment, node->segment.rank, node->given),
		(const char *)operation->call.send + operation->given * conversion->value_bytes,
		values * conversion->value_bytes);
	self->call[node->given % SEGMENT_DEPTH] = (struct segment_call){(uint32_t)values,
		(uint8_t)conversion->format, (uint8_t)conversion->op,
		(uint8_t)conversion->value_bytes, (uint8_t)conversion->pieces};
	operation->given += values;
	atomic_store_explicit(&self->given, ++node->given, memory_order_release);
	segment_ring(&node->segment.shared->given);
}

static bool
give_all(struct job *job)
{
	struct node *node = &job->node;
	const uint64_t end =
		atomic_load_explicit(&node->segment.shared->pieces_done, memory_order_acquire) +
		SEGMENT_DEPTH;
	const uint64_t before = node->given;
	struct operation *operation;

	for (operation = job->first; operation != NULL && operation->stage == OPERATION_RUNS;
		operation = operation->next) {
		while (operation->given < operation->call.count && node->given < end)
			give(node, operation);
		if (operation->given < operation->call.count)
			break;
	}
	return node->given != before;
}

/* What is not kept is taken as well: the place is free again. */
static bool
take_all(struct job *job)
{
	struct node *node = &job->node;
	struct operation *operation = job->first;
	const size_t bytes = operation->call.conversion.value_bytes;
	const uint64_t done =
		atomic_load_explicit(&node->segment.shared->pieces_done, memory_order_acquire);
	const uint64_t before = node->taken;

	while (operation->taken < operation->call.count && node->taken < done) {
		size_t values = values_of_piece(operation, operation->taken);

		if (operation->call.kept != 0)
			memcpy((char *)operation->result + operation->taken * bytes,
				segment_piece(&node->segment, node->segment.ranks, node->taken),
				values * bytes);
		operation->taken += values;
		atomic_store_explicit(&node->segment.shared->rank[node->segment.rank].taken,
			++node->taken, memory_order_release);
	}
	if (node->taken == before)
		return false;
	segment_ring(&node->segment.shared->given);
	return true;
}

/* ---- the first one reduces ------------------------------------------------------------------ */

static bool
have_all_given(const struct node *node)
{
	const struct segment *segment = &node->segment;

	for (int r = 0; r < segment->ranks; r++) {
		const struct segment_rank *rank = &segment->shared->rank[r];

		if (atomic_load_explicit(&rank->given, memory_order_acquire) <= node->started ||
			atomic_load_explicit(&rank->taken, memory_order_acquire) + SEGMENT_DEPTH <=
				node->started)
			return false;
	}
	return true;
}

/* The rank that calls something else than the first; 0: none. */
static int
stranger(const struct node *node)
{
	const struct segment_rank *rank = node->segment.shared->rank;
	size_t place = node->started % SEGMENT_DEPTH;

	for (int r = 1; r < node->segment.ranks; r++) {
		if (memcmp(&rank[r].call[place], &rank[0].call[place],
			    sizeof(rank[0].call[place])) != 0)
			return r;
	}
	return 0;
}

static bool
make_totals(struct node_flight *flight)
{
	if (flight->totals != NULL && flight->totals_format == flight->conversion.format &&
		flight->totals_values == flight->values) {
		netfc_allreduce_totals_clear(flight->totals);
		return true;
	}
	netfc_allreduce_totals_free(flight->totals);
	flight->totals = netfc_allreduce_totals_new(flight->conversion.format, flight->values);
	flight->totals_format = flight->conversion.format;
	flight->totals_values = flight->values;
	return flight->totals != NULL;
}

/* Sums of floats: nothing is rounded before the switch does it. */
static bool
add_exactly(
	const struct node *node, struct node_flight *flight, struct netfc_collective *collective)
{
	if (!make_totals(flight))
		return false;
	for (int r = 0; r < node->segment.ranks; r++)
		netfc_allreduce_totals_add(
			flight->totals, segment_piece(&node->segment, r, node->started));
	collective->kind = NETFC_COLLECTIVE_DIGITS;
	collective->values = flight->totals;
	return true;
}

/* All else loses nothing. */
static bool
reduce(const struct node *node, struct node_flight *flight, struct netfc_collective *collective)
{
	const struct conversion *conversion = &flight->conversion;
	void *results = collective->result;

	memcpy(results, segment_piece(&node->segment, 0, node->started),
		flight->values * conversion->value_bytes);
	for (int r = 1; r < node->segment.ranks; r++)
		conversion_reduce(conversion, results,
			segment_piece(&node->segment, r, node->started), flight->values);
	if (!conversion_is_direct(conversion)) {
		if (flight->cut == NULL && (flight->cut = malloc(CUT_BYTES)) == NULL)
			return false;
		conversion_split(conversion, flight->cut, results, flight->values);
		collective->result = flight->cut;
	}
	collective->values = collective->result;
	return true;
}

static bool
start_piece(struct job *job, const struct operation *operation)
{
	struct node *node = &job->node;
	struct node_flight *flight = &node->flight[node->started % SEGMENT_DEPTH];
	const struct conversion *conversion = &operation->call.conversion;
	struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = conversion->format,
		.op = conversion->op,
		.result = segment_piece(&node->segment, node->segment.ranks, node->started)};
	bool exactly = conversion_rounds(conversion) && node->segment.ranks > 1;

	flight->conversion = *conversion;
	flight->values = values_of_piece(operation, operation->summed);
	collective.count = conversion_count(conversion, flight->values);
	if (!(exactly ? add_exactly : reduce)(node, flight, &collective)) {
		segment_fail(&node->segment, "there is not enough memory for exact sums");
		return false;
	}
	if (netfc_collective_start(job->network, &collective, false, &flight->handle) !=
		NETFC_ALLREDUCE_OK) {
		job_report_failure(job);
		return false;
	}
	return true;
}

static struct operation *
next_to_start(struct job *job)
{
	struct operation *operation = job->first;

	while (operation != NULL && operation->summed == operation->call.count)
		operation = operation->next;
	return operation;
}

static bool
start_pieces(struct job *job)
{
	struct node *node = &job->node;
	const uint64_t before = node->started;
	char why[SEGMENT_WHY_BYTES];

	while (node->started < node->ended + SEGMENT_DEPTH && have_all_given(node)) {
		struct operation *operation = next_to_start(job);
		int other;

		if (operation == NULL)
			break;
		other = stranger(node);
		if (other != 0) {
			snprintf(why, sizeof(why),
				"Rank %d and others of the communicator call different collectives: "
				"operation, type and count must be the same in all ranks.",
				job_local_rank(job, other));
			segment_fail(&node->segment, why);
			break;
		}
		if (!start_piece(job, operation))
			break;
		operation->summed += node->flight[node->started++ % SEGMENT_DEPTH].values;
	}
	return node->started != before;
}

static bool
end_pieces(struct job *job, int patience_ms)
{
	struct node *node = &job->node;
	const uint64_t before = node->ended;

	while (node->ended < node->started) {
		struct node_flight *flight = &node->flight[node->ended % SEGMENT_DEPTH];
		int status = netfc_allreduce_wait(&flight->handle, patience_ms, NULL);

		if (status == NETFC_ALLREDUCE_PENDING)
			break;
		if (status != NETFC_ALLREDUCE_OK) {
			job_report_failure(job);
			break;
		}
		if (!conversion_is_direct(&flight->conversion))
			conversion_join(&flight->conversion,
				segment_piece(&node->segment, node->segment.ranks, node->ended),
				flight->cut, flight->values);
		atomic_store_explicit(
			&node->segment.shared->pieces_done, ++node->ended, memory_order_release);
		segment_ring(&node->segment.shared->done);
		patience_ms = 0;
	}
	return node->ended != before;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* Whose part of what this rank waits for is missing; -1: nobody's. */
static int
missing(const struct node *node, bool ended)
{
	const struct segment *segment = &node->segment;

	for (int r = 0; r < segment->ranks; r++) {
		uint64_t given = atomic_load(&segment->shared->rank[r].given);
		bool late = given <= node->taken;

		/* Whoever has given has yet to take; the first has to reduce, too. */
		if (ended ? segment_has_ended(segment, r) &&
					(late || r == 0 ||
						atomic_load(&segment->shared->rank[r].taken) <
							given)
			  : late)
			return r;
	}
	return -1;
}

/* One that is stopped, of those that this rank waits for; -1: none. */
static int
stopped(const struct job *job)
{
	const struct segment *segment = &job->node.segment;

	for (int r = 0; r < segment->ranks; r++) {
		const bool late = atomic_load(&segment->shared->rank[r].given) <= job->node.taken;

		if ((late || r == 0) && r != segment->rank &&
			segment_is_stopped(job->records[job_local_rank(job, r)].process))
			return r;
	}
	return -1;
}

/* Whoever has been stopped for long, as a switch finds out of its workers; -1: nobody. */
static int
stopped_for_long(struct job *job, uint64_t now)
{
	struct node *node = &job->node;
	int found;

	if (now - node->moved < STOPPED_NS || now - node->checked < CHECK_NS)
		return -1;
	node->checked = now;
	found = stopped(job);
	if (found < 0)
		node->stopped = 0;
	else if (node->stopped == 0)
		node->stopped = now;
	return found >= 0 && now - node->stopped >= STOPPED_NS ? found : -1;
}

static void
look_at_others(struct job *job, uint64_t now)
{
	int held = stopped_for_long(job, now);
	struct node *node = &job->node;
	uint64_t waited = now - node->moved;
	uint64_t deadline = shim.settings.deadline_ms * NS_PER_MS;
	int ended = missing(node, true), late = missing(node, false);
	char why[SEGMENT_WHY_BYTES];

	node->looked = now;
	/* It may have ended after doing its part. */
	if (ended >= 0 && atomic_load(&node->segment.shared->pieces_done) <= node->taken)
		snprintf(why, sizeof(why),
			"Rank %d has ended, or freed the communicator, and did not call this "
			"reduction: look at why.",
			job_local_rank(job, ended));
	else if (held >= 0)
		snprintf(why, sizeof(why),
			"Rank %d is stopped (process %d), by a signal or a debugger: let it go on "
			"(kill -CONT) sooner, or look at who has stopped it.",
			job_local_rank(job, held), job->records[job_local_rank(job, held)].process);
	else if (waited > deadline && late >= 0)
		snprintf(why, sizeof(why),
			"Rank %d is late: it has not called this reduction within %.1f s. Look at "
			"what keeps it, or give it longer (NETFC_MPI_DEADLINE).",
			job_local_rank(job, late), (double)deadline / (double)NS_PER_S);
	else if (waited > deadline + GRACE_NS && !is_first(node))
		snprintf(why, sizeof(why),
			"Rank %d, which speaks to the switch for this node, is late: it is stopped, "
			"maybe.",
			job_local_rank(job, 0));
	else
		return;
	segment_fail(&node->segment, why);
}

static bool
move(struct job *job)
{
	struct node *node = &job->node;
	bool moved = give_all(job);

	if (is_first(node)) {
		moved |= start_pieces(job);
		moved |= end_pieces(job, 0);
	}
	return take_all(job) || moved;
}

static void
wait_for_others(struct job *job, unsigned int events, int patience_ms)
{
	struct node *node = &job->node;
	struct segment_shared *shared = node->segment.shared;

	if (is_first(node) && node->ended < node->started)
		end_pieces(job, patience_ms);
	else
		segment_sleep(is_first(node) ? &shared->given : &shared->done, events, patience_ms);
}

const char *
node_advance(struct job *job, int patience_ms)
{
	struct node *node = &job->node;
	struct segment_shared *shared = node->segment.shared;
	unsigned int events = segment_events(is_first(node) ? &shared->given : &shared->done);
	uint64_t now;

	if (segment_failure(&node->segment) != NULL)
		return segment_failure(&node->segment);
	if (move(job)) {
		node->moved = 0;
		return segment_failure(&node->segment);
	}
	now = clock_ns();
	if (node->moved == 0)
		node->moved = node->looked = now;
	if (now - node->looked > LOOK_NS)
		look_at_others(job, now);
	if (patience_ms > 0 && segment_failure(&node->segment) == NULL)
		wait_for_others(job, events, patience_ms);
	return segment_failure(&node->segment);
}

void
node_close(struct node *node)
{
	for (size_t i = 0; i < SEGMENT_DEPTH; i++) {
		struct node_flight *flight = &node->flight[i];

		if (flight->handle != NULL) /* aborted: no wait */
			netfc_allreduce_wait(&flight->handle, -1, NULL);
		netfc_allreduce_totals_free(flight->totals);
		free(flight->cut);
		*flight = (struct node_flight){0};
	}
	segment_close(&node->segment);
}
