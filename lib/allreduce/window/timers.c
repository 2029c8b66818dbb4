/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/timers.h"

#include "window/channel.h"
#include "clock.h"
#include "error.h"
#include "window/keepalive.h"

/*
 * How many packets are sent again when nothing at all comes: enough for all that was lost of a
 * vector's end, where nothing follows whose result would show it. Mostly nothing comes because a
 * worker is late, and then the others' windows are no help.
 */
#define PROBES 8

/* How often a switch is asked whether it is there, before it is taken for gone. */
#define QUESTIONS 8

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
channel_due(const struct channel *channel)
{
	const struct slot *oldest;
	uint64_t from;

	if (channel->oldest == ALLREDUCE_NO_SLOT)
		return NEVER;
	oldest = &channel->peer->slot[channel->oldest];
	from = oldest->sent > channel->fired ? oldest->sent : channel->fired;
	return from + rtt_timeout(&channel->rtt, channel->backoff);
}

static uint64_t
deadline(const struct netfc_allreduce *comm)
{
	if (TAILQ_EMPTY(&comm->queue))
		return NEVER;
	return comm->head_since + comm->options.deadline_ms * NS_PER_MS;
}

static bool
has_in_flight(const struct peer *peer)
{
	for (unsigned int s = 0; s < peer->channels; s++) {
		if (peer->channel[s].oldest != ALLREDUCE_NO_SLOT || peer->channel[s].queued > 0)
			return true;
	}
	return false;
}

/* Since when a switch owes an answer. */
static uint64_t
quiet_since(const struct netfc_allreduce *comm, const struct peer *peer)
{
	return peer->heard > comm->head_since ? peer->heard : comm->head_since;
}

/* When a switch has to be asked whether it is there. */
static uint64_t
question_due(const struct netfc_allreduce *comm, const struct peer *peer)
{
	uint64_t from = quiet_since(comm, peer);

	if (comm->options.silence_ms == 0 || !has_in_flight(peer))
		return NEVER;
	return (peer->asked > from ? peer->asked : from) +
		comm->options.silence_ms * NS_PER_MS / (QUESTIONS + 1);
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
		for (unsigned int s = 0; s < peer->channels; s++)
			next = least(next, channel_due(&peer->channel[s]));
	}
	return next;
}

/*
 * A time-out: queue a few of what is overdue. If some of the last time were answered but nothing
 * that was sent once only, more are lost: twice as many.
 */
static void
fire(struct netfc_allreduce *comm, struct channel *channel, uint64_t now)
{
	const struct slot *slots = channel->peer->slot;
	uint64_t timeout = rtt_timeout(&channel->rtt, channel->backoff);
	uint32_t left, at;

	if (channel->probes == 0)
		channel->probes = PROBES;
	else if (channel->heard > channel->fired && channel->probes < channel->peer->slots)
		channel->probes *= 2;
	channel->backoff++;
	left = channel->probes;
	for (at = channel->oldest;
		at != ALLREDUCE_NO_SLOT && left > 0 && slots[at].sent + timeout <= now;
		at = slots[at].newer, left--)
		channel_queue(channel, at);
	channel->fired = now;
	comm->stats.timeouts++;
}

/* The deadline has passed: whose fault is it? */
static int
too_late(struct netfc_allreduce *comm, uint64_t now)
{
	const struct peer *quietest = NULL;
	double seconds = comm->options.deadline_ms / 1e3;

	for (unsigned int k = 0; k < comm->peers; k++) {
		const struct peer *peer = &comm->peer[k];

		if (has_in_flight(peer) && (quietest == NULL || peer->heard < quietest->heard))
			quietest = peer;
	}
	if (quietest == NULL)
		quietest = &comm->peer[0];
	if (quietest->heard < comm->head_since)
		return error_say_of(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
			"Switch %s has not answered for %.1f s: it is down, out of reach, or has not "
			"told yet which worker it waits for (option deadline_ms longer than its "
			"--aggregate stall= has it say so).",
			quietest->address.text, (double)(now - comm->head_since) / 1e9);
	return error_say_of(comm, quietest, NETFC_ALLREDUCE_TIMEOUT,
		"An allreduce has taken longer than its deadline, %.1f s, though switch %s answers: "
		"it is too large for the link's speed, or packets are lost; give it a longer one "
		"(option deadline_ms).",
		seconds, quietest->address.text);
}

/*
 * Ask a switch that is silent whether it is there. Questions are counted: who slept himself has not
 * asked.
 */
static int
question(struct netfc_allreduce *comm, struct peer *peer, uint64_t now)
{
	uint64_t from = quiet_since(comm, peer);

	if (question_due(comm, peer) > now)
		return NETFC_ALLREDUCE_OK;
	if (peer->asked <= from)
		peer->questions = 0;
	if (peer->questions++ < QUESTIONS) {
		keepalive_ask(comm, peer, now);
		return NETFC_ALLREDUCE_OK;
	}
	return error_say_of(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
		"Switch %s has not answered for %.1f s, though asked %u times whether it is there: it "
		"is down, or out of reach.",
		peer->address.text, (double)(now - from) / 1e9, QUESTIONS);
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
		for (unsigned int s = 0; s < peer->channels; s++) {
			if (channel_due(&peer->channel[s]) <= now)
				fire(comm, &peer->channel[s], now);
		}
	}
	return NETFC_ALLREDUCE_OK;
}
