/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include "comm/error.h"
#include "clock.h"

/* How often a switch is probed at least before it counts as down. */
#define QUESTIONS 8

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
deadline(const struct netfc_allreduce *comm)
{
	if (TAILQ_EMPTY(&comm->calls.queue))
		return NEVER;
	return comm->head_since + comm->options.deadline_ms * NS_PER_MS;
}

/* Since when a switch owes an answer. */
static uint64_t
quiet_since(const struct netfc_allreduce *comm, const struct peer *peer)
{
	return peer->heard > comm->head_since ? peer->heard : comm->head_since;
}

/* Sooner than a keep-alive, which is no question, and puts the next one off. */
static struct aggregate_member_times
question_times(const struct netfc_allreduce *comm)
{
	const uint64_t silence = comm->options.silence_ms * NS_PER_MS;
	uint64_t pause = silence / (QUESTIONS + 1);

	if (comm->options.keepalive_ms != 0)
		pause = least(pause, comm->options.keepalive_ms * NS_PER_MS * 3 / 4);
	return (struct aggregate_member_times){
		.alive = pause,
		.questions = pause == 0 ? 0 : (uint32_t)(silence / pause) - 1,
	};
}

/* When a switch has to be asked whether it is there. */
static uint64_t
question_due(const struct netfc_allreduce *comm, const struct peer *peer)
{
	const struct aggregate_member_times times = question_times(comm);

	if (comm->options.silence_ms == 0 || !window_is_busy(&peer->window))
		return NEVER;
	return aggregate_member_due(&peer->member, &times, quiet_since(comm, peer));
}

uint64_t
timers_next(const struct netfc_allreduce *comm)
{
	uint64_t next = deadline(comm);

	if (comm->keepalive_until != 0)
		next = least(next, comm->keepalive_until);
	for (unsigned int k = 0; k < comm->peers; k++) {
		const struct peer *peer = &comm->peer[k];

		next = least(next, question_due(comm, peer));
		for (unsigned int s = 0; s < peer->window.channels; s++)
			next = least(next, channel_due(&peer->window.channel[s]));
	}
	return next;
}

/* The deadline has passed: find the cause. */
static int
too_late(struct netfc_allreduce *comm, uint64_t now)
{
	const struct peer *quietest = NULL;
	double seconds = comm->options.deadline_ms / 1e3;
	int status;

	for (unsigned int k = 0; k < comm->peers; k++) {
		const struct peer *peer = &comm->peer[k];

		if (window_is_busy(&peer->window) &&
			(quietest == NULL || peer->heard < quietest->heard))
			quietest = peer;
	}
	if (quietest == NULL)
		quietest = &comm->peer[0];
	status = error_of_silence(comm, quietest);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (quietest->late >= 0)
		return error_of_lateness(comm, quietest, seconds);
	if (quietest->heard < comm->head_since)
		return error_set_for(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
			"Switch %s has not answered for %.1f s: it is down, out of reach, or has not "
			"told yet which worker it waits for (option deadline_ms longer than its "
			"--aggregate stall= has it say so).",
			quietest->link.address.text, (double)(now - comm->head_since) / 1e9);
	return error_set_for(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
		"An allreduce has taken longer than its deadline, %.1f s, though switch %s answers: "
		"it is too large for the link's speed, or packets are lost; give it a longer one "
		"(option deadline_ms).",
		seconds, quietest->link.address.text);
}

/* How long to listen for replies; there is another time if they take longer. */
#define LISTEN (50 * NS_PER_MS)

/* This worker is alive; a reply shows that the switch is. */
static enum aggregate_member_action
tell(struct netfc_allreduce *comm, struct peer *peer, const struct aggregate_member_times *times,
	uint64_t since, uint64_t now)
{
	const enum aggregate_member_action action = join_say(comm, peer, times, since, now);

	if (action == AGGREGATE_DO_SEND) {
		peer->said = now;
		comm->stats.keepalives++;
		comm->keepalive_until = now + LISTEN;
	}
	return action;
}

/* Ask a switch that is silent whether it is there. */
static int
question(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	const struct aggregate_member_times times = question_times(comm);
	const uint64_t from = quiet_since(comm, peer);
	int status;

	if (question_due(comm, peer) > now ||
		tell(comm, peer, &times, from, now) != AGGREGATE_DO_BLAME)
		return NETFC_ALLREDUCE_OK;
	status = error_of_silence(comm, peer);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	return error_set_for(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
		"Switch %s has not answered for %.1f s, though asked %u times whether it is there: it "
		"is down, or out of reach.",
		peer->link.address.text, (double)(now - from) / 1e9, times.questions);
}

int
timers_run(struct netfc_allreduce *comm, uint64_t now)
{
	if (deadline(comm) <= now)
		return too_late(comm, now);
	for (unsigned int k = 0; k < comm->peers; k++) {
		struct peer *peer = &comm->peer[k];
		int status = question(comm, peer, now);

		if (status != NETFC_ALLREDUCE_OK)
			return status;
		for (unsigned int s = 0; s < peer->window.channels; s++) {
			if (channel_due(&peer->window.channel[s]) <= now)
				channel_look(&peer->window.channel[s], now);
		}
	}
	return NETFC_ALLREDUCE_OK;
}

/* ---- keep-alives ---- */

static struct aggregate_member_times
keepalive_times(const struct netfc_allreduce *comm)
{
	return (struct aggregate_member_times){.alive = comm->options.keepalive_ms * NS_PER_MS};
}

uint64_t
keepalive_due(const struct netfc_allreduce *comm)
{
	const struct aggregate_member_times times = keepalive_times(comm);
	uint64_t due = NEVER;

	if (comm->life != ALLREDUCE_JOINED || comm->options.keepalive_ms == 0)
		return NEVER;
	for (unsigned int k = 0; k < comm->peers; k++) {
		const struct peer *peer = &comm->peer[k];

		due = least(due, aggregate_member_due(&peer->member, &times, peer->said));
	}
	return due;
}

void
keepalive_send(struct netfc_allreduce *comm)
{
	const struct aggregate_member_times times = keepalive_times(comm);
	uint64_t now = clock_now();

	for (unsigned int k = 0; k < comm->peers; k++)
		tell(comm, &comm->peer[k], &times, comm->peer[k].said, now);
}

int
keepalive_reply(struct netfc_allreduce *comm, struct peer *peer,
	const struct aggregate_message *reply, uint64_t now)
{
	if (aggregate_member_take(&peer->member, &join_times, reply, now) != AGGREGATE_DO_END)
		return NETFC_ALLREDUCE_OK;
	if (reply->code != NETFC_STATUS_OK && reply->code != AGGREGATE_STATUS_CODE)
		return error_of_reply(comm, peer, reply->code, reply->reason);
	return error_of_reply(comm, peer, AGGREGATE_STATUS_CODE, peer->member.refused);
}
