/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs as members of the switch above: the thread of shard 0 alone. */
#include "aggregate_leaf.h"
#include "jobs/cookie.h"
#include "jobs/job.h"

/* Leaves that go unanswered, before the parent is left to find out by itself. */
#define MAX_LEAVES 5

/* Members show that they are alive, see absence.c. */
static struct aggregate_member_times
times_of(const struct aggregate_table *table)
{
	const uint64_t retry = table->limits.parent.retry, alive = table->limits.stall / 4;

	return (struct aggregate_member_times){
		.ask = retry,
		.ask_most = retry,
		.wait = retry,
		.wait_most = retry,
		.leave = retry,
		.leave_most = retry,
		.leaves = MAX_LEAVES,
		.alive = alive > retry ? alive : retry,
	};
}

static bool
has_state(const struct parent_member *parent, enum aggregate_member_state state)
{
	return parent->member.state == state;
}

void
leaf_begin(struct aggregate_table *table, const struct job *job)
{
	struct parent_member *parent;

	if (table->parent_members == NULL)
		return;
	parent = parent_member_of(table, job);
	WRITE(parent->heard, 0);
	if (job->place.levels == 0)
		aggregate_member_forget(&parent->member);
	else
		aggregate_member_begin(&parent->member, job->number, job->place.level[0].index,
			job->token, cookie_incarnation(&table->limits, ++table->generation));
}

/* The parent is told by the next polls. */
static void
leave(const struct aggregate_table *table, const struct job *job, struct parent_member *parent)
{
	const struct aggregate_member_times times = times_of(table);
	struct failure failure;

	aggregate_member_leave(&parent->member, &times,
		job_has_failed(job, &failure) ? AGGREGATE_REASON_FAILED : AGGREGATE_REASON_NONE, 0);
}

static bool
is_joining(const struct parent_member *parent)
{
	return has_state(parent, AGGREGATE_MEMBER_ASKING) ||
		has_state(parent, AGGREGATE_MEMBER_WAITING);
}

void
leaf_start_over(const struct aggregate_table *table, const struct job *job)
{
	const struct aggregate_member_times times = times_of(table);
	struct parent_member *parent;

	if (job->place.levels == 0)
		return;
	parent = parent_member_of(table, job);
	if (is_joining(parent) || has_state(parent, AGGREGATE_MEMBER_JOINED))
		aggregate_member_leave(&parent->member, &times, AGGREGATE_REASON_FAILED, 0);
}

void
leaf_end(struct aggregate_table *table, const struct job *job)
{
	if (table->parent_members == NULL)
		return;
	if (job->lost != 0)
		aggregate_member_forget(&parent_member_of(table, job)->member);
	else
		leave(table, job, parent_member_of(table, job));
}

static enum aggregate_action
open_below(struct aggregate_table *table, struct job *job, const struct parent_member *parent)
{
	return job_open(table, job, parent->slots, parent->bytes);
}

enum aggregate_action
leaf_open(struct aggregate_table *table, struct job *job, uint64_t now)
{
	const struct aggregate_member_times times = times_of(table);
	struct parent_member *parent = parent_member_of(table, job);

	if (has_state(parent, AGGREGATE_MEMBER_JOINED))
		return open_below(table, job, parent);
	if (has_state(parent, AGGREGATE_MEMBER_NONE) || has_state(parent, AGGREGATE_MEMBER_LOST)) {
		PUBLISH(job->lost, 0);
		leaf_begin(table, job);
	}
	if (has_state(parent, AGGREGATE_MEMBER_GATHERING))
		aggregate_member_ask(&parent->member, &times, now);
	return AGGREGATE_WAITING;
}

/* Whether all of this switch's own members are here, and the parent waits for others. */
static bool
waits_above(const struct job *job, const struct parent_member *parent, enum aggregate_action action)
{
	return action == AGGREGATE_WAITING && job_is_complete(job) &&
		has_state(parent, AGGREGATE_MEMBER_WAITING);
}

void
leaf_tell(const struct aggregate_table *table, const struct job *job, enum aggregate_action action,
	struct aggregate_outcome *outcome)
{
	const struct parent_member *parent = parent_member_of(table, job);

	if (action != AGGREGATE_JOINED && action != AGGREGATE_REFUSED_ABOVE &&
		!waits_above(job, parent, action))
		return;
	outcome->join.place.decided = (uint8_t)(parent->member.decided + 1);
	if (action == AGGREGATE_REFUSED_ABOVE)
		outcome->reason = parent->member.refused;
}

/* Packets upwards have room for no more than this switch takes, whatever its members ask for. */
static uint16_t
most_bytes(const struct aggregate_table *table, const struct job *job)
{
	return job->most_bytes < table->limits.bytes ? job->most_bytes
						     : (uint16_t)table->limits.bytes;
}

/* What the parent is asked for: the rest of the list. */
static void
complete(const struct aggregate_table *table, const struct job *job, struct aggregate_join *join)
{
	const struct aggregate_place *own = &job->place;
	const uint16_t bytes = most_bytes(table, job);

	join->workers = own->level[0].members;
	join->slots = job->asked_slots;
	join->bytes = bytes;
	join->least = job->least_bytes < bytes ? job->least_bytes : 0;
	join->features = job_features(job) | AGGREGATE_FEATURE_LEAF;
	join->place.levels = (uint8_t)(own->levels - 1);
	join->place.workers = own->workers;
	join->place.below = job_workers_below(job);
	for (unsigned int l = 1; l < own->levels; l++)
		join->place.level[l - 1] = own->level[l];
}

/*
 * Whether the parent would be told that this switch is alive, of whose members none is: then nobody
 * here waits for the others, and finds out, and those above are to be told that this leaf is
 * silent.
 */
static bool
speaks_for_nobody(const struct aggregate_table *table, const struct job *job,
	const struct parent_member *parent, uint64_t now)
{
	const struct aggregate_member_times times = times_of(table);

	return has_state(parent, AGGREGATE_MEMBER_JOINED) && job->state == JOB_OPEN &&
		now >= aggregate_member_due(&parent->member, &times, 0) &&
		job_is_silent(table, job, table->limits.stall, now);
}

/*
 * Whether no chunk will go up any more: the others' leaves hear it at once, and not when all have
 * left. Who leaves without having failed has had all results, and so have its others here.
 */
static bool
is_over(const struct job *job)
{
	struct failure failure;

	return job->state == JOB_OPEN && (job->left != 0 || job_has_failed(job, &failure));
}

static bool
next_message(const struct aggregate_table *table, const struct job *job,
	struct parent_member *parent, uint64_t now, struct aggregate_message *message)
{
	const struct aggregate_member_times times = times_of(table);

	if (has_state(parent, AGGREGATE_MEMBER_JOINED) && is_over(job))
		leave(table, job, parent);
	if ((is_joining(parent) && !job_is_complete(job)) ||
		speaks_for_nobody(table, job, parent, now) ||
		aggregate_member_poll(&parent->member, &times, 0, now, message) !=
			AGGREGATE_DO_SEND)
		return false;
	if (message->op == AGGREGATE_JOIN)
		complete(table, job, &message->join);
	return true;
}

bool
aggregate_leaf_poll(struct aggregate_shard *shard, uint64_t now, struct aggregate_message *message)
{
	const struct aggregate_table *table = shard->table;

	if (table->parent_members == NULL)
		return false;
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (next_message(table, &table->jobs[j], &table->parent_members[j], now, message))
			return true;
	return false;
}

/* Whether what the parent grants makes sense, and is of a switch that knows trees. */
static bool
is_usable(const struct aggregate_table *table, const struct job *job,
	const struct aggregate_join *join)
{
	struct aggregate_join asked = {0};

	complete(table, job, &asked);
	return aggregate_member_can_be_granted(&asked, join) && join->place.decided != 0 &&
		join->session != 0 && join->least == 0;
}

static void
take_grant(struct aggregate_table *table, struct job *job, struct parent_member *parent,
	const struct aggregate_join *join)
{
	if (!is_usable(table, job, join)) {
		aggregate_member_refuse(&parent->member, AGGREGATE_REASON_PARENT, 1);
		return;
	}
	parent->slots = join->slots;
	parent->bytes = join->bytes & (uint16_t)~3u;
	parent->shards = join->shards;
	parent->features = join->features;
	leaf_make_keys(table, job);
	if (job_is_complete(job))
		open_below(table, job, parent);
}

static bool
take_reply(struct aggregate_table *table, struct job *job, struct parent_member *parent,
	const struct aggregate_message *reply, uint64_t now)
{
	const struct aggregate_member_times times = times_of(table);
	const enum aggregate_member_action action =
		aggregate_member_take(&parent->member, &times, reply, now);

	if (action == AGGREGATE_DO_IGNORE)
		return false;
	WRITE(parent->heard, now);
	if (action == AGGREGATE_DO_ENTER)
		take_grant(table, job, parent, &reply->join);
	else if (action == AGGREGATE_DO_END)
		PUBLISH(job->lost, 1);
	return true;
}

enum aggregate_action
leaf_take_reply(struct aggregate_table *table, const struct aggregate_message *reply, uint64_t now)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (take_reply(table, &table->jobs[j], &table->parent_members[j], reply, now))
			return AGGREGATE_PARENT_ANSWERED;
	return AGGREGATE_STRAY_REPLY;
}
