/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers: the real member, and what it is in. */
#include <string.h>

#include "exact.h"
#include "restarts.h"

#define VALUE_BITS 2 /* for how often a process's value is in a sum */
#define ONE 1u
#define CHUNK_SHIFT (VALUE_BITS * WORKERS * LIVES)

/* Whatever is due is sent at any time. */
static const struct aggregate_member_times times = {.leaves = UINT32_MAX};

void
member_forget_times(struct aggregate_member *member)
{
	member->sent = member->next = 0;
	member->interval = RETRY;
	member->unanswered = 0;
}

void
member_limit_ids(struct aggregate_member *member)
{
	const uint32_t first = member->before + 1;

	if (member->id - first >= member_ids * AGGREGATE_MEMBER_IDS)
		member->id -= AGGREGATE_MEMBER_IDS;
}

/* ---- Values: a digit for each process that there may be, and the chunk ---- */

static unsigned int
digit_of(unsigned int worker, unsigned int life)
{
	return VALUE_BITS * (worker * LIVES + life);
}

static uint32_t
value_of(const struct worker *worker, uint32_t chunk)
{
	return (chunk + 1) << CHUNK_SHIFT | ONE << digit_of(worker->number, worker->life);
}

/* The life whose value is in a sum, once; LIVES: none, or several, or more than once. */
static unsigned int
life_in(uint32_t sum, unsigned int worker)
{
	const uint32_t digits = sum >> digit_of(worker, 0) & ((1u << VALUE_BITS * LIVES) - 1);

	for (unsigned int life = 0; life < LIVES; life++)
		if (digits == ONE << digit_of(0, life))
			return life;
	return LIVES;
}

static void
check_sum(struct worker *worker, uint32_t sum)
{
	const unsigned int other = life_in(sum, 1 - worker->number);
	uint8_t *partner = &worker->partner[worker->life];

	if (sum >> CHUNK_SHIFT != WORKERS * (worker->rounds + 1u))
		fail("a sum is of another chunk's values");
	if (life_in(sum, worker->number) != worker->life)
		fail("a sum does not have the worker's own value once");
	if (other == LIVES)
		fail("a sum does not have the other worker's value once");
	if (*partner != 0 && *partner != other + 1)
		fail("a job's sums are of several processes of the other worker");
	*partner = (uint8_t)(other + 1);
}

/* ---- A process ---- */

void
worker_begin(struct worker *worker)
{
	const unsigned int process =
		(worker->attempt * WORKERS + worker->number) * LIVES + worker->life;

	worker->phase = PHASE_RUNNING;
	worker->reason = worker->rounds = 0;
	worker->epoch_of[worker->life] = worker->epoch;
	memset(&worker->member, 0, sizeof(worker->member));
	aggregate_member_begin(&worker->member, JOB_NUMBER, shape->worker[worker->number], TOKEN,
		(1 + process) << 8);
	aggregate_member_ask(&worker->member, &times, 0);
}

bool
worker_is_over(const struct worker *worker)
{
	return worker->phase == PHASE_DONE || worker->phase == PHASE_ENDED;
}

bool
worker_is_in(const struct worker *worker)
{
	return !worker_is_over(worker) && worker->member.state == AGGREGATE_MEMBER_JOINED;
}

bool
worker_joins(const struct worker *worker)
{
	return !worker_is_over(worker) &&
		(worker->member.state == AGGREGATE_MEMBER_ASKING ||
			worker->member.state == AGGREGATE_MEMBER_WAITING);
}

/* ---- What it sends ---- */

static void
transmit(const struct worker *worker, const struct aggregate_message *message, uint32_t value,
	struct sent *sent)
{
	struct packet *packet = &sent->packet[sent->count++];

	*packet = (struct packet){.from = (uint8_t)(FIRST_WORKER + worker->number),
		.to = shape->at[worker->number],
		.from_port = (uint16_t)(WORKER_PORT + worker->port),
		.to_port = SWITCH_PORT,
		.length = (uint16_t)aggregate_message_bytes(message)};
	aggregate_build_request(packet->bytes, message);
	if (message->values != NULL)
		data_put(AGGREGATE_INT32, packet->bytes + AGGREGATE_HEADER_BYTES, 0, value);
}

static void
complete(const struct worker *worker, struct aggregate_join *join)
{
	uint8_t s = shape->at[worker->number];

	join->workers = shape->members[s];
	join->slots = other_joins && (worker->jobs + worker->epoch) % 2 != 0 ? 2 : 1;
	join->bytes = BYTES;
	join->place.workers = WORKERS;
	join->place.below = 1;
	for (; s != ROOT; s = shape->parent[s])
		join->place.level[join->place.levels++] =
			(struct aggregate_level){shape->members[shape->parent[s]], shape->index[s]};
}

static void
send_message(struct worker *worker, uint64_t now, struct sent *sent)
{
	struct aggregate_message message;

	if (aggregate_member_poll(&worker->member, &times, 0, now, &message) != AGGREGATE_DO_SEND)
		fail("a member has nothing to send");
	member_forget_times(&worker->member);
	member_limit_ids(&worker->member);
	message.id = worker->member.id;
	if (message.op == AGGREGATE_JOIN)
		complete(worker, &message.join);
	transmit(worker, &message, 0, sent);
}

static void
send_chunk(const struct worker *worker, struct sent *sent)
{
	const uint8_t there;
	const struct aggregate_message message = {.op = AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.worker = worker->member.worker,
		.count = 1,
		.job = JOB_NUMBER,
		.id = worker->rounds,
		.session = worker->member.session,
		.values = &there};

	transmit(worker, &message, value_of(worker, worker->rounds), sent);
}

void
worker_send(struct worker *worker, uint64_t now, struct sent *sent)
{
	if (worker_is_in(worker))
		send_chunk(worker, sent);
	else
		send_message(worker, now, sent);
}

void
worker_show_life(struct worker *worker, struct sent *sent)
{
	send_message(worker, NOW, sent);
}

void
worker_leave(struct worker *worker, struct sent *sent)
{
	if (!worker_is_over(worker) &&
		aggregate_member_leave(&worker->member, &times, AGGREGATE_REASON_FAILED, 0))
		send_message(worker, NOW, sent);
}

/* ---- What it gets ---- */

static void
end(struct worker *worker, uint8_t reason)
{
	worker->phase = PHASE_ENDED;
	worker->reason = reason;
	memset(&worker->member, 0, sizeof(worker->member));
}

/* It has left: another job, if there is one to do, and it has not failed. */
static void
part(struct worker *worker)
{
	if (worker->phase == PHASE_FAILED) {
		end(worker, worker->reason);
	} else if (--worker->jobs == 0 || worker->life + 2 >= LIVES) {
		worker->phase = PHASE_DONE;
		memset(&worker->member, 0, sizeof(worker->member));
	} else {
		worker->life++;
		worker_begin(worker);
	}
}

/* As the library does: who is told of a failure passes it on when it leaves. */
static void
take_refusal(struct worker *worker, const struct aggregate_message *reply)
{
	uint8_t reason = AGGREGATE_REASON_FAILED;

	if (reply->reason >= AGGREGATE_MISSING) {
		if (reply->absence == AGGREGATE_ABSENT_LATE)
			return;
		if (reply->level > 0)
			reason = AGGREGATE_REASON_PARENT;
		else if (reply->reason != AGGREGATE_MISSING + worker->member.worker)
			reason = reply->reason;
	}
	worker->phase = PHASE_FAILED;
	worker->reason = reply->reason;
	if (!aggregate_member_leave(&worker->member, &times, reason, 0))
		end(worker, reply->reason);
}

static void
take_result(struct worker *worker, const struct aggregate_message *reply)
{
	if (worker->phase != PHASE_RUNNING || !worker_is_in(worker) ||
		reply->session != worker->member.session || reply->id != worker->rounds)
		return;
	if (reply->code != 0) {
		take_refusal(worker, reply);
		return;
	}
	if (reply->values == NULL)
		fail("a result has no values");
	check_sum(worker, (uint32_t)data_get(AGGREGATE_INT32, reply->values, 0));
	if (++worker->rounds == rounds)
		aggregate_member_leave(&worker->member, &times, AGGREGATE_REASON_NONE, 0);
}

static void
take_answer(struct worker *worker, const struct aggregate_message *reply)
{
	switch (aggregate_member_take(&worker->member, &times, reply, 0)) {
	case AGGREGATE_DO_GIVE_UP:
	case AGGREGATE_DO_END:
		end(worker, worker->member.refused);
		break;
	case AGGREGATE_DO_PART:
		part(worker);
		break;
	default:
		break;
	}
}

void
worker_take(struct worker *worker, const struct packet *packet)
{
	struct aggregate_message reply;

	if (worker_is_over(worker) || packet->to_port != WORKER_PORT + worker->port)
		return;
	if (aggregate_parse_reply(packet->bytes, packet->length, &reply) != 0)
		fail("a worker gets what is no reply");
	if (reply.op == AGGREGATE_JOIN || reply.op == AGGREGATE_LEAVE)
		take_answer(worker, &reply);
	else
		take_result(worker, &reply);
	member_forget_times(&worker->member);
}
