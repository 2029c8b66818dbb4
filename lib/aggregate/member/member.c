/* SPDX-License-Identifier: BSD-3-Clause */
#include "aggregate_member.h"

/*
 * Answers to what was sent before are not waited for any more: the network may repeat a join, and
 * the switch answers first that it waits, then that all are here, in whichever order that comes.
 */
static void
set_state(struct aggregate_member *member, enum aggregate_member_state state)
{
	member->before = member->id + AGGREGATE_MEMBER_IDS - 1;
	member->unanswered = 0;
	__atomic_store_n(&member->state, state, __ATOMIC_RELAXED);
}

void
aggregate_member_begin(struct aggregate_member *member, uint16_t job, uint8_t worker,
	uint64_t token, uint64_t incarnation)
{
	member->id = (uint32_t)incarnation & ~(uint32_t)(AGGREGATE_MEMBER_IDS - 1);
	member->job = job;
	member->worker = worker;
	member->token = token;
	member->incarnation = incarnation;
	member->cookie = member->session = 0;
	member->bare = false;
	set_state(member, AGGREGATE_MEMBER_GATHERING);
}

void
aggregate_member_forget(struct aggregate_member *member)
{
	set_state(member, AGGREGATE_MEMBER_NONE);
}

/* The next message is due now, and the one after it so much later. */
static void
hurry(struct aggregate_member *member, uint64_t interval, uint64_t now)
{
	member->next = now;
	member->interval = interval;
}

void
aggregate_member_ask(
	struct aggregate_member *member, const struct aggregate_member_times *times, uint64_t now)
{
	hurry(member, times->ask, now);
	set_state(member, AGGREGATE_MEMBER_ASKING);
}

/* Without a cookie or a session, the switch knows nothing of the member. */
bool
aggregate_member_leave(struct aggregate_member *member, const struct aggregate_member_times *times,
	uint8_t reason, uint64_t now)
{
	const bool is_known = member->cookie != 0 || member->session != 0;

	if (member->state == AGGREGATE_MEMBER_LEAVING)
		return true;
	if (member->state == AGGREGATE_MEMBER_NONE || member->state == AGGREGATE_MEMBER_LOST ||
		!is_known) {
		set_state(member, AGGREGATE_MEMBER_NONE);
		return false;
	}
	member->reason = reason;
	hurry(member, times->leave, now);
	set_state(member, AGGREGATE_MEMBER_LEAVING);
	return true;
}

void
aggregate_member_refuse(struct aggregate_member *member, uint8_t reason, uint8_t decided)
{
	__atomic_store_n(&member->refused, reason, __ATOMIC_RELAXED);
	member->decided = decided;
	set_state(member, AGGREGATE_MEMBER_REFUSED);
}

uint64_t
aggregate_member_due(const struct aggregate_member *member,
	const struct aggregate_member_times *times, uint64_t since)
{
	switch ((enum aggregate_member_state)member->state) {
	case AGGREGATE_MEMBER_ASKING:
	case AGGREGATE_MEMBER_WAITING:
	case AGGREGATE_MEMBER_LEAVING:
		return member->next;
	case AGGREGATE_MEMBER_JOINED:
		return (member->sent > since ? member->sent : since) + times->alive;
	default:
		return UINT64_MAX;
	}
}

/* A leave has the session; before there is one, the cookie: the reply may have been lost. */
static uint64_t
secret_of(const struct aggregate_member *member, unsigned int op)
{
	if (op == AGGREGATE_JOIN)
		return member->token;
	return member->session != 0 ? member->session : member->cookie;
}

/* Nothing, the cookie, or of one who is in, the session. */
static uint64_t
proof_of(const struct aggregate_member *member)
{
	if (member->session != 0)
		return member->session;
	return member->bare ? 0 : member->cookie;
}

static void
write_message(struct aggregate_member *member, enum aggregate_op op, uint64_t now,
	struct aggregate_message *message)
{
	member->id += AGGREGATE_MEMBER_IDS;
	member->sent = now;
	*message = (struct aggregate_message){
		.op = (uint8_t)op,
		.worker = member->worker,
		.job = member->job,
		.id = member->id,
		.token = secret_of(member, op),
	};
	if (op == AGGREGATE_LEAVE) {
		message->reason = member->reason;
		return;
	}
	message->join.cookie = proof_of(member);
	message->join.incarnation = member->incarnation;
}

static void
wait_longer(struct aggregate_member *member, uint64_t most, uint64_t now)
{
	member->next = now + member->interval;
	member->interval = 2 * member->interval < most ? 2 * member->interval : most;
}

/* An outdated cookie may be why the switch is silent: every other join has none. */
static enum aggregate_member_action
send_join(struct aggregate_member *member, const struct aggregate_member_times *times, uint64_t now,
	struct aggregate_message *message)
{
	const bool asks = member->state == AGGREGATE_MEMBER_ASKING;

	write_message(member, AGGREGATE_JOIN, now, message);
	member->bare = asks && member->cookie != 0 && !member->bare;
	wait_longer(member, asks ? times->ask_most : times->wait_most, now);
	return AGGREGATE_DO_SEND;
}

static enum aggregate_member_action
send_leave(struct aggregate_member *member, const struct aggregate_member_times *times,
	uint64_t now, struct aggregate_message *message)
{
	if (member->unanswered++ == times->leaves) {
		set_state(member, AGGREGATE_MEMBER_NONE);
		return AGGREGATE_DO_PART;
	}
	write_message(member, AGGREGATE_LEAVE, now, message);
	wait_longer(member, times->leave_most, now);
	return AGGREGATE_DO_SEND;
}

/* Questions are counted, not the time: who was stopped himself has not asked. */
static enum aggregate_member_action
send_sign_of_life(struct aggregate_member *member, const struct aggregate_member_times *times,
	uint64_t since, uint64_t now, struct aggregate_message *message)
{
	if (member->sent <= since)
		member->unanswered = 0;
	if (times->questions != 0 && member->unanswered >= times->questions)
		return AGGREGATE_DO_BLAME;
	member->unanswered += times->questions != 0;
	write_message(member, AGGREGATE_JOIN, now, message);
	return AGGREGATE_DO_SEND;
}

enum aggregate_member_action
aggregate_member_poll(struct aggregate_member *member, const struct aggregate_member_times *times,
	uint64_t since, uint64_t now, struct aggregate_message *message)
{
	if (now < aggregate_member_due(member, times, since))
		return AGGREGATE_DO_NOTHING;
	switch ((enum aggregate_member_state)member->state) {
	case AGGREGATE_MEMBER_ASKING:
	case AGGREGATE_MEMBER_WAITING:
		return send_join(member, times, now, message);
	case AGGREGATE_MEMBER_JOINED:
		return send_sign_of_life(member, times, since, now, message);
	case AGGREGATE_MEMBER_LEAVING:
		return send_leave(member, times, now, message);
	default:
		return AGGREGATE_DO_NOTHING;
	}
}

static bool
waits_for(const struct aggregate_member *member, unsigned int op)
{
	switch ((enum aggregate_member_state)member->state) {
	case AGGREGATE_MEMBER_ASKING:
	case AGGREGATE_MEMBER_WAITING:
	case AGGREGATE_MEMBER_JOINED:
		return op == AGGREGATE_JOIN;
	case AGGREGATE_MEMBER_LEAVING:
		return op == AGGREGATE_LEAVE;
	default:
		return false;
	}
}

/* A join's answer says whose the join was, unless it has nothing but a code. */
static bool
is_of_another(const struct aggregate_member *member, const struct aggregate_message *reply)
{
	return reply->op == AGGREGATE_JOIN &&
		(reply->code == NETFC_STATUS_OK || reply->code == AGGREGATE_STATUS_CODE) &&
		reply->join.incarnation != member->incarnation;
}

/*
 * An answer to a message of this state. Others come late, from another time, another process or
 * another switch, whose packets have good tags, too.
 */
static bool
is_answer(const struct aggregate_member *member, const struct aggregate_message *reply)
{
	const uint32_t last = member->id + AGGREGATE_MEMBER_IDS - 1;

	return waits_for(member, reply->op) && last - reply->id < last - member->before &&
		reply->job == member->job && reply->worker == member->worker &&
		reply->token == secret_of(member, reply->op) && !is_of_another(member, reply);
}

/*
 * The switch wants its cookie back, which proves the address. It may have drawn another one since
 * an earlier message, whose answer is late.
 */
static enum aggregate_member_action
take_cookie(struct aggregate_member *member, const struct aggregate_message *reply, uint64_t now)
{
	if (member->cookie != 0 && (int32_t)(reply->id - member->cookie_id) < 0)
		return AGGREGATE_DO_NOTHING;
	member->cookie_id = reply->id;
	if (reply->join.cookie == member->cookie)
		return AGGREGATE_DO_NOTHING;
	member->cookie = reply->join.cookie;
	member->bare = false;
	member->next = now;
	return AGGREGATE_DO_ASK;
}

static enum aggregate_member_action
take_waiting(struct aggregate_member *member, const struct aggregate_member_times *times,
	const struct aggregate_message *reply, uint64_t now)
{
	member->decided = reply->join.place.decided;
	member->bare = false;
	if (member->state == AGGREGATE_MEMBER_ASKING) {
		__atomic_store_n(&member->state, AGGREGATE_MEMBER_WAITING, __ATOMIC_RELAXED);
		member->interval = times->wait;
		wait_longer(member, times->wait_most, now);
	}
	return AGGREGATE_DO_WAIT;
}

static enum aggregate_member_action
take_grant(struct aggregate_member *member, const struct aggregate_message *reply, uint64_t now)
{
	member->session = aggregate_granted_session(reply);
	member->decided = reply->join.place.decided;
	member->sent = now;
	set_state(member, AGGREGATE_MEMBER_JOINED);
	return AGGREGATE_DO_ENTER;
}

/* A refusal without a reason makes no sense, and a code has none. */
static uint8_t
reason_of(const struct aggregate_message *reply)
{
	return reply->code == AGGREGATE_STATUS_CODE && reply->reason != AGGREGATE_REASON_NONE
		? reply->reason
		: AGGREGATE_REASON_PARENT;
}

static enum aggregate_member_action
take_refusal(struct aggregate_member *member, const struct aggregate_message *reply)
{
	aggregate_member_refuse(member, reason_of(reply),
		reply->code == AGGREGATE_STATUS_CODE ? reply->join.place.decided : 1);
	return AGGREGATE_DO_GIVE_UP;
}

/*
 * To one who is in. The job is another one, or the switch does not know this one's session any
 * more: it asks for a cookie, or for patience, as if nobody had joined.
 */
static enum aggregate_member_action
take_sign_of_life(struct aggregate_member *member, const struct aggregate_message *reply)
{
	uint8_t reason = reason_of(reply);

	if (reply->code == NETFC_STATUS_OK && aggregate_granted_session(reply) == member->session) {
		member->unanswered = 0;
		return AGGREGATE_DO_GO_ON;
	}
	if (reply->code == NETFC_STATUS_OK || reason == AGGREGATE_REASON_COOKIE ||
		reason == AGGREGATE_REASON_WAITING)
		reason = AGGREGATE_REASON_NO_JOB;
	__atomic_store_n(&member->refused, reason, __ATOMIC_RELAXED);
	set_state(member, AGGREGATE_MEMBER_LOST);
	return AGGREGATE_DO_END;
}

enum aggregate_member_action
aggregate_member_take(struct aggregate_member *member, const struct aggregate_member_times *times,
	const struct aggregate_message *reply, uint64_t now)
{
	if (!is_answer(member, reply))
		return AGGREGATE_DO_IGNORE;
	if (reply->op == AGGREGATE_LEAVE) { /* refused: the job is not there, which is as well */
		set_state(member, AGGREGATE_MEMBER_NONE);
		return AGGREGATE_DO_PART;
	}
	if (member->state == AGGREGATE_MEMBER_JOINED)
		return take_sign_of_life(member, reply);
	if (reply->code == NETFC_STATUS_OK)
		return take_grant(member, reply, now);
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_COOKIE)
		return take_cookie(member, reply, now);
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_WAITING)
		return take_waiting(member, times, reply, now);
	return take_refusal(member, reply);
}

bool
aggregate_member_can_be_granted(
	const struct aggregate_join *asked, const struct aggregate_join *granted)
{
	return granted->workers == asked->workers && granted->slots > 0 &&
		(granted->slots & (granted->slots - 1)) == 0 && granted->slots <= asked->slots &&
		granted->shards > 0 && granted->shards <= AGGREGATE_MAX_SHARDS &&
		granted->bytes >= 4 && granted->bytes <= asked->bytes &&
		granted->least <= granted->bytes;
}

const char *
aggregate_member_state_name(enum aggregate_member_state state)
{
	static const char *const names[AGGREGATE_MEMBER_STATE_COUNT] = {
#define STATE_NAME_(symbol, name, meaning) [AGGREGATE_MEMBER_##symbol] = (name),
		AGGREGATE_MEMBER_STATES(STATE_NAME_)
#undef STATE_NAME_
	};

	return names[state];
}
