/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers, what the network holds for them, and what must not be. */
#include <aggregate.h>
#include <aggregate_member.h>

#include "incarnations.h"
#include "jobs/table.h"
#include "states.h"

uint32_t job_slots, job_rounds;
unsigned int member_ids = 1;

/* ---- The network ---- */

unsigned int
in_flight(const struct model *m)
{
	return flight_count(m->flight, MAX_IN_FLIGHT);
}

void
launch_word(struct model *m, uint16_t word)
{
	flight_add(m->flight, MAX_IN_FLIGHT, word);
}

void
launch(struct model *m, const struct packet *packet)
{
	if (packet->kind != NOTHING)
		launch_word(m, packet_pack(packet));
}

void
land(struct model *m, unsigned int at)
{
	flight_remove(m->flight, MAX_IN_FLIGHT, at);
}

/* ---- Who has a place ---- */

bool
has_place(const struct model *m, const struct model_job *job, unsigned int w)
{
	return (job->state == JOB_JOINING || job->state == JOB_OPEN) && (job->joined >> w & 1) &&
		!(job->left >> w & 1) && job->port[w] == m->worker[w].port;
}

/* The places that the processes of now have: a bit for each job and worker. */
static unsigned int
places(const struct model *m)
{
	unsigned int bits = 0;

	for (unsigned int j = 0; j < JOBS; j++)
		for (unsigned int w = 0; w < WORKERS; w++)
			bits |= (unsigned int)has_place(m, &m->job[j], w) << (j * WORKERS + w);
	return bits;
}

const struct model_job *
open_job(const struct model *m)
{
	for (unsigned int j = 0; j < JOBS; j++)
		if (m->job[j].state == JOB_OPEN)
			return &m->job[j];
	return NULL;
}

/*
 * Whether a job is complete with a process that is no more, and has not done its part: who has done
 * it is an incarnation ahead of who has not.
 */
bool
is_lost(const struct model *m)
{
	const struct model_job *job = open_job(m);

	for (unsigned int w = 0; w < WORKERS; w++)
		if (m->worker[w].state == AGGREGATE_MEMBER_REFUSED)
			return true;
	if (m->forgotten)
		return true;
	for (unsigned int w = 0; job != NULL && w < WORKERS; w++)
		if (job->port[w] != m->worker[w].port &&
			(!(job->left >> w & 1) ||
				m->worker[w].incarnation <= m->worker[1 - w].incarnation))
			return true;
	return false;
}

/* ---- Workers ---- */

bool
is_done(const struct model_worker *worker)
{
	return worker->incarnation == INCARNATIONS;
}

bool
is_over(const struct model *m)
{
	return is_done(&m->worker[0]) && is_done(&m->worker[1]);
}

/* A worker's window: the chunk that it waits for in a slot. */
static uint8_t
wanted(const struct model_worker *worker, unsigned int slot)
{
	return (uint8_t)(worker->done[slot] * job_slots + slot);
}

static struct packet
request_of(const struct model *m, unsigned int w)
{
	const struct model_worker *worker = &m->worker[w];

	return (struct packet){
		.worker = (uint8_t)w, .port = worker->port, .incarnation = worker->incarnation};
}

/* What a worker sends about a slot, or, if it has none, about its job. */
struct packet
next_packet(struct model *m, unsigned int w, unsigned int slot)
{
	const struct model_worker *worker = &m->worker[w];
	struct packet packet = request_of(m, w);

	if (worker->state != AGGREGATE_MEMBER_JOINED)
		return member_send(m, w, is_joining(worker) ? JOIN : LEAVE);
	packet.session = worker->session;
	packet.kind = CHUNK;
	packet.chunk = wanted(worker, slot);
	return packet;
}

bool
has_packet(const struct model *m, unsigned int w, unsigned int slot)
{
	const struct model_worker *worker = &m->worker[w];

	if (is_done(worker))
		return false;
	if (worker->state == AGGREGATE_MEMBER_JOINED)
		return worker->done[slot] < job_rounds;
	return slot == 0 && (is_joining(worker) || worker->state == AGGREGATE_MEMBER_LEAVING);
}

struct model_worker
new_worker(uint8_t incarnation, uint8_t port)
{
	return (struct model_worker){
		.incarnation = incarnation, .port = port, .state = AGGREGATE_MEMBER_ASKING};
}

/* What it knew of its cookie, nobody asks any more. */
static void
check_joined(struct model *m, unsigned int w)
{
	struct model_worker *worker = &m->worker[w];
	const struct model_worker *other = &m->worker[1 - w];

	worker->cookie = false;
	worker->ended = worker->serial = worker->cookie_id = 0;
	if (!is_joining(other) && other->session == worker->session &&
		other->incarnation != worker->incarnation)
		fail("two incarnations have one session", m);
}

static void
receive_result(struct model *m, const struct packet *result)
{
	struct model_worker *worker = &m->worker[result->worker];
	unsigned int slot = result->chunk & (job_slots - 1);
	bool waits = false;

	if (worker->state != AGGREGATE_MEMBER_JOINED || worker->session != result->session)
		return;
	if (worker->done[slot] == job_rounds || wanted(worker, slot) != result->chunk)
		return;
	if (result->parts != (worker->incarnation == 0 ? 0 : 3))
		fail("a worker accepts a wrong sum", m);
	worker->done[slot]++;
	for (unsigned int s = 0; s < job_slots; s++)
		waits |= worker->done[s] < job_rounds;
	if (!waits)
		member_leave(worker);
}

/* Whom the switch has let in it does not forget, unless it is restarted. */
static void
check_lost(const struct model *m)
{
	if (!m->forgotten)
		fail("a member of a job that goes on is told that it is lost", m);
}

static void
receive_answer(struct model *m, const struct packet *reply)
{
	const unsigned int w = reply->worker;

	switch (member_take(m, reply)) {
	case AGGREGATE_DO_ENTER:
		check_joined(m, w);
		break;
	case AGGREGATE_DO_END:
		check_lost(m);
		break;
	case AGGREGATE_DO_PART:
		m->worker[w] =
			new_worker((uint8_t)(m->worker[w].incarnation + 1), m->worker[w].port);
		break;
	default:
		break;
	}
}

/*
 * Replies to joins and leaves are matched by their requests' ids, which each incarnation draws,
 * results by their session.
 */
static void
receive(struct model *m, const struct packet *reply)
{
	struct model_worker *worker = &m->worker[reply->worker];

	if (is_done(worker))
		return;
	if (reply->kind == RESULT) {
		if (worker->port / PROCESSES == reply->port / PROCESSES)
			receive_result(m, reply);
		return;
	}
	if (worker->port == reply->port && reply->incarnation == worker->incarnation)
		receive_answer(m, reply);
}

/* ---- The table ---- */

static bool
is_late(const struct model *m, const struct packet *request)
{
	const struct model_worker *worker = &m->worker[request->worker];

	return is_done(worker) || request->port != worker->port ||
		request->incarnation != worker->incarnation;
}

static void
check_join(const struct model *m, const struct packet *request, enum aggregate_action action,
	bool was_lost)
{
	if (is_late(m, request) || !is_joining(&m->worker[request->worker]) || was_lost)
		return;
	if (action != AGGREGATE_COOKIE && action != AGGREGATE_WAITING && action != AGGREGATE_JOINED)
		fail(aggregate_action_meaning(action), m);
}

static void
check_leave(const struct model *m, const struct packet *request, enum aggregate_action action)
{
	if (is_late(m, request) || m->worker[request->worker].state != AGGREGATE_MEMBER_LEAVING)
		return;
	if (action != AGGREGATE_LEFT && action != AGGREGATE_NO_JOB)
		fail("a leave came to nothing", m);
}

static void
check_chunk(const struct model *m, const struct packet *request, enum aggregate_action action)
{
	const struct model_worker *worker = &m->worker[request->worker];

	switch (action) {
	case AGGREGATE_ADDED:
	case AGGREGATE_COMPLETED:
	case AGGREGATE_REPEATED:
	case AGGREGATE_DUPLICATE:
	case AGGREGATE_STALE:
		break;
	case AGGREGATE_NO_JOB:
	case AGGREGATE_STALE_SESSION:
		if (!is_late(m, request) && worker->state == AGGREGATE_MEMBER_JOINED &&
			request->session == worker->session && !m->forgotten)
			fail("a chunk of a job that goes on was refused", m);
		break;
	case AGGREGATE_STALLED:
		if (!is_lost(m))
			fail("a worker is missing that is there", m);
		break;
	default:
		fail(aggregate_action_meaning(action), m);
	}
}

static void
handle(struct model *m, const struct packet *request)
{
	const unsigned int before = places(m);
	const bool was_lost = is_lost(m);
	struct packet replies[WORKERS];
	enum aggregate_action action = (enum aggregate_action)table_handle(m, request, replies);

	if (is_late(m, request) && places(m) != before)
		fail("a late packet has changed who has a place", m);
	if (request->kind == JOIN)
		check_join(m, request, action, was_lost);
	else if (request->kind == LEAVE)
		check_leave(m, request, action);
	else
		check_chunk(m, request, action);
	for (unsigned int r = 0; r < WORKERS; r++)
		launch(m, &replies[r]);
}

void
deliver(struct model *m, unsigned int at)
{
	const struct packet packet = packet_unpack(m->flight[at]);

	land(m, at);
	if (packet.kind == JOIN || packet.kind == CHUNK || packet.kind == LEAVE)
		handle(m, &packet);
	else
		receive(m, &packet);
}
