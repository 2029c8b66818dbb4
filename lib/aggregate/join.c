/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs come and go: the thread of shard 0 alone. */
#include <string.h>

#include "cookie.h"
#include "table.h"

static uint64_t
bit(unsigned int worker)
{
	return UINT64_C(1) << worker;
}

static bool
has_joined(const struct job *job, unsigned int worker)
{
	return (job->joined & bit(worker)) != 0;
}

static bool
same_address(const struct job *job, unsigned int worker, const struct aggregate_sender *sender)
{
	return memcmp(job->addresses[worker], sender->address, sizeof(sender->address)) == 0;
}

/*
 * Whether it is the process that has the worker's place. One that was started anew has lost count
 * of the chunks: it would be answered with results of those that were. A process joins and leaves
 * by one socket, so the UDP port tells them apart.
 */
static bool
same_process(const struct job *job, unsigned int worker, const struct aggregate_sender *sender)
{
	return job->ports[worker] == sender->port;
}

static void
end_job(struct aggregate_table *table, struct job *job)
{
	PUBLISH(table->index_of[job->number], 0);
	PUBLISH(job->state, JOB_ENDED);
	job->ended = table->epoch + 1;
	PUBLISH(table->epoch, job->ended);
	WRITE(table->jobs_used, table->jobs_used - 1);
}

static struct job *
free_job(struct aggregate_table *table)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (table->jobs[j].state == JOB_FREE)
			return &table->jobs[j];
	return NULL;
}

static bool
any_ended(const struct aggregate_table *table)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (table->jobs[j].state == JOB_ENDED)
			return true;
	return false;
}

static void
empty_slots(struct aggregate_table *table, const struct job *job)
{
	for (uint32_t slot = job->first_slot; slot < job->first_slot + job->slots; slot++)
		for (unsigned int which = 0; which < 2; which++)
			find_entry(table, slot, which)->state = AGGREGATE_EMPTY;
}

static uint16_t
granted_bytes(const struct aggregate_table *table, uint16_t asked)
{
	uint32_t most = table->limits.bytes;

	return (uint16_t)((asked < most ? asked : most) & ~3u);
}

/* Each stored after the job's new generation, which tells readers that what they had is over. */
static void
fill_job(struct aggregate_table *table, struct job *job, const struct aggregate_message *request,
	uint32_t first_slot, uint32_t slots)
{
	PUBLISH(job->number, request->job);
	PUBLISH(job->workers, request->join.workers);
	PUBLISH(job->slots, (uint16_t)slots);
	PUBLISH(job->bytes, granted_bytes(table, request->join.bytes));
	PUBLISH(job->joined, 0);
	PUBLISH(job->left, 0);
	job->token = request->token;
	job->first_slot = first_slot;
	job->asked_slots = request->join.slots;
	job->asked_bytes = request->join.bytes;
}

static struct job *
make_job(struct aggregate_table *table, const struct aggregate_message *request)
{
	struct job *job = free_job(table);
	uint32_t first_slot, slots;

	if (job == NULL)
		return NULL;
	slots = take_slots(table, request->join.slots, &first_slot);
	if (slots == 0)
		return NULL;
	WRITE(job->generation, ++table->generation);
	fill_job(table, job, request, first_slot, slots);
	empty_slots(table, job);
	PUBLISH(job->state, JOB_JOINING);
	PUBLISH(table->index_of[job->number], (uint16_t)(index_of_job(table, job) + 1));
	WRITE(table->jobs_used, table->jobs_used + 1);
	COUNT(table->counters.made, 1);
	return job;
}

static bool
makes_sense(const struct aggregate_join *join)
{
	return join->workers > 0 && join->slots > 0 && join->bytes >= 4;
}

/* No job of that number yet. */
static enum aggregate_action
join_new(struct aggregate_table *table, const struct aggregate_message *request, struct job **job)
{
	if (!makes_sense(&request->join))
		return AGGREGATE_JOIN_MISMATCH;
	if (request->join.workers > table->limits.workers ||
		request->worker >= request->join.workers)
		return AGGREGATE_FULL;
	take_back_ended(table);
	*job = make_job(table, request);
	if (*job == NULL)
		return any_ended(table) ? AGGREGATE_WAITING : AGGREGATE_FULL;
	return AGGREGATE_JOINED;
}

static enum aggregate_action
join_old(const struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender)
{
	const struct aggregate_join *join = &request->join;

	if (job->token != request->token)
		return AGGREGATE_WRONG_TOKEN;
	if (join->workers != job->workers || join->slots != job->asked_slots ||
		join->bytes != job->asked_bytes)
		return AGGREGATE_JOIN_MISMATCH;
	if (request->worker >= job->workers || (job->left & bit(request->worker)) != 0)
		return AGGREGATE_FULL;
	if (has_joined(job, request->worker) && !same_address(job, request->worker, sender))
		return AGGREGATE_WRONG_ADDRESS;
	if (job->state == JOB_OPEN && !same_process(job, request->worker, sender))
		return AGGREGATE_TAKEN;
	return AGGREGATE_JOINED;
}

static uint64_t
all_workers(const struct job *job)
{
	return UINT64_MAX >> (AGGREGATE_MAX_WORKERS - job->workers);
}

/* The worker is in; JOINED, if it is the last, or was. */
static enum aggregate_action
take_in(struct aggregate_table *table, struct job *job, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now)
{
	WRITE(job->latest, now);
	if (job->state == JOB_OPEN)
		return AGGREGATE_JOINED;
	memcpy(job->addresses[request->worker], sender->address, sizeof(sender->address));
	job->ports[request->worker] = sender->port;
	WRITE(job->joined, job->joined | bit(request->worker));
	if (job->joined != all_workers(job))
		return AGGREGATE_WAITING;
	COUNT(table->counters.complete, 1);
	PUBLISH(job->state, JOB_OPEN);
	return AGGREGATE_JOINED;
}

enum aggregate_action
join_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	struct job *job = find_job(table, request->job);
	enum aggregate_action action;

	outcome->join = request->join;
	if (!aggregate_cookie_is_good(&table->limits, request, sender, now)) {
		outcome->join.cookie = aggregate_cookie(&table->limits, request, sender, now);
		return AGGREGATE_COOKIE;
	}
	action = job == NULL ? join_new(table, request, &job) : join_old(job, request, sender);
	if (action != AGGREGATE_JOINED)
		return action;
	outcome->join.shards = (uint8_t)table->limits.shards;
	outcome->join.slots = job->slots;
	outcome->join.bytes = job->bytes;
	return take_in(table, job, request, sender, now);
}

/* Before all were there, a worker that leaves makes way for another. */
static bool
nobody_is_left(struct job *job, unsigned int worker)
{
	if (job->state == JOB_JOINING) {
		WRITE(job->joined, job->joined & ~bit(worker));
		return job->joined == 0;
	}
	WRITE(job->left, job->left | bit(worker));
	return job->left == job->joined;
}

enum aggregate_action
leave_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now)
{
	struct job *job = find_job(table, request->job);

	if (job == NULL)
		return AGGREGATE_NO_JOB;
	if (job->token != request->token)
		return AGGREGATE_WRONG_TOKEN;
	if (request->worker >= job->workers || !has_joined(job, request->worker))
		return AGGREGATE_UNKNOWN_WORKER;
	if (!same_address(job, request->worker, sender))
		return AGGREGATE_WRONG_ADDRESS;
	if (!same_process(job, request->worker, sender))
		return AGGREGATE_TAKEN;
	WRITE(job->latest, now);
	if (nobody_is_left(job, request->worker)) {
		COUNT(table->counters.ended, 1);
		end_job(table, job);
	}
	return AGGREGATE_LEFT;
}

/* The latest that any shard has heard of a job. */
static uint64_t
latest_of(const struct aggregate_table *table, const struct job *job)
{
	uint64_t latest = job->latest;

	for (uint32_t s = 0; s < table->limits.shards; s++) {
		const struct shard_job *view = &table->shards[s].jobs[index_of_job(table, job)];

		if (OBSERVE(view->generation) == job->generation && READ(view->latest) > latest)
			latest = READ(view->latest);
	}
	return latest;
}

static bool
is_idle(const struct aggregate_table *table, const struct job *job, uint64_t now)
{
	uint64_t latest;

	if (job->state != JOB_JOINING && job->state != JOB_OPEN)
		return false;
	latest = latest_of(table, job);
	/* Another shard's clock may be ahead. */
	return now > latest && now - latest >= table->limits.idle;
}

unsigned int
aggregate_table_poll(struct aggregate_table *table, uint64_t now)
{
	unsigned int ended = 0;

	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (!is_idle(table, job, now))
			continue;
		COUNT(table->counters.timed_out, 1);
		end_job(table, job);
		ended++;
	}
	take_back_ended(table);
	return ended;
}
