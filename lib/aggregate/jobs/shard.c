/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "jobs/job.h"

struct shard_job *
shard_view(struct aggregate_shard *shard, const struct job *job)
{
	struct shard_job *view = &shard->jobs[index_of_job(shard->table, job)];

	if (view->generation == job->generation)
		return view;
	for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		WRITE(view->counters.actions[a], 0);
	WRITE(view->counters.values, 0);
	WRITE(view->counters.zeros, 0);
	WRITE(view->latest, 0);
	WRITE(view->silent, 0);
	view->latest_chunk64 = 0;
	for (unsigned int w = 0; w < job->workers; w++) {
		WRITE(view->presences[w].heard, 0);
		WRITE(view->lateness[w].last, 0);
		WRITE(view->lateness[w].waited, 0);
		view->lateness[w].until = 0;
	}
	PUBLISH(view->generation, job->generation);
	return view;
}

/* A chunk of another incarnation. A worker of this one's hears that its job is over. */
static enum aggregate_action
refuse_session(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	if (request->worker < job->workers && job_has_address(job, request->worker, sender))
		return AGGREGATE_NO_JOB;
	return AGGREGATE_STALE_SESSION;
}

/* Whether a job that is rounded here has more workers than members. */
static bool
is_of_more(const struct job *job)
{
	return job->place.levels == 0 && aggregate_place_is_there(&job->place) &&
		job->place.workers != job->workers;
}

/*
 * Whether a chunk's owner is in the job; what is copied is somebody's. In a tree, members are no
 * workers.
 */
static bool
owner_is_good(const struct job *job, const struct aggregate_message *request)
{
	if (request->owner == 0)
		return request->op != AGGREGATE_COPY || request->count == 0;
	return job->place.levels == 0 && !is_of_more(job) &&
		request->owner - AGGREGATE_OWNER < job->workers;
}

/* Whether a member sends digits of more than one worker, who is one. */
static bool
exceeds_a_worker(const struct job *job, const struct aggregate_message *request)
{
	return aggregate_has_digits(request) && job->places[request->worker].below <= 1 &&
		aggregate_part_exceeds(&request->part, request->format);
}

/* What goes up as digits has to fit the packets that the parent grants. */
static bool
is_too_large(const struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request)
{
	if (request->count * aggregate_lane_bytes(request->format) > job->bytes)
		return true;
	if (aggregate_has_digits(request) && aggregate_part_bytes(&request->part) > job->bytes)
		return true;
	return job->place.levels != 0 && !leaf_can_send(table, job, request);
}

/* What is wrong with a chunk before its entry is looked at; ADDED: nothing. */
static enum aggregate_action
check_chunk(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_message *request, const struct aggregate_sender *sender)
{
	const struct aggregate_limits *limits = &shard->table->limits;

	if (request->session != job->session)
		return refuse_session(job, request, sender);
	if (request->worker >= job->workers)
		return AGGREGATE_UNKNOWN_WORKER;
	if (!job_has_address(job, request->worker, sender))
		return AGGREGATE_WRONG_ADDRESS;
	if (aggregate_shard_of(request->id, job->slots, limits->shards) != shard->number)
		return AGGREGATE_MISDIRECTED;
	if (is_too_large(shard->table, job, request))
		return AGGREGATE_TOO_LARGE;
	if (exceeds_a_worker(job, request))
		return AGGREGATE_BAD_PARTS;
	if (!owner_is_good(job, request))
		return AGGREGATE_MISMATCH;
	/* What is copied needs no accumulators. */
	if (request->op != AGGREGATE_COPY &&
		(limits->formats >> aggregate_values_format(request->format) & 1) == 0)
		return AGGREGATE_MISMATCH;
	if (request->op == AGGREGATE_MEAN && is_of_more(job) &&
		(limits->digits >> aggregate_values_format(request->format) & 1) == 0)
		return AGGREGATE_NO_DIGITS;
	return AGGREGATE_ADDED;
}

static struct aggregate_entry *
entry_of(const struct aggregate_table *table, const struct job *job, uint32_t chunk)
{
	return find_entry(table, job->first_slot + (chunk & (job->slots - 1u)),
		aggregate_entry_of(chunk, job->slots));
}

/* Whether the parent, and not this switch, says why a chunk is not complete. */
static bool
is_refused_above(const struct aggregate_entry *entry)
{
	return entry->state == AGGREGATE_ABOVE && entry->above.reason != AGGREGATE_REASON_NONE;
}

/*
 * A worker calls something else than others did. Whoever is found out first fails the job, and all
 * are told of that one, whoever else differs.
 */
static enum aggregate_action
disagree(struct job *job, uint8_t worker)
{
	struct failure failure = {.worker = worker,
		.absence = AGGREGATE_ABSENT_FAILED,
		.reason = AGGREGATE_REASON_MISMATCH};

	job_fail(job, failure);
	job_has_failed(job, &failure);
	return failure.worker == worker ? AGGREGATE_MISMATCH : AGGREGATE_STALLED;
}

/* All others were in since the entry's `latest`, and waited for this worker. */
static void
note_last(struct lateness *lateness, const struct aggregate_entry *entry, uint64_t now)
{
	const uint64_t from = entry->latest > lateness->until ? entry->latest : lateness->until;

	COUNT(lateness->last, 1);
	COUNT(lateness->waited, now - from);
	lateness->until = now;
}

static enum aggregate_action
step(struct aggregate_shard *shard, struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	const struct aggregate_limits *limits = &shard->table->limits;
	const struct shard_job *view = &shard->jobs[index_of_job(shard->table, job)];
	const struct aggregate_rules rules = {.slots = job->slots,
		.workers = job->workers,
		.isa = limits->isa,
		.stall = limits->stall,
		.passes_on = job->place.levels != 0,
		.zeros = (job->features & AGGREGATE_FEATURE_ZEROS) != 0,
		.patience = (job->place.levels + 1) * limits->stall,
		.since = view->presences[request->worker].since,
		.port = sender->port,
		.repeat = limits->parent.repeat,
		.all_workers = job->place.workers};
	struct aggregate_entry *entry = entry_of(shard->table, job, request->id);
	enum aggregate_action action = aggregate_entry_step(entry, &rules, request, now);

	outcome->entry = entry;
	outcome->workers = job->workers;
	outcome->index = index_of_job(shard->table, job);
	if (action == AGGREGATE_MISMATCH)
		action = disagree(job, request->worker);
	if (action == AGGREGATE_ADDED || action == AGGREGATE_DUPLICATE) {
		if (absence_is_certain(job, entry))
			action = AGGREGATE_STALLED;
	} else if ((action == AGGREGATE_COMPLETED || action == AGGREGATE_PASSED) &&
		job->workers > 1) {
		note_last(&view->lateness[request->worker], entry, now);
	}
	if (action == AGGREGATE_REFUSED_ABOVE ||
		(action == AGGREGATE_STALLED && is_refused_above(entry)))
		leaf_explain(entry, outcome);
	else if (action == AGGREGATE_STALLED)
		absence_explain(shard, job, entry, request->worker, now, outcome);
	return action;
}

/* Whose values were missing, until something comes from there. */
static void
note_silence(struct shard_job *view, uint8_t worker, const struct aggregate_outcome *outcome,
	enum aggregate_action action)
{
	uint64_t silent = view->silent & ~(UINT64_C(1) << worker);

	if (action == AGGREGATE_STALLED && outcome->level == 0)
		silent |= UINT64_C(1) << (outcome->reason - AGGREGATE_MISSING);
	if (silent != view->silent)
		WRITE(view->silent, silent);
}

static void
count_packet(struct aggregate_counters *counters, enum aggregate_action action,
	const struct aggregate_message *request)
{
	COUNT(counters->actions[action], 1);
	if (action != AGGREGATE_ADDED && action != AGGREGATE_COMPLETED &&
		action != AGGREGATE_PASSED)
		return;
	if (aggregate_has_digits(request))
		COUNT(counters->values, request->part.lanes);
	else if (request->values != NULL || request->zeros)
		COUNT(counters->values, request->count);
	if (request->zeros)
		COUNT(counters->zeros, 1);
}

static enum aggregate_action
take_chunk(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	struct job *job = find_open_job(shard->table, request->job);
	enum aggregate_action action;
	struct shard_job *view;

	if (job == NULL || OBSERVE(job->state) != JOB_OPEN || READ(job->lost) != 0)
		return AGGREGATE_NO_JOB;
	view = shard_view(shard, job);
	action = check_chunk(shard, job, request, sender);
	if (action == AGGREGATE_ADDED) {
		WRITE(view->latest, now);
		view->senders[request->worker] = *sender;
		absence_note_presence(
			&view->presences[request->worker], now, shard->table->limits.stall);
		action = step(shard, job, request, sender, now, outcome);
		note_silence(view, request->worker, outcome, action);
	}
	count_packet(&view->counters, action, request);
	return action;
}

static enum aggregate_action
take_packet(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	if (request->op != AGGREGATE_JOIN && request->op != AGGREGATE_LEAVE)
		return take_chunk(shard, request, sender, now, outcome);
	outcome->join = request->join;
	if (shard->number != 0)
		return AGGREGATE_MISDIRECTED;
	if (request->op == AGGREGATE_JOIN)
		return join_job(shard->table, request, sender, now, outcome);
	return leave_job(shard->table, request, sender, now);
}

void
aggregate_shard_packet(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	outcome->reason = 0;
	outcome->entry = NULL;
	outcome->worker = request->worker;
	outcome->level = 0;
	outcome->code = AGGREGATE_STATUS_CODE;
	outcome->no_values = aggregate_has_digits(request) || request->label != 0;
	outcome->bytes = outcome->no_values || request->values != NULL
		? (uint32_t)(aggregate_message_bytes(request) - AGGREGATE_HEADER_BYTES)
		: 0;
	outcome->action = take_packet(shard, request, sender, now, outcome);
	if (outcome->reason == AGGREGATE_REASON_NONE)
		outcome->reason = aggregate_action_reason(outcome->action);
	count_packet(&shard->counters, outcome->action, request);
}

static bool
is_join(const uint8_t *payload)
{
	return payload[offsetof(struct aggregate_hdr, op)] == AGGREGATE_JOIN;
}

static size_t
write_result(uint8_t *payload, const struct aggregate_outcome *outcome)
{
	const struct aggregate_entry *entry = outcome->entry;
	size_t bytes = aggregate_result_bytes(entry, outcome->worker);

	aggregate_accept(
		payload, (uint8_t)aggregate_result_kind(entry, outcome->worker), entry->flags);
	memcpy(payload + AGGREGATE_HEADER_BYTES, entry->result, bytes);
	return bytes;
}

size_t
aggregate_write_reply(uint8_t *payload, size_t length, const struct aggregate_outcome *outcome)
{
	if (outcome->action == AGGREGATE_REPEATED)
		return length - outcome->bytes + write_result(payload, outcome);
	/* What refuses a part or a label is a header alone. */
	if (outcome->action == AGGREGATE_STALLED)
		aggregate_write_absence(payload, outcome->no_values ? 0 : outcome->bytes,
			outcome->absence, outcome->level, outcome->detail);
	/* A chunk's own values are never sent back as its result, whatever the reason says. */
	if (outcome->action == AGGREGATE_JOINED)
		aggregate_accept(payload, outcome->join.features, 0);
	else if (outcome->action == AGGREGATE_LEFT)
		aggregate_accept(payload, 0, 0);
	else
		aggregate_refuse(payload, AGGREGATE_HEADER_BYTES, outcome->code, outcome->reason);
	if (is_join(payload))
		aggregate_write_join(payload, &outcome->join);
	return outcome->no_values ? length - outcome->bytes : length;
}

const struct aggregate_sender *
aggregate_worker_sender(const struct aggregate_shard *shard, uint16_t index, uint8_t worker)
{
	return &shard->jobs[index].senders[worker];
}

void
aggregate_shard_quiescent(struct aggregate_shard *shard)
{
	uint64_t epoch = OBSERVE(shard->table->epoch);

	if (shard->quiet != epoch)
		PUBLISH(shard->quiet, epoch);
}
