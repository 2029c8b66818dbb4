/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include "clock.h"

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
	return peer->member.heard > comm->head_since ? peer->member.heard : comm->head_since;
}

/* When a switch has to be asked whether it is there. */
static uint64_t
question_due(const struct netfc_allreduce *comm, const struct peer *peer)
{
	if (!window_is_busy(&peer->window))
		return NEVER;
	return member_question_due(&peer->member, quiet_since(comm, peer));
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

/* How long no result has come. */
static uint64_t
without_results(const struct netfc_allreduce *comm, const struct peer *peer, uint64_t now)
{
	uint64_t since = comm->head_since;

	for (unsigned int s = 0; s < peer->window.channels; s++) {
		if (peer->window.channel[s].heard > since)
			since = peer->window.channel[s].heard;
	}
	return since < now ? now - since : 0;
}

/* The deadline has passed: find the cause. */
static int
too_late(struct netfc_allreduce *comm, uint64_t now)
{
	const struct peer *quietest = NULL;
	double seconds = comm->options.deadline_ms / 1e3;
	uint64_t without;
	int status;

	for (unsigned int k = 0; k < comm->peers; k++) {
		const struct peer *peer = &comm->peer[k];

		if (window_is_busy(&peer->window) &&
			(quietest == NULL || peer->member.heard < quietest->member.heard))
			quietest = peer;
	}
	if (quietest == NULL)
		quietest = &comm->peer[0];
	status = error_of_silence(comm, quietest);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (quietest->member.late >= 0)
		return error_of_lateness(comm, quietest, seconds);
	if (quietest->member.heard < comm->head_since)
		return error_set_for(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
			"Switch %s has not answered for %.1f s: it is down, out of reach, or has not "
			"told yet which worker it waits for (option deadline_ms longer than its "
			"--aggregate stall= has it say so).",
			quietest->link.address.text, (double)(now - comm->head_since) / 1e9);
	without = without_results(comm, quietest, now);
	if (without > comm->options.deadline_ms * NS_PER_MS / 2)
		return error_set_for(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
			"Switch %s answers, but no result has come for %.1f s: packets with chunks "
			"of %u bytes do not get there and back, maybe, by a small MTU on the way (let "
			"all workers set option bytes to less), or it has not told yet which worker "
			"it waits for (option deadline_ms longer than its --aggregate stall=).",
			quietest->link.address.text, (double)without / 1e9, comm->bytes);
	return error_set_for(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
		"An allreduce has taken longer than its deadline, %.1f s, though switch %s answers: "
		"it is too large for the link's speed, or packets are lost; give it a longer one "
		"(option deadline_ms).",
		seconds, quietest->link.address.text);
}

/* How long to listen for replies; there is another time if they take longer. */
#define LISTEN (50 * NS_PER_MS)

static void
expect_replies(struct netfc_allreduce *comm, uint64_t now)
{
	comm->stats.keepalives++;
	comm->keepalive_until = now + LISTEN;
}

/* Ask a switch that is silent whether it is there. */
static int
question(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	if (question_due(comm, peer) > now)
		return NETFC_ALLREDUCE_OK;
	switch (member_question(&peer->member, quiet_since(comm, peer), now)) {
	case AGGREGATE_DO_BLAME:
		return error_of_member(comm, peer);
	case AGGREGATE_DO_SEND:
		expect_replies(comm, now);
		return NETFC_ALLREDUCE_OK;
	default:
		return NETFC_ALLREDUCE_OK;
	}
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

uint64_t
keepalive_due(const struct netfc_allreduce *comm)
{
	uint64_t due = NEVER;

	for (unsigned int k = 0; k < comm->peers && comm->life == ALLREDUCE_JOINED; k++)
		due = least(due, member_keepalive_due(&comm->peer[k].member));
	return due;
}

/*
 * A switch that owes an answer is asked for it: a keep-alive would put off the question of a thread
 * that waits for the processor, each time. Whoever drives says that it is silent.
 */
static bool
show_life(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	enum aggregate_member_action action;

	if (question_due(comm, peer) > now)
		return member_keepalive(&peer->member, now);
	action = member_question(&peer->member, quiet_since(comm, peer), now);
	if (action == AGGREGATE_DO_BLAME) /* nothing was sent, but somebody has to drive */
		comm->keepalive_until = now + LISTEN;
	return action == AGGREGATE_DO_SEND;
}

void
keepalive_send(struct netfc_allreduce *comm)
{
	uint64_t now = clock_now();

	for (unsigned int k = 0; k < comm->peers; k++) {
		if (show_life(comm, &comm->peer[k], now))
			expect_replies(comm, now);
	}
}
