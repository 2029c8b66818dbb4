/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_format.h>
#include <memory/reducer.h>

#include "job.h"
#include "shim.h"

#define STOPPED_NS (5 * NS_PER_S) /* of waiting; then, of being stopped: a switch's stall=10 */
#define MOST_PIECES 512           /* of a communicator: 8 MiB */
#define CUT_BYTES (CONVERSION_GROWTH * SEGMENT_PIECE_BYTES)

static bool
is_first(const struct node *node)
{
	return node->segment.rank == 0;
}

static bool
is_float(const struct conversion *conversion)
{
	return conversion->format == NETFC_ALLREDUCE_FP32 ||
		conversion->format == NETFC_ALLREDUCE_FP64;
}

/* Whether the switch's functions reduce it here: values are in network byte order then. */
static bool
is_by_reducer(const struct node *node, const struct conversion *conversion)
{
	return node->reducer != NULL && is_float(conversion);
}

/* Whether this rank reduces: where there is a switch, the first one does. */
static bool
has_to_reduce(const struct node *node)
{
	return node->switchless || is_first(node);
}

/* What this rank waits for. */
static struct segment_bell *
bell_of(const struct node *node)
{
	struct segment_shared *shared = node->segment.shared;

	return has_to_reduce(node) ? &shared->given : &shared->done;
}

/* Pieces of which the results are there. */
static uint64_t
pieces_done(const struct node *node)
{
	const struct segment *segment = &node->segment;

	return node->switchless
		? segment_reduced(segment)
		: atomic_load_explicit(&segment->shared->pieces_done, memory_order_acquire);
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
copy_values(const struct node *node, const struct conversion *conversion, void *to,
	const void *from, size_t values)
{
	if (is_by_reducer(node, conversion))
		aggregate_swap_values(to, from, values, conversion->value_bytes);
	else
		memcpy(to, from, values * conversion->value_bytes);
}

static void
give(struct node *node, struct operation *operation)
{
	const struct conversion *conversion = &operation->call.conversion;
	struct segment_rank *self = &node->segment.shared->rank[node->segment.rank];
	size_t values = values_of_piece(operation, operation->given);

	copy_values(node, conversion,
		segment_piece(&node->segment, node->segment.rank, node->given),
		(const char *)operation->call.send + operation->given * conversion->value_bytes,
		values);
	segment_note(&node->segment, node->segment.rank, node->given)->call = (struct segment_call){
		.values = (uint32_t)values,
		.format = (uint8_t)conversion->format,
		.op = (uint8_t)conversion->op,
		.value_bytes = (uint8_t)conversion->value_bytes,
		.pieces = (uint8_t)conversion->pieces,
	};
	operation->given += values;
	atomic_store_explicit(&self->given, ++node->given, memory_order_release);
	segment_ring(&node->segment.shared->given);
}

static bool
give_all(struct job *job)
{
	struct node *node = &job->node;
	const uint64_t end = pieces_done(node) + node->segment.depth;
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
	const uint64_t done = pieces_done(node);
	const uint64_t before = node->taken;

	while (operation != NULL && operation->taken < operation->call.count &&
		node->taken < done) {
		const size_t bytes = operation->call.conversion.value_bytes;
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

/* Some values of the next piece, from one on. Nothing is rounded that other nodes add to. */
static void
reduce_values(
	const struct node *node, const struct conversion *conversion, size_t first, size_t count)
{
	const struct segment *segment = &node->segment;
	const size_t at = first * conversion->value_bytes;
	uint8_t *own = (uint8_t *)segment_piece(segment, 0, node->started) + at;
	uint8_t *results = (uint8_t *)segment_piece(segment, segment->ranks, node->started) + at;

	if (is_by_reducer(node, conversion)) {
		const struct reducer_values values = {.first = own,
			.stride = segment_stride(segment),
			.ranks = (unsigned int)segment->ranks,
			.count = count};

		reducer_reduce(node->reducer, conversion->format, conversion->op, &values, results);
		return;
	}
	memcpy(results, own, count * conversion->value_bytes);
	for (int r = 1; r < segment->ranks; r++)
		conversion_reduce(conversion, results,
			(char *)segment_piece(segment, r, node->started) + at, count);
}

static bool
reduce(const struct node *node, struct node_flight *flight, struct netfc_collective *collective)
{
	const struct conversion *conversion = &flight->conversion;
	void *results = collective->result;

	reduce_values(node, conversion, 0, flight->values);
	if (!conversion_is_direct(conversion)) {
		if (flight->cut == NULL && (flight->cut = malloc(CUT_BYTES)) == NULL)
			return false;
		conversion_split(conversion, flight->cut, results, flight->values);
		collective->result = flight->cut;
	}
	collective->values = collective->result;
	return true;
}

/* Without a switch: this rank's share of the next piece. */
static bool
reduce_share(struct node *node, const struct operation *operation)
{
	const struct segment *segment = &node->segment;
	const struct conversion *conversion = &operation->call.conversion;
	const size_t values = values_of_piece(operation, operation->summed);
	const size_t first = segment_share(segment, segment->rank, values);
	const size_t count = segment_share(segment, segment->rank + 1, values) - first;

	reduce_values(node, conversion, first, count);
	node->ended++;
	atomic_store_explicit(
		&segment->shared->rank[segment->rank].reduced, node->ended, memory_order_release);
	segment_ring(&segment->shared->given);
	return true;
}

static bool
start_in_switch(struct job *job, const struct operation *operation)
{
	struct node *node = &job->node;
	struct node_flight *flight = &node->flight[node->started % NODE_FLIGHTS];
	const struct conversion *conversion = &operation->call.conversion;
	struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = conversion->format,
		.op = conversion->op,
		.result = segment_piece(&node->segment, node->segment.ranks, node->started)};
	bool exactly = conversion_rounds(conversion) && node->segment.ranks > 1 &&
		!is_by_reducer(node, conversion);

	flight->conversion = *conversion;
	flight->values = values_of_piece(operation, operation->summed);
	collective.count = conversion_count(conversion, flight->values);
	if (!(exactly ? add_exactly : reduce)(node, flight, &collective)) {
		segment_fail(&node->segment, 0, -1, "there is not enough memory for exact sums");
		return false;
	}
	if (netfc_collective_start(job->network, &collective, !operation->has_request,
		    &flight->handle) != NETFC_ALLREDUCE_OK) {
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

	while (node->started < node->ended + node->segment.depth &&
		segment_is_given(&node->segment, node->started)) {
		struct operation *operation = next_to_start(job);
		int other;

		if (operation == NULL)
			break;
		other = segment_first_mismatch(&node->segment, node->started);
		if (other != 0) {
			snprintf(why, sizeof(why),
				"Rank %d and others of the communicator call different collectives: "
				"operation, type and count must be the same in all ranks.",
				job_local_rank(job, other));
			segment_fail(&node->segment, 0, -1, why);
			break;
		}
		if (!(node->switchless ? reduce_share(node, operation)
				       : start_in_switch(job, operation)))
			break;
		operation->summed += values_of_piece(operation, operation->summed);
		node->started++;
	}
	return node->started != before;
}

static bool
end_pieces(struct job *job, int patience_ms)
{
	struct node *node = &job->node;
	const uint64_t before = node->ended;

	while (node->ended < node->started) {
		struct node_flight *flight = &node->flight[node->ended % NODE_FLIGHTS];
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

static void
look_at_others(struct job *job)
{
	struct node *node = &job->node;
	struct segment_watch *watch = &node->watch;
	char why[SEGMENT_WHY_BYTES];
	int culprit, rank;
	enum segment_trouble trouble;

	watch->first_reduces = !node->switchless;
	watch->deadline = shim.settings.deadline_ms * NS_PER_MS;
	watch->patience = STOPPED_NS;
	trouble = segment_look(&node->segment, watch, node->taken, watch->moved, &culprit);
	if (trouble == SEGMENT_FINE)
		return;
	rank = job_local_rank(job, culprit);
	if (trouble == SEGMENT_ENDED)
		snprintf(why, sizeof(why),
			"Rank %d has ended, or freed the communicator, and did not call this "
			"reduction: look at why.",
			rank);
	else if (trouble == SEGMENT_STOPPED)
		snprintf(why, sizeof(why),
			"Rank %d is stopped (process %d), by a signal or a debugger: let it go on "
			"(kill -CONT) sooner, or look at who has stopped it.",
			rank, job->records[rank].process);
	else if (trouble == SEGMENT_LATE)
		snprintf(why, sizeof(why),
			"Rank %d is late: it has not called this reduction within %.1f s. Look at "
			"what keeps it, or give it longer (NETFC_MPI_DEADLINE).",
			rank, (double)watch->deadline / (double)NS_PER_S);
	else
		snprintf(why, sizeof(why), "Rank %d, which %s, is late: it is stopped, maybe.",
			rank,
			node->switchless ? "has its share in this reduction"
					 : "speaks to the switch for this node");
	segment_fail(&node->segment, 0, -1, why);
}

static bool
move(struct job *job)
{
	struct node *node = &job->node;
	bool moved = give_all(job);

	if (has_to_reduce(node))
		moved |= start_pieces(job);
	if (is_first(node))
		moved |= end_pieces(job, 0);
	return take_all(job) || moved;
}

static void
wait_for_others(struct job *job, unsigned int events, int patience_ms)
{
	struct node *node = &job->node;

	if (is_first(node) && node->ended < node->started)
		end_pieces(job, patience_ms);
	else
		segment_sleep(bell_of(node), events, patience_ms);
}

const char *
node_failure(const struct node *node)
{
	const struct segment_failure *failure = segment_failure(&node->segment);

	return failure != NULL ? failure->why : NULL;
}

const char *
node_advance(struct job *job, int patience_ms)
{
	struct node *node = &job->node;
	unsigned int events = segment_events(bell_of(node));

	if (node_failure(node) != NULL)
		return node_failure(node);
	if (move(job)) {
		node->watch.moved = 0;
		return node_failure(node);
	}
	if (node->watch.moved == 0)
		node->watch.moved = node->watch.looked = clock_ns();
	look_at_others(job);
	if (patience_ms > 0 && node_failure(node) == NULL)
		wait_for_others(job, events, patience_ms);
	return node_failure(node);
}

/* A piece in the switch takes more than its place here. */
struct segment_shape
node_shape(const struct node *node, int ranks, int rank)
{
	const unsigned int depth = segment_depth(ranks, MOST_PIECES);

	return (struct segment_shape){
		ranks, rank, node->switchless || depth < NODE_FLIGHTS ? depth : NODE_FLIGHTS};
}

bool
node_begin_alone(struct node *node)
{
	if (node->reducer == NULL)
		node->reducer = reducer_new();
	return node->reducer != NULL;
}

void
node_close(struct node *node)
{
	for (size_t i = 0; i < NODE_FLIGHTS; i++) {
		struct node_flight *flight = &node->flight[i];

		if (flight->handle != NULL) /* aborted: no wait */
			netfc_allreduce_wait(&flight->handle, -1, NULL);
		netfc_allreduce_totals_free(flight->totals);
		free(flight->cut);
		*flight = (struct node_flight){0};
	}
	reducer_free(node->reducer);
	node->reducer = NULL;
	segment_close(&node->segment);
}
