/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins and leaves: the thread of shard 0 alone. */
#include <string.h>

#include "jobs/cookie.h"
#include "jobs/job.h"

static bool
makes_sense(const struct aggregate_join *join)
{
	return join->workers > 0 && join->slots > 0 && join->bytes >= 4 && join->incarnation != 0;
}

static bool
is_same_place(const struct aggregate_place *a, const struct aggregate_place *b)
{
	return a->workers == b->workers &&
		memcmp(a->level, b->level, a->levels * sizeof(a->level[0])) == 0;
}

/* JOINED if it agrees with the job's earlier joins. A switch above itself has other levels: LOOP.
 */
static enum aggregate_action
compare(const struct job *job, const struct aggregate_message *request)
{
	const struct aggregate_join *join = &request->join;

	if (join->place.levels != job->place.levels)
		return AGGREGATE_LOOP;
	if (!is_same_place(&join->place, &job->place))
		return AGGREGATE_BAD_PLACE;
	return join->workers == job->workers && join->slots == job->asked_slots &&
			job_takes_bytes(job, request)
		? AGGREGATE_JOINED
		: AGGREGATE_JOIN_MISMATCH;
}

static bool
is_leaf(const struct aggregate_join *join)
{
	return (join->features & AGGREGATE_FEATURE_LEAF) != 0;
}

/* What is wrong with a join, regardless of other workers; JOINED: nothing. */
static enum aggregate_action
check_place(const struct aggregate_limits *limits, const struct aggregate_join *join)
{
	const struct aggregate_place *place = &join->place;
	const bool whole = place->levels == 0 && aggregate_place_is_there(place);

	if (!aggregate_place_is_good(join))
		return AGGREGATE_BAD_PLACE;
	if (place->levels != 0 && limits->parent.port == 0)
		return AGGREGATE_NO_PARENT;
	if (limits->digits == 0 && (is_leaf(join) || (whole && place->workers != join->workers)))
		return AGGREGATE_NO_DIGITS;
	return AGGREGATE_JOINED;
}

/*
 * The input of a cookie. `job` NULL: none of that number and token. A leave does not say whose it
 * is: it can only be the holder's.
 */
static struct cookie_subject
cookie_subject(struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request, uint64_t token,
	const struct aggregate_sender *sender)
{
	bool has_place = job != NULL && request->worker < job->workers;

	return (struct cookie_subject){
		.sender = sender,
		.token = token,
		.incarnation = request->op == AGGREGATE_JOIN ? request->join.incarnation
			: has_place ? job->places[request->worker].incarnation
				    : 0,
		.ended = *job_ended_count(table, request->job, token),
		.serial = has_place ? job->places[request->worker].serial : 0,
		.job = request->job,
		.worker = request->worker,
	};
}

/* Whether a cookie was made for the sender; the place's holder may use its cookie again. */
static bool
knows_cookie(struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request, uint64_t token,
	const struct aggregate_sender *sender, uint64_t now, uint64_t cookie)
{
	struct cookie_subject subject = cookie_subject(table, job, request, token, sender);

	if (cookie_is_good(&table->limits, &subject, now, cookie))
		return true;
	if (job == NULL || request->worker >= job->workers ||
		!job_has_place(job, request->worker, sender) ||
		subject.incarnation != job->places[request->worker].incarnation)
		return false;
	subject.serial--;
	return cookie_is_good(&table->limits, &subject, now, cookie);
}

static bool
is_holder(const struct job *job, const struct aggregate_message *request)
{
	return request->join.incarnation == job->places[request->worker].incarnation;
}

/*
 * A member has restarted, under the same address and port. The job has failed, and all members are
 * told; the next one waits until it has ended. So does a leaf; a worker's program has to know that
 * its job is over.
 */
static enum aggregate_action
replace(struct aggregate_table *table, struct job *job, const struct aggregate_message *request)
{
	job_fail(job,
		(struct failure){.worker = request->worker,
			.absence = AGGREGATE_ABSENT_FAILED,
			.reason = AGGREGATE_REASON_NO_JOB});
	WRITE(job->left, job->left | worker_bit(request->worker));
	if (job->left == job->joined) {
		COUNT(table->counters.ended, 1);
		job_end(table, job);
	}
	return is_leaf(&request->join) ? AGGREGATE_WAITING : AGGREGATE_TAKEN;
}

static bool
is_of_a_member(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	return request->worker < job->workers && job_has_place(job, request->worker, sender);
}

static bool
has_left(const struct job *job, unsigned int worker)
{
	return worker < job->workers && (job->left & worker_bit(worker)) != 0;
}

/*
 * A running job. A restarted process has lost count of the chunks and would get results of old
 * ones. So a place belongs to the incarnation that the job was opened with.
 */
static enum aggregate_action
join_open(struct aggregate_table *table, struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	enum aggregate_action same = compare(job, request);

	if (job->token != request->token)
		return AGGREGATE_WRONG_TOKEN;
	/* Of the job that comes next, whatever that is: when the others have left this one, too. */
	if (has_left(job, request->worker))
		return READ(table->draining) != 0 ? AGGREGATE_DRAINING : AGGREGATE_WAITING;
	if (is_of_a_member(job, request, sender) && !is_holder(job, request))
		return replace(table, job, request);
	if (same != AGGREGATE_JOINED)
		return same;
	if (request->worker >= job->workers)
		return AGGREGATE_FULL;
	return job_has_place(job, request->worker, sender) ? AGGREGATE_JOINED : AGGREGATE_TAKEN;
}

/*
 * Whether there are as many workers behind a complete job's members as all say: a mean is divided
 * by that number. Where the tree goes on above, the last switch adds up.
 */
static bool
adds_up(const struct job *job)
{
	return job->place.levels != 0 || !aggregate_place_is_there(&job->place) ||
		job_workers_below(job) == job->place.workers;
}

/* A job that waits for workers. `*job` NULL: begin one. */
static enum aggregate_action
join_joining(struct aggregate_table *table, struct job **job,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now)
{
	enum aggregate_action action = check_place(&table->limits, &request->join);

	if (action == AGGREGATE_JOINED && *job != NULL)
		action = compare(*job, request);
	if (action == AGGREGATE_JOINED && *job != NULL && leaf_is_refused(table, *job))
		action = AGGREGATE_REFUSED_ABOVE;
	if (action == AGGREGATE_JOINED && *job != NULL && (*job)->miscounted)
		action = AGGREGATE_BAD_PLACE;
	if (action != AGGREGATE_JOINED)
		return action;
	if (request->join.workers > table->limits.workers ||
		request->worker >= request->join.workers)
		return AGGREGATE_FULL;
	if (*job == NULL && READ(table->draining) != 0)
		return AGGREGATE_DRAINING;
	/* Refuse at once, instead of after the other workers have joined. */
	if (!has_free_slot(table))
		return job_any_ended(table) ? AGGREGATE_WAITING : AGGREGATE_NO_SLOTS;
	if (*job == NULL) {
		action = job_begin(table, request, sender, now, job);
		if (*job == NULL)
			return action;
	}
	job_take_place(table, *job, request, sender, now);
	job_vacate_silent(table, *job, now);
	job_agree_on_bytes(table, *job);
	if (!job_is_complete(*job))
		return AGGREGATE_WAITING;
	(*job)->miscounted = !adds_up(*job);
	if ((*job)->miscounted)
		return AGGREGATE_BAD_PLACE;
	return (*job)->place.levels == 0 ? job_open(table, *job, UINT16_MAX, UINT16_MAX)
					 : leaf_open(table, *job, now);
}

/* A member's keep-alive: the session proves membership. */
static bool
is_member(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	return request->join.session == job->session && request->token == job->token &&
		request->worker < job->workers && job_has_place(job, request->worker, sender);
}

/*
 * Sums of similar size have whole multiples of their values' bytes: without the bytes in front of
 * them, they would need a packet more for the last few lanes. So a tree's workers, wherever they
 * are, have that much less than its switches; all of them, since their chunks have to be alike.
 */
static uint16_t
bytes_for(const struct job *job, const struct aggregate_join *join)
{
	const uint16_t most = job->bytes;
	const uint16_t fitting = most > AGGREGATE_PART_BYTES ? most - AGGREGATE_PART_BYTES : 0;

	return aggregate_place_is_there(&job->place) && !is_leaf(join) && fitting != 0 &&
			fitting >= job->least_bytes
		? fitting
		: most;
}

static void
grant(const struct aggregate_table *table, struct job *job, const struct aggregate_message *request,
	uint64_t now, struct aggregate_join *join)
{
	WRITE(job->places[request->worker].heard, now);
	join->shards = (uint8_t)table->limits.shards;
	join->slots = job->slots;
	join->bytes = bytes_for(job, &request->join);
	join->session = job->session;
	join->features = job->features;
}

/* A job that the parent knows no more has ended: who joins comes for the next one. */
static struct job *
find_running_job(struct aggregate_table *table, uint32_t number)
{
	struct job *job = find_open_job(table, number);

	if (job == NULL || OBSERVE(job->lost) == 0)
		return job;
	job_end_lost(table, job);
	return NULL;
}

/* Who is refused does not, nor who waits for the one that comes next. */
static bool
keeps_alive(const struct job *job, enum aggregate_action action)
{
	return action == AGGREGATE_JOINED ||
		(action == AGGREGATE_WAITING && job->state == JOB_JOINING);
}

enum aggregate_action
join_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	struct job *open = find_running_job(table, request->job), *job = open;
	enum aggregate_action action;

	outcome->join.place.decided = 1;
	outcome->join.least = 0;
	if (open == NULL)
		job = job_find_joining(table, request->job, request->token);
	else if (open->token != request->token)
		job = NULL;
	if (open == NULL || !is_member(open, request, sender)) {
		struct cookie_subject subject =
			cookie_subject(table, job, request, request->token, sender);

		if (!knows_cookie(table, job, request, request->token, sender, now,
			    request->join.cookie)) {
			outcome->join.cookie = cookie_make(&table->limits, &subject, now);
			outcome->join.bytes = job_granted_bytes(table, request->join.bytes);
			return AGGREGATE_COOKIE;
		}
	}
	if (!makes_sense(&request->join))
		return AGGREGATE_JOIN_MISMATCH;
	action = open != NULL ? join_open(table, open, request, sender)
			      : join_joining(table, &job, request, sender, now);
	if (job != NULL && job->place.levels != 0)
		leaf_tell(table, job, action, outcome);
	if (job == NULL || !keeps_alive(job, action))
		return action;
	WRITE(job->latest, now);
	if (action == AGGREGATE_JOINED)
		grant(table, job, request, now, &outcome->join);
	return action;
}

/*
 * The job that a leave refers to. A worker that has no session yet sends its cookie: the reply was
 * lost, or the worker gave up waiting.
 */
static struct job *
find_left(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now)
{
	struct job *open = find_open_job(table, request->job);

	if (open != NULL && open->session == request->session)
		return open;
	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if ((job == open || job->state == JOB_JOINING) && job->number == request->job &&
			knows_cookie(
				table, job, request, job->token, sender, now, request->session))
			return job;
	}
	return NULL;
}

/* Tell the others the reason at once, and who was at fault, if not the leaving worker. */
static void
note_failure(struct job *job, const struct aggregate_message *request)
{
	struct failure failure = {.worker = request->worker,
		.absence = AGGREGATE_ABSENT_FAILED,
		.reason = request->reason};
	unsigned int blamed = request->reason - AGGREGATE_MISSING;

	/* The parent tells the others of failures above this switch, in more detail. */
	if (request->reason == AGGREGATE_REASON_NONE || request->reason == AGGREGATE_REASON_PARENT)
		return;
	if (request->reason >= AGGREGATE_MISSING) {
		if (blamed >= job->workers || (READ(job->left) & worker_bit(blamed)) != 0)
			return;
		failure = (struct failure){
			.worker = (uint8_t)blamed, .absence = AGGREGATE_ABSENT_SILENT, .reason = 1};
	}
	job_fail(job, failure);
}

/* Until all have joined, a worker that leaves frees its place for another. */
static void
give_up_place(
	struct aggregate_table *table, struct job *job, const struct aggregate_message *request)
{
	if (job->state == JOB_JOINING) {
		job_vacate(table, job, request->worker);
	} else {
		note_failure(job, request);
		WRITE(job->left, job->left | worker_bit(request->worker));
	}
	if (job->state == JOB_JOINING ? job->joined == 0 : job->left == job->joined) {
		COUNT(table->counters.ended, 1);
		job_end(table, job);
	}
}

enum aggregate_action
leave_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now)
{
	struct job *open = find_open_job(table, request->job);
	struct job *job = find_left(table, request, sender, now);

	if (job == NULL)
		return open == NULL || is_of_a_member(open, request, sender)
			? AGGREGATE_NO_JOB
			: AGGREGATE_STALE_SESSION;
	if (request->worker >= job->workers || (job->joined & worker_bit(request->worker)) == 0)
		return AGGREGATE_UNKNOWN_WORKER;
	if (!job_has_address(job, request->worker, sender))
		return AGGREGATE_WRONG_ADDRESS;
	if (!job_has_place(job, request->worker, sender))
		return AGGREGATE_TAKEN;
	WRITE(job->latest, now);
	give_up_place(table, job, request);
	return AGGREGATE_LEFT;
}
