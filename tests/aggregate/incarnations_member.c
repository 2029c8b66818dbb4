/* SPDX-License-Identifier: BSD-3-Clause */
/* The real member, put into the state that the model's worker has, and what it does. */
#include <aggregate_member.h>

#include "incarnations.h"

/* Messages of a state have ids of their own, in the order of the states. */
#define STATE_IDS (AGGREGATE_MEMBER_IDS * IDS)

/* Whatever is due is sent at any time. */
static const struct aggregate_member_times times = {.leaves = UINT32_MAX};

bool
is_joining(const struct model_worker *worker)
{
	return worker->state == AGGREGATE_MEMBER_ASKING ||
		worker->state == AGGREGATE_MEMBER_WAITING;
}

/* What a state's ids come after. */
static uint32_t
first_id(const struct model_worker *worker)
{
	const uint32_t states = is_joining(worker)         ? 1
		: worker->state == AGGREGATE_MEMBER_JOINED ? 2
							   : 3;

	return states * STATE_IDS;
}

static struct packet
packet_of(const struct model_worker *worker, unsigned int w)
{
	return (struct packet){
		.worker = (uint8_t)w, .port = worker->port, .incarnation = worker->incarnation};
}

static struct packet
cookie_of(const struct model_worker *worker, unsigned int w)
{
	struct packet packet = packet_of(worker, w);

	packet.cookie = true;
	packet.session = worker->ended;
	packet.chunk = worker->serial;
	return packet;
}

static struct aggregate_member
restore(const struct model_worker *worker, unsigned int w)
{
	const struct packet own = packet_of(worker, w), cookie = cookie_of(worker, w);
	const uint32_t first = first_id(worker);

	return (struct aggregate_member){
		.state = worker->state,
		.id = first + AGGREGATE_MEMBER_IDS * worker->id,
		.before = first + AGGREGATE_MEMBER_IDS - 1,
		.cookie_id = STATE_IDS + AGGREGATE_MEMBER_IDS * worker->cookie_id,
		.job = NUMBER,
		.worker = (uint8_t)w,
		.bare = worker->bare,
		.token = TOKEN,
		.incarnation = table_incarnation(&own),
		.cookie = worker->cookie ? table_cookie(&cookie) : 0,
		.session = worker->session == 0 ? 0 : table_session(worker->session),
	};
}

/* What the member has made of it. A new state's messages are counted from 0. */
static void
keep(struct model_worker *worker, const struct aggregate_member *member)
{
	const uint32_t before = first_id(worker);

	worker->state = (uint8_t)member->state;
	worker->bare = member->bare;
	if (first_id(worker) != before)
		worker->id = 0;
}

struct packet
member_send(struct model *model, unsigned int w, enum kind kind)
{
	struct model_worker *worker = &model->worker[w];
	struct aggregate_member member = restore(worker, w);
	struct packet packet = packet_of(worker, w);
	struct aggregate_message message;

	if (kind == LEAVE && worker->state != AGGREGATE_MEMBER_LEAVING)
		aggregate_member_leave(&member, &times, AGGREGATE_REASON_NONE, 0);
	if (aggregate_member_poll(&member, &times, 0, 0, &message) != AGGREGATE_DO_SEND)
		fail("a member has nothing to send", model);
	keep(worker, &member);
	if (worker->id < member_ids)
		worker->id++;
	if (message.op == AGGREGATE_JOIN && message.join.cookie == 0)
		packet.cookie = false;
	else if (member.session != 0)
		packet.session = worker->session;
	else
		packet = cookie_of(worker, w);
	packet.kind = (uint8_t)kind;
	packet.parts = worker->id;
	return packet;
}

static struct aggregate_message
message_of(const struct model_worker *worker, const struct packet *reply)
{
	struct model_worker sender = {.state = AGGREGATE_MEMBER_ASKING};
	struct aggregate_message message = {.op = AGGREGATE_JOIN,
		.job = NUMBER,
		.worker = reply->worker,
		.token = TOKEN,
		.join.incarnation = table_incarnation(reply)};

	if (reply->kind == LEFT) {
		sender.state = AGGREGATE_MEMBER_LEAVING;
		message.op = AGGREGATE_LEAVE;
		message.session = table_session(worker->session);
	} else if (reply->kind == COOKIE) {
		message.code = AGGREGATE_STATUS_CODE;
		message.reason = AGGREGATE_REASON_COOKIE;
		message.join.cookie = table_cookie(reply);
	} else if (reply->chunk == ANSWER_JOINED) {
		message.join.session = table_session(reply->session);
	} else {
		message.code = AGGREGATE_STATUS_CODE;
		message.reason = reply->chunk == ANSWER_WAITING ? AGGREGATE_REASON_WAITING
								: AGGREGATE_REASON_TAKEN;
	}
	if (reply->kind == ANSWER && reply->cookie)
		sender.state = AGGREGATE_MEMBER_JOINED;
	message.id = first_id(&sender) + AGGREGATE_MEMBER_IDS * reply->parts;
	return message;
}

int
member_take(struct model *model, const struct packet *reply)
{
	struct model_worker *worker = &model->worker[reply->worker];
	struct aggregate_member member = restore(worker, reply->worker);
	const struct aggregate_message message = message_of(worker, reply);
	const enum aggregate_member_action action =
		aggregate_member_take(&member, &times, &message, 0);

	if (action == AGGREGATE_DO_ASK) {
		worker->cookie = true;
		worker->ended = reply->session;
		worker->serial = reply->chunk;
	}
	if (reply->kind == COOKIE && member.cookie_id == message.id)
		worker->cookie_id = reply->parts;
	if (action == AGGREGATE_DO_ENTER)
		worker->session = reply->session;
	keep(worker, &member);
	return (int)action;
}

void
member_leave(struct model_worker *worker)
{
	struct aggregate_member member = restore(worker, 0);

	aggregate_member_leave(&member, &times, AGGREGATE_REASON_NONE, 0);
	keep(worker, &member);
}
