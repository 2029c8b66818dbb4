/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins and leaves: the thread of shard 0 alone. */
#include "cookie.h"
#include "job.h"

static bool
makes_sense(const struct aggregate_join *join)
{
	return join->workers > 0 && join->slots > 0 && join->bytes >= 4;
}

static bool
asks_for_the_same(const struct job *job, const struct aggregate_join *join)
{
	return join->workers == job->workers && join->slots == job->asked_slots &&
		job_takes_bytes(job, join);
}

/* What a cookie has to be made of: `job` NULL: there is none of that number and token. */
static struct cookie_subject
cookie_subject(struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request, uint64_t token,
	const struct aggregate_sender *sender)
{
	bool has_place = job != NULL && request->worker < job->workers;

	return (struct cookie_subject){
		.sender = sender,
		.token = token,
		.ended = *job_ended_count(table, request->job, token),
		.serial = has_place ? job->places[request->worker].serial : 0,
		.job = request->job,
		.worker = request->worker,
	};
}

/* Whether a cookie was made for the sender; who has taken the place with it may use it again. */
static bool
knows_cookie(struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request, uint64_t token,
	const struct aggregate_sender *sender, uint64_t now, uint64_t cookie)
{
	struct cookie_subject subject = cookie_subject(table, job, request, token, sender);

	if (cookie_is_good(&table->limits, &subject, now, cookie))
		return true;
	if (job == NULL || request->worker >= job->workers ||
		!job_has_place(job, request->worker, sender))
		return false;
	subject.serial--;
	return cookie_is_good(&table->limits, &subject, now, cookie);
}

/*
 * A job that goes on. A process that was started anew has lost count of the chunks: it would be
 * answered with results of those that were. So its place is the first process's alone.
 */
static enum aggregate_action
join_open(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	if (job->token != request->token)
		return AGGREGATE_WRONG_TOKEN;
	if (!asks_for_the_same(job, &request->join))
		return AGGREGATE_JOIN_MISMATCH;
	if (request->worker >= job->workers)
		return AGGREGATE_FULL;
	/* Of the job that comes next: when the others have left this one, too. */
	if ((job->left & worker_bit(request->worker)) != 0)
		return AGGREGATE_WAITING;
	return job_has_place(job, request->worker, sender) ? AGGREGATE_JOINED : AGGREGATE_TAKEN;
}

/* A job that waits for workers: `*job` NULL: it is begun. */
static enum aggregate_action
join_joining(struct aggregate_table *table, struct job **job,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now)
{
	if (!makes_sense(&request->join))
		return AGGREGATE_JOIN_MISMATCH;
	if (*job != NULL && !asks_for_the_same(*job, &request->join))
		return AGGREGATE_JOIN_MISMATCH;
	if (request->join.workers > table->limits.workers ||
		request->worker >= request->join.workers)
		return AGGREGATE_FULL;
	/* Nobody waits for others only to hear that. */
	if (!has_free_slot(table))
		return job_any_ended(table) ? AGGREGATE_WAITING : AGGREGATE_FULL;
	if (*job == NULL) {
		enum aggregate_action begun = job_begin(table, request, sender, job);

		if (*job == NULL)
			return begun;
	}
	job_agree_on_bytes(table, *job, &request->join);
	job_take_place(*job, request->worker, sender, now);
	job_vacate_silent(&table->limits, *job, now);
	return job_is_complete(*job) ? job_open(table, *job) : AGGREGATE_WAITING;
}

/* A member tells that it is alive: the session shows that it is one. */
static bool
is_member(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	return request->join.session == job->session && request->token == job->token &&
		request->worker < job->workers && job_has_place(job, request->worker, sender);
}

static void
grant(const struct aggregate_table *table, struct job *job, const struct aggregate_message *request,
	uint64_t now, struct aggregate_join *join)
{
	WRITE(job->places[request->worker].heard, now);
	join->shards = (uint8_t)table->limits.shards;
	join->slots = job->slots;
	join->bytes = job->bytes;
	join->session = job->session;
}

enum aggregate_action
join_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	struct job *open = find_open_job(table, request->job), *job = open;
	enum aggregate_action action;

	outcome->join = request->join;
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
	action = open != NULL ? join_open(open, request, sender)
			      : join_joining(table, &job, request, sender, now);
	if (job == NULL || (action != AGGREGATE_JOINED && job == open))
		return action;
	WRITE(job->latest, now);
	if (action == AGGREGATE_JOINED)
		grant(table, job, request, now, &outcome->join);
	return action;
}

/*
 * The job that a leave is about. Who has not heard its session knows a cookie: the reply was lost,
 * or it does not want to wait any longer.
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

/* Others hear at once why: of who was to blame, if it was not the one that leaves. */
static void
note_failure(struct job *job, const struct aggregate_message *request)
{
	struct failure failure = {.worker = request->worker,
		.absence = AGGREGATE_ABSENT_FAILED,
		.reason = request->reason};
	unsigned int blamed = request->reason - AGGREGATE_MISSING;

	if (request->reason == AGGREGATE_REASON_NONE)
		return;
	if (request->reason >= AGGREGATE_MISSING) {
		if (blamed >= job->workers || (READ(job->left) & worker_bit(blamed)) != 0)
			return;
		failure = (struct failure){
			.worker = (uint8_t)blamed, .absence = AGGREGATE_ABSENT_SILENT, .reason = 1};
	}
	job_fail(job, failure);
}

/* Before all were there, a worker that leaves makes way for another. */
static void
give_up_place(
	struct aggregate_table *table, struct job *job, const struct aggregate_message *request)
{
	if (job->state == JOB_JOINING) {
		job_vacate(job, request->worker);
	} else {
		note_failure(job, request);
		WRITE(job->left, job->left | worker_bit(request->worker));
	}
	if (job->state == JOB_JOINING ? job->joined == 0 : job->left == job->joined) {
		COUNT(table->counters.ended, 1);
		job_end(table, job);
	}
}

static bool
is_of_a_member(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	return request->worker < job->workers && job_has_place(job, request->worker, sender);
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
