/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "memory/reducer.h"
#include "memory/segment.h"

#define NAP_NS (2 * NS_PER_MS)
#define SLEEP_MS 20
#define MOST_PIECES 1024 /* 16 MiB */

struct local {
	struct segment segment;
	struct segment_watch watch;
	struct reducer *reducer;
	uint64_t given, reduced, taken; /* chunks, by this worker */
	uint64_t moved;                 /* ns: when anything was the latest time */
	unsigned int events;            /* before the latest round */
};

/* ---- joining and leaving -------------------------------------------------------------------- */

void
local_close(struct netfc_allreduce *comm)
{
	if (comm->local == NULL)
		return;
	segment_close(&comm->local->segment);
	reducer_free(comm->local->reducer);
	free(comm->local);
	comm->local = NULL;
}

static struct segment_shape
shape_of(const struct netfc_allreduce_options *options)
{
	const int workers = (int)options->workers;

	return (struct segment_shape){
		workers, (int)options->worker, segment_depth(workers, MOST_PIECES)};
}

unsigned int
local_slots(const struct netfc_allreduce *comm)
{
	return comm->local->segment.depth;
}

/* As worker 0: the others see if there is none. */
static int
make(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	struct segment *segment = &comm->local->segment;
	const struct segment_shape shape = shape_of(options);
	const int file = open(options->memory, O_RDWR | O_CLOEXEC);
	struct stat state;
	int error;

	segment->file = file;
	if (file < 0 || fstat(file, &state) != 0)
		return error_set(comm, NETFC_ALLREDUCE_SYSTEM, "Cannot open %s, option memory: %s.",
			options->memory, strerror(errno));
	if (state.st_size != 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"%s, option memory, is not empty: each job needs a file of its own.",
			options->memory);
	if (segment_make(segment, file, &shape, options->token))
		return NETFC_ALLREDUCE_OK;
	error = errno;
	segment_refuse(segment);
	return error_set(comm, NETFC_ALLREDUCE_SYSTEM,
		"There is no memory that %u workers could share: %s.", options->workers,
		strerror(error));
}

static int
no_memory(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (errno != 0)
		return error_set(comm, NETFC_ALLREDUCE_SYSTEM,
			"Worker %u cannot share memory with worker 0, by %s: %s. Are both on one "
			"machine, of one user?",
			options->worker, options->memory, strerror(errno));
	return error_set(comm, NETFC_ALLREDUCE_SYSTEM,
		"Worker %u shares no memory with worker 0: %s is not this job's file. Worker 0 is on "
		"another machine, or has no memory for it.",
		options->worker, options->memory);
}

/* As any other. */
static int
attach(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options, uint64_t until)
{
	const struct segment_shape shape = shape_of(options);
	const struct timespec nap = {.tv_nsec = NAP_NS};
	enum segment_status status;

	while ((status = segment_attach(&comm->local->segment, options->memory, &shape,
			options->token)) == SEGMENT_NOT_YET) {
		if (atomic_load(&comm->worker.aborted))
			return error_set(comm, NETFC_ALLREDUCE_ABORTED,
				"netfc_allreduce_abort() was called while joining.");
		if (clock_now() >= until)
			return error_set(comm, NETFC_ALLREDUCE_WAITING,
				"Worker 0 has not joined within %.1f s: start it, or look at why "
				"it does not get there (option join_ms).",
				options->join_ms / 1e3);
		if (nanosleep(&nap, NULL) != 0)
			return error_set(comm, NETFC_ALLREDUCE_INTERRUPTED,
				"A signal came while joining: call again.");
	}
	if (status == SEGMENT_OTHER)
		return error_set(comm, NETFC_ALLREDUCE_SYSTEM,
			"Worker %u has version %s of libnetfc-allreduce, and worker 0 another one: "
			"workers that share memory (%s) need the same.",
			options->worker, netfc_allreduce_version(), options->memory);
	if (status == SEGMENT_TAKEN)
		return error_set(comm, NETFC_ALLREDUCE_TAKEN,
			"Worker %u has joined before, by %s: each worker has a number of its own. "
			"If this one was started anew, let all workers join again, with another file.",
			options->worker, options->memory);
	return status == SEGMENT_OK ? NETFC_ALLREDUCE_OK : no_memory(comm, options);
}

int
local_join(
	struct netfc_allreduce *comm, const struct netfc_allreduce_options *options, uint64_t until)
{
	struct local *local = calloc(1, sizeof(*local));

	if (local == NULL)
		return error_set(comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory.");
	comm->local = local;
	comm->bytes = SEGMENT_PIECE_BYTES;
	local->segment.file = -1;
	local->watch.deadline = options->deadline_ms * NS_PER_MS;
	local->watch.patience = options->silence_ms * NS_PER_MS / 2; /* and as long of waiting */
	local->reducer = reducer_new();
	if (local->reducer == NULL)
		return error_set(comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory.");
	return options->worker == 0 ? make(comm, options) : attach(comm, options, until);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void
give_up(struct netfc_allreduce *comm, int status, int worker, const char *why)
{
	error_set(comm, (enum netfc_allreduce_status)status, "%s", why);
	comm->silent = worker;
	error_break(comm, status);
}

/* What has failed, at whichever worker: the same for all. Returns whether anything has. */
static bool
hear(struct netfc_allreduce *comm)
{
	const struct segment_failure *failure = segment_failure(&comm->local->segment);

	if (failure == NULL || comm->life != ALLREDUCE_JOINED)
		return failure != NULL;
	give_up(comm, failure->status, failure->rank, failure->why);
	return true;
}

static void
fail(struct netfc_allreduce *comm, int status, int worker, const char *why)
{
	segment_fail(&comm->local->segment, status, worker, why);
	if (!hear(comm)) /* who was first has not said why so far */
		give_up(comm, status, worker, why);
}

void
local_fail(struct netfc_allreduce *comm, int status)
{
	const int worker = (int)comm->options.worker;
	char why[SEGMENT_WHY_BYTES];

	if (comm->local == NULL)
		return;
	snprintf(why, sizeof(why), "Worker %d has failed (%s): %s", worker,
		netfc_allreduce_status_name(status), comm->error);
	segment_fail(&comm->local->segment, NETFC_ALLREDUCE_FAILED, worker, why);
}

/* Nothing comes: is anybody to blame? */
static void
look(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	const struct segment *segment = &local->segment;
	const double seconds = comm->options.deadline_ms / 1e3;
	char why[SEGMENT_WHY_BYTES];
	int worker = 0;

	local->watch.moved = local->moved > comm->head_since ? local->moved : comm->head_since;
	switch (segment_look(segment, &local->watch, local->taken, comm->head_since, &worker)) {
	case SEGMENT_ENDED:
		snprintf(why, sizeof(why),
			"Worker %d (process %d) has ended, or has left the job, and did not call this "
			"allreduce: look at why.",
			worker, segment->shared->rank[worker].process);
		fail(comm, NETFC_ALLREDUCE_LEFT, worker, why);
		return;
	case SEGMENT_STOPPED:
		snprintf(why, sizeof(why),
			"Worker %d (process %d) is stopped, by a signal or a debugger: let it go on "
			"(kill -CONT) sooner, or look at who has stopped it.",
			worker, segment->shared->rank[worker].process);
		fail(comm, NETFC_ALLREDUCE_SILENT, worker, why);
		return;
	case SEGMENT_LATE:
		snprintf(why, sizeof(why),
			"Worker %d is late: it has not called this allreduce within %.1f s. Look at "
			"what keeps it, or give the allreduce longer (option deadline_ms).",
			worker, seconds);
		fail(comm, NETFC_ALLREDUCE_TIMEOUT, worker, why);
		return;
	case SEGMENT_SLOW:
		snprintf(why, sizeof(why),
			"Worker %d has called this allreduce, and has not done its share of it within "
			"%.1f s (option deadline_ms): it is stopped, maybe.",
			worker, seconds);
		fail(comm, NETFC_ALLREDUCE_TIMEOUT, worker, why);
		return;
	case SEGMENT_FINE:
		return;
	}
}

/* ---- exact sums ----------------------------------------------------------------------------- */

unsigned int
local_lanes_of_totals(unsigned int format)
{
	return SEGMENT_PIECE_BYTES / (unsigned int)aggregate_totals_bytes(format, 1);
}

/* Those of a worker in its place, some of them clear. */
static struct aggregate_totals
totals_in_place(const struct segment *segment, unsigned int format, int worker, uint64_t chunk,
	uint32_t lanes)
{
	int64_t *bins = segment_piece(segment, worker, chunk);
	const unsigned int digits = aggregate_total_digits(format);
	const struct segment_note *note = segment_note(segment, worker, chunk);

	return (struct aggregate_totals){
		.format = format,
		.count = lanes,
		.bins = bins,
		.stride = lanes,
		.marks = (uint8_t *)(bins + (size_t)lanes * digits),
		.digits = (uint8_t)digits,
		.lowest = note->lowest,
		.end = note->end,
	};
}

static void
give_totals(struct netfc_allreduce *comm, const struct call *call, const struct piece *piece,
	uint64_t chunk)
{
	const struct segment *segment = &comm->local->segment;
	const struct aggregate_totals from = totals_view(call->totals,
		(uint64_t)(piece->from - call->from) / call->value_bytes, piece->count);
	struct aggregate_totals to = aggregate_totals_init(
		from.format, piece->count, segment_piece(segment, segment->rank, chunk));
	struct segment_note *note = segment_note(segment, segment->rank, chunk);

	for (uint32_t b = from.lowest; b < from.end; b++)
		memcpy(to.bins + b * to.stride, from.bins + b * from.stride,
			piece->count * sizeof(*to.bins));
	memcpy(to.marks, from.marks, piece->count);
	to.lowest = from.lowest;
	to.end = from.end;
	aggregate_totals_carry(&to);
	note->lowest = to.lowest;
	note->end = to.end;
}

/* Some lanes of all workers. */
static uint8_t
reduce_totals(struct netfc_allreduce *comm, const struct call *call, const struct piece *piece,
	uint32_t first, uint32_t count)
{
	struct local *local = comm->local;
	const struct segment *segment = &local->segment;
	struct aggregate_totals totals[NETFC_ALLREDUCE_MAX_WORKERS];

	if (count == 0)
		return 0;
	for (int worker = 0; worker < segment->ranks; worker++) {
		totals[worker] = totals_in_place(
			segment, piece->format, worker, local->reduced, piece->count);
		totals[worker].bins += first;
		totals[worker].marks += first;
		totals[worker].count = count;
	}
	return reducer_reduce_totals(local->reducer, piece->op,
		totals_divisor(call->totals, piece->op), totals, (unsigned int)segment->ranks,
		(uint8_t *)segment_piece(segment, segment->ranks, local->reduced) +
			(size_t)first * call->result_word_bytes);
}

/* ---- chunks --------------------------------------------------------------------------------- */

static void
give(struct netfc_allreduce *comm, uint64_t chunk)
{
	const struct segment *segment = &comm->local->segment;
	const struct call *call = calls_find(&comm->calls, chunk);
	const struct piece piece = piece_numbered(call, chunk);
	struct segment_rank *self = &segment->shared->rank[segment->rank];
	const bool is_totals = call_has_totals(call, chunk);

	segment_note(segment, segment->rank, chunk)->call = (struct segment_call){
		.values = piece.bytes,
		.label = piece.label,
		.divisor = is_totals ? totals_divisor(call->totals, piece.op) : 0,
		.format = piece.format,
		.op = piece.op,
		.owner = piece.owner,
		.is_totals = is_totals,
	};
	if (is_totals)
		give_totals(comm, call, &piece, chunk);
	else if (piece.from != NULL && piece.op == AGGREGATE_COPY)
		memcpy(segment_piece(segment, segment->rank, chunk), piece.from, piece.bytes);
	else if (piece.from != NULL)
		aggregate_swap_values(segment_piece(segment, segment->rank, chunk), piece.from,
			piece.count, call->value_bytes);
	atomic_store_explicit(&self->given, chunk + 1, memory_order_release);
}

/* Copies stay where their owner has given them: so nobody gives another before all have taken. */
static bool
give_all(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	const uint64_t end = segment_taken(&local->segment) + local->segment.depth;
	const uint64_t before = local->given;

	while (local->given < comm->calls.next_chunk && local->given < end)
		give(comm, local->given++);
	return local->given != before;
}

/* This worker's share of the next chunk. */
static void
reduce(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	const struct segment *segment = &local->segment;
	const struct call *call = calls_find(&comm->calls, local->reduced);
	const struct piece piece = piece_numbered(call, local->reduced);
	struct segment_rank *self = &segment->shared->rank[segment->rank];
	const size_t first = segment_share(segment, segment->rank, piece.count);
	const size_t count = segment_share(segment, segment->rank + 1, piece.count) - first;
	uint8_t flags = 0;

	if (call_has_totals(call, local->reduced))
		flags = reduce_totals(comm, call, &piece, (uint32_t)first, (uint32_t)count);
	else if (piece.op != AGGREGATE_COPY)
		flags = reducer_reduce(local->reducer, piece.format, piece.op,
			&(struct reducer_values){
				.first = (uint8_t *)segment_piece(segment, 0, local->reduced) +
					first * call->value_bytes,
				.stride = segment_stride(segment),
				.ranks = (unsigned int)segment->ranks,
				.count = count},
			(uint8_t *)segment_piece(segment, segment->ranks, local->reduced) +
				first * call->result_word_bytes);
	segment_note(segment, segment->rank, local->reduced)->flags = flags;
	atomic_store_explicit(&self->reduced, ++local->reduced, memory_order_release);
}

static bool
reduce_all(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	const uint64_t before = local->reduced;
	char why[SEGMENT_WHY_BYTES];

	while (local->reduced < local->given && segment_is_given(&local->segment, local->reduced)) {
		const int other = segment_first_mismatch(&local->segment, local->reduced);

		if (other != 0) {
			snprintf(why, sizeof(why),
				"Worker %d and others call different collectives: kind, count, "
				"format, operation, root, label, and whether totals are given, "
				"must be the same in all workers.",
				other);
			fail(comm, NETFC_ALLREDUCE_MISMATCH, other, why);
			return true;
		}
		reduce(comm);
	}
	return local->reduced != before;
}

static void
take(struct netfc_allreduce *comm, uint64_t now)
{
	struct local *local = comm->local;
	const struct segment *segment = &local->segment;
	struct call *call = calls_find(&comm->calls, local->taken);
	const struct piece piece = piece_numbered(call, local->taken);
	struct segment_rank *rank = segment->shared->rank;
	const int from =
		piece.op == AGGREGATE_COPY ? piece.owner - AGGREGATE_OWNER : segment->ranks;

	if (piece.to != NULL)
		memcpy(piece.to, segment_piece(segment, from, local->taken), piece.result_bytes);
	for (int r = 0; r < segment->ranks; r++)
		call->flags |= segment_note(segment, r, local->taken)->flags;
	comm->stats.sent++;
	comm->stats.received++;
	atomic_store_explicit(&rank[segment->rank].taken, ++local->taken, memory_order_release);
	if (--call->left == 0)
		calls_finish(comm, call, now);
}

static bool
take_all(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	const uint64_t before = local->taken, now = clock_now();
	uint64_t end = segment_reduced(&local->segment);

	while (local->taken < end)
		take(comm, now);
	return local->taken != before;
}

/* Whether a step did anything, which others are told of. */
static bool
tell(struct netfc_allreduce *comm, bool moved)
{
	if (moved)
		segment_ring(&comm->local->segment.shared->given);
	return moved;
}

/* Who has failed, or has left by netfc_allreduce_abort(), may have done its part before. */
static bool
take_last(struct netfc_allreduce *comm)
{
	take_all(comm);
	return TAILQ_EMPTY(&comm->calls.queue) || hear(comm);
}

bool
local_round(struct netfc_allreduce *comm)
{
	struct local *local = comm->local;
	bool moved;

	local->events = segment_events(&local->segment.shared->given);
	if (segment_failure(&local->segment) != NULL)
		return take_last(comm);
	moved = tell(comm, give_all(comm));
	moved |= tell(comm, reduce_all(comm));
	if (comm->life == ALLREDUCE_JOINED)
		moved |= tell(comm, take_all(comm));
	if (moved)
		local->moved = clock_now();
	else if (!TAILQ_EMPTY(&comm->calls.queue))
		look(comm);
	return moved;
}

void
local_sleep(struct netfc_allreduce *comm, uint64_t then)
{
	struct segment_bell *bell = &comm->local->segment.shared->given;
	const uint64_t left = clock_until(clock_now(), then);
	const unsigned int events = comm->local->events;

	comm->sleeping = true;
	pthread_mutex_unlock(&comm->lock);
	segment_sleep(bell, events,
		left >= SLEEP_MS * NS_PER_MS ? SLEEP_MS : (int)(left / NS_PER_MS) + 1);
	pthread_mutex_lock(&comm->lock);
	comm->sleeping = false;
}

void
local_wake(struct netfc_allreduce *comm)
{
	segment_ring(&comm->local->segment.shared->given);
}
