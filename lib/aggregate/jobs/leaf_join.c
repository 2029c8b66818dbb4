/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins and leaves of the switch above: the thread of shard 0 alone. */
#include "aggregate_leaf.h"
#include "jobs/cookie.h"
#include "jobs/job.h"

/* Leaves that go unanswered, before the parent is left to find out by itself. */
#define MAX_LEAVES 5

/* Of so many of the latest messages, answers are taken: they may need longer than a retry. */
#define MAX_UNANSWERED 64

/*
 * Answers to what was asked before are not waited for any more. The network may repeat a join, and
 * the parent answers first that it waits, then that all are here: in whichever order that comes.
 */
static void
set_state(struct job_at_parent *uplink, enum aggregate_uplink state)
{
	uplink->before = ++uplink->id;
	WRITE(uplink->state, state);
}

static bool
has_state(const struct job_at_parent *uplink, enum aggregate_uplink state)
{
	return uplink->state == state;
}

void
leaf_begin(struct aggregate_table *table, const struct job *job)
{
	struct job_at_parent *uplink;

	if (table->uplinks == NULL)
		return;
	uplink = uplink_of(table, job);
	WRITE(uplink->heard, 0);
	uplink->cookie = uplink->session = 0;
	uplink->token = job->token;
	uplink->number = job->number;
	uplink->worker = job->place.level[0].index;
	set_state(uplink,
		job->place.levels == 0 ? AGGREGATE_UPLINK_NONE : AGGREGATE_UPLINK_GATHERING);
}

/* The parent is told by the next polls; `reason` as in a leave. */
static void
leave(struct job_at_parent *uplink, uint64_t next, uint8_t reason)
{
	uplink->next = next;
	uplink->tries = 0;
	uplink->reason = reason;
	set_state(uplink, AGGREGATE_UPLINK_LEAVING);
}

void
leaf_end(struct aggregate_table *table, const struct job *job)
{
	struct job_at_parent *uplink;
	struct failure failure;
	const bool failed = job_has_failed(job, &failure);

	if (table->uplinks == NULL || leaf_is_leaving(table, job))
		return;
	uplink = uplink_of(table, job);
	/* Without a cookie, the parent has no record of the job. */
	if (uplink->cookie == 0 || job->lost != 0 || has_state(uplink, AGGREGATE_UPLINK_REFUSED) ||
		has_state(uplink, AGGREGATE_UPLINK_NONE))
		set_state(uplink, AGGREGATE_UPLINK_NONE);
	else
		leave(uplink, 0, failed ? AGGREGATE_REASON_FAILED : AGGREGATE_REASON_NONE);
}

static enum aggregate_action
open_below(struct aggregate_table *table, struct job *job, const struct job_at_parent *uplink)
{
	return job_open(table, job, uplink->slots, uplink->bytes);
}

enum aggregate_action
leaf_open(struct aggregate_table *table, struct job *job, uint64_t now)
{
	struct job_at_parent *uplink = uplink_of(table, job);

	if (has_state(uplink, AGGREGATE_UPLINK_JOINED))
		return open_below(table, job, uplink);
	if (has_state(uplink, AGGREGATE_UPLINK_GATHERING)) {
		uplink->next = now;
		set_state(uplink, AGGREGATE_UPLINK_ASKING);
	}
	return AGGREGATE_WAITING;
}

/* Whether all of this switch's own members are here, and the parent waits for others. */
static bool
waits_above(const struct job *job, const struct job_at_parent *uplink, enum aggregate_action action)
{
	return action == AGGREGATE_WAITING && job_is_complete(job) &&
		has_state(uplink, AGGREGATE_UPLINK_WAITING);
}

void
leaf_tell(const struct aggregate_table *table, const struct job *job, enum aggregate_action action,
	struct aggregate_outcome *outcome)
{
	const struct job_at_parent *uplink = uplink_of(table, job);

	if (action != AGGREGATE_JOINED && action != AGGREGATE_REFUSED_ABOVE &&
		!waits_above(job, uplink, action))
		return;
	outcome->join.place.decided = (uint8_t)(uplink->decided + 1);
	if (action == AGGREGATE_REFUSED_ABOVE)
		outcome->reason = uplink->refused;
}

/* Packets upwards have room for no more than this switch takes, whatever its members ask for. */
static uint16_t
most_bytes(const struct aggregate_table *table, const struct job *job)
{
	return job->most_bytes < table->limits.bytes ? job->most_bytes
						     : (uint16_t)table->limits.bytes;
}

/* What the parent is asked for: the rest of the list. */
static struct aggregate_join
join_of(const struct aggregate_table *table, const struct job *job,
	const struct job_at_parent *uplink)
{
	const struct aggregate_place *own = &job->place;
	const uint16_t bytes = most_bytes(table, job);
	struct aggregate_join join = {.workers = own->level[0].members,
		.slots = job->asked_slots,
		.bytes = bytes,
		.least = job->least_bytes < bytes ? job->least_bytes : 0,
		.features = job_features(job) | AGGREGATE_FEATURE_LEAF,
		.cookie = uplink->session != 0 ? uplink->session : uplink->cookie,
		.incarnation = cookie_incarnation(&table->limits, job->generation),
		.place = {.levels = (uint8_t)(own->levels - 1),
			.workers = own->workers,
			.below = job_workers_below(job)}};

	for (unsigned int l = 1; l < own->levels; l++)
		join.place.level[l - 1] = own->level[l];
	return join;
}

static struct aggregate_message
message_of(struct job_at_parent *uplink, enum aggregate_op op)
{
	return (struct aggregate_message){.op = (uint8_t)op,
		.worker = uplink->worker,
		.job = uplink->number,
		.id = ++uplink->id,
		.token = uplink->token};
}

static void
ask(const struct aggregate_table *table, const struct job *job, struct job_at_parent *uplink,
	uint64_t wait, uint64_t now, struct aggregate_message *message)
{
	*message = message_of(uplink, AGGREGATE_JOIN);
	message->join = join_of(table, job, uplink);
	uplink->next = now + wait;
}

/* Returns whether there is a leave to be sent. */
static bool
write_leave(const struct aggregate_table *table, struct job_at_parent *uplink, uint64_t now,
	struct aggregate_message *message)
{
	if (uplink->tries++ == MAX_LEAVES) {
		set_state(uplink, AGGREGATE_UPLINK_NONE);
		return false;
	}
	*message = message_of(uplink, AGGREGATE_LEAVE);
	message->session = uplink->session != 0 ? uplink->session : uplink->cookie;
	message->reason = uplink->reason;
	uplink->next = now + table->limits.parent.retry;
	return true;
}

/* Members show that they are alive, see absence.c. */
static uint64_t
heartbeat(const struct aggregate_limits *limits)
{
	return limits->stall / 4 > limits->parent.retry ? limits->stall / 4 : limits->parent.retry;
}

static bool
next_message(const struct aggregate_table *table, const struct job *job,
	struct job_at_parent *uplink, uint64_t now, struct aggregate_message *message)
{
	const bool joined = has_state(uplink, AGGREGATE_UPLINK_JOINED);
	struct failure failure;

	if (joined && job->state == JOB_OPEN && job_has_failed(job, &failure))
		leave(uplink, now, AGGREGATE_REASON_FAILED);
	if (now < uplink->next)
		return false;
	switch ((enum aggregate_uplink)uplink->state) {
	case AGGREGATE_UPLINK_LEAVING:
		return write_leave(table, uplink, now, message);
	case AGGREGATE_UPLINK_JOINED:
		ask(table, job, uplink, heartbeat(&table->limits), now, message);
		return true;
	case AGGREGATE_UPLINK_ASKING:
	case AGGREGATE_UPLINK_WAITING:
		if (!job_is_complete(job))
			return false;
		ask(table, job, uplink, table->limits.parent.retry, now, message);
		return true;
	default:
		return false;
	}
}

bool
aggregate_leaf_poll(struct aggregate_shard *shard, uint64_t now, struct aggregate_message *message)
{
	const struct aggregate_table *table = shard->table;

	if (table->uplinks == NULL)
		return false;
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (next_message(table, &table->jobs[j], &table->uplinks[j], now, message))
			return true;
	return false;
}

/* Whether what the parent grants makes sense, and is of a switch that knows trees. */
static bool
is_usable(const struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *reply)
{
	const struct aggregate_join *join = &reply->join;

	return join->place.decided != 0 && join->workers == job->place.level[0].members &&
		join->session != 0 && join->shards >= 1 && join->shards <= AGGREGATE_MAX_SHARDS &&
		join->slots != 0 && (join->slots & (join->slots - 1)) == 0 && join->bytes >= 4 &&
		join->bytes <= table->limits.bytes && join->least == 0;
}

/* A refusal without a reason makes no sense either. */
static void
refuse(struct job_at_parent *uplink, uint8_t reason, uint8_t decided)
{
	WRITE(uplink->refused,
		reason == AGGREGATE_REASON_NONE ? (uint8_t)AGGREGATE_REASON_PARENT : reason);
	uplink->decided = decided;
	set_state(uplink, AGGREGATE_UPLINK_REFUSED);
}

static void
take_grant(struct aggregate_table *table, struct job *job, struct job_at_parent *uplink,
	const struct aggregate_message *reply, uint64_t now)
{
	if (!is_usable(table, job, reply)) {
		refuse(uplink, AGGREGATE_REASON_PARENT, 1);
		return;
	}
	uplink->session = reply->join.session;
	uplink->slots = reply->join.slots;
	uplink->bytes = reply->join.bytes & (uint16_t)~3u;
	uplink->shards = reply->join.shards;
	uplink->features = reply->join.features;
	uplink->decided = reply->join.place.decided;
	uplink->next = now + heartbeat(&table->limits);
	leaf_make_keys(table, job);
	set_state(uplink, AGGREGATE_UPLINK_JOINED);
	if (job_is_complete(job))
		open_below(table, job, uplink);
}

/* The reply to a heartbeat. Any other session than ours means that the parent has lost the job. */
static void
take_heartbeat(
	struct job *job, const struct job_at_parent *uplink, const struct aggregate_message *reply)
{
	if (reply->code != NETFC_STATUS_OK || reply->join.session != uplink->session)
		PUBLISH(job->lost, 1);
}

static void
take_join_reply(struct aggregate_table *table, struct job *job, struct job_at_parent *uplink,
	const struct aggregate_message *reply, uint64_t now)
{
	if (has_state(uplink, AGGREGATE_UPLINK_JOINED)) {
		take_heartbeat(job, uplink, reply);
	} else if (reply->code == NETFC_STATUS_OK) {
		take_grant(table, job, uplink, reply, now);
	} else if (reply->code != AGGREGATE_STATUS_CODE) {
		refuse(uplink, AGGREGATE_REASON_PARENT, 1);
	} else if (reply->reason == AGGREGATE_REASON_COOKIE) {
		uplink->cookie = reply->join.cookie;
		uplink->next = now;
	} else if (reply->reason == AGGREGATE_REASON_WAITING) {
		uplink->decided = reply->join.place.decided;
		set_state(uplink, AGGREGATE_UPLINK_WAITING);
	} else {
		refuse(uplink, reply->reason, reply->join.place.decided);
	}
}

static bool
is_answer(const struct job_at_parent *uplink, const struct aggregate_message *reply)
{
	const uint64_t token = reply->op == AGGREGATE_JOIN ? uplink->token
		: uplink->session != 0                     ? uplink->session
							   : uplink->cookie;
	/* Messages since, of this state. */
	const uint32_t since = uplink->id - reply->id, all = uplink->id - uplink->before;

	return uplink->number == reply->job && since < all && since < MAX_UNANSWERED &&
		uplink->worker == reply->worker && token == reply->token;
}

static bool
waits_for(const struct job_at_parent *uplink, unsigned int op)
{
	return op == AGGREGATE_LEAVE ? has_state(uplink, AGGREGATE_UPLINK_LEAVING)
				     : has_state(uplink, AGGREGATE_UPLINK_ASKING) ||
			has_state(uplink, AGGREGATE_UPLINK_WAITING) ||
			has_state(uplink, AGGREGATE_UPLINK_JOINED);
}

enum aggregate_action
leaf_take_reply(struct aggregate_table *table, const struct aggregate_message *reply, uint64_t now)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job_at_parent *uplink = &table->uplinks[j];

		if (!waits_for(uplink, reply->op) || !is_answer(uplink, reply))
			continue;
		WRITE(uplink->heard, now);
		if (reply->op == AGGREGATE_LEAVE)
			set_state(uplink, AGGREGATE_UPLINK_NONE);
		else
			take_join_reply(table, &table->jobs[j], uplink, reply, now);
		return AGGREGATE_PARENT_ANSWERED;
	}
	return AGGREGATE_STRAY_REPLY;
}

const char *
aggregate_uplink_name(enum aggregate_uplink uplink)
{
	static const char *const names[AGGREGATE_UPLINK_COUNT] = {
#define UPLINK_NAME_(symbol, name, meaning) [AGGREGATE_UPLINK_##symbol] = (name),
		AGGREGATE_UPLINKS(UPLINK_NAME_)
#undef UPLINK_NAME_
	};

	return names[uplink];
}
