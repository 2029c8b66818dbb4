/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include "comm/error.h"
#include "comm/comm.h"
#include "clock.h"

/*
 * How many packets are sent again when results come no more: mostly a worker or the switch is late,
 * and then the others' windows are no help. What few are left of a vector whose other results have
 * come are all sent again, and all where hardly more than these few has come since they were.
 */
#define PROBES 4
#define HARDLY_MORE (2 * PROBES)

/*
 * The newest are sent again, since results come in the order of requests: whatever is answered
 * after them is lost. But every other time the oldest: they may be what another worker lacks to go
 * on, and the newest what it does not send yet. Results of those may be of what was sent at first,
 * and show nothing by themselves.
 */
#define OLDEST_EVERY 2

/* A socket's time-out doubles after that many retransmissions without a result: a few may be lost.
 */
#define QUIET_FIRES 3

/* A chunk's time-out doubles that often. */
#define MAX_STEPS 1

/* How long a worker waits that knows whom it waits for. */
#define LATE_INTERVAL (250 * NS_PER_MS)

/* How often a switch is probed at least before it counts as down. */
#define QUESTIONS 8

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * While the switch says that a worker is late, all is well but that. It is asked often enough to
 * know that this one waits all the time, which it has to before it calls another one silent.
 */
static uint64_t
wait_of(const struct channel *channel, unsigned int backoff)
{
	uint64_t wait = rtt_timeout(&channel->rtt, backoff);
	uint64_t most = rtt_timeout(&channel->rtt, 0);

	if (most < LATE_INTERVAL)
		most = LATE_INTERVAL;
	return channel->peer->late >= 0 && wait > most ? most : wait;
}

static uint64_t
greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * When a chunk is sent again, if nothing else shows that it is lost. Results put that off once (RFC
 * 6298, section 5.3), but not that of a vector's last chunks: there they come one by one, as other
 * workers send again what they have lost. Each time for the same chunk is later than the one
 * before, up to MAX_STEPS: if the way has become longer than the time-out, a result will come
 * between two of them that shows it.
 */
static uint64_t
slot_due(const struct channel *channel, const struct slot *slot)
{
	unsigned int steps = slot->times - 1 < MAX_STEPS ? slot->times - 1 : MAX_STEPS;
	uint64_t wait = wait_of(channel, steps + channel->backoff / QUIET_FIRES);
	uint64_t since = channel_is_ending(channel) ? 0 : channel->heard;

	return greater(slot->sent, least(since, slot->sent + wait)) + wait;
}

void
timers_note(struct channel *channel, const struct slot *slot)
{
	channel->due = least(channel->due, slot_due(channel, slot));
}

static uint64_t
channel_due(const struct channel *channel)
{
	return channel->oldest == ALLREDUCE_NO_SLOT ? NEVER : channel->due;
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

	if (comm->options.silence_ms == 0 || !has_in_flight(peer))
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
		for (unsigned int s = 0; s < peer->channels; s++)
			next = least(next, channel_due(&peer->channel[s]));
	}
	return next;
}

/* The earliest time-out that is later than `after`. */
static uint64_t
next_due(const struct channel *channel, uint64_t after)
{
	const struct slot *slots = channel->peer->slot;
	uint64_t next = NEVER;

	for (uint32_t at = channel->oldest; at != ALLREDUCE_NO_SLOT; at = slots[at].newer) {
		uint64_t due = slot_due(channel, &slots[at]);

		if (due > after)
			next = least(next, due);
	}
	return next;
}

/* Whether all that is overdue is lost, as far as one can tell. */
static bool
is_rest_lost(const struct channel *channel)
{
	if (channel_is_ending(channel) &&
		channel->heard > channel->peer->slot[channel->oldest].sent)
		return true;
	return channel->answered > 0 && channel->answered <= HARDLY_MORE;
}

/* Queue some of what is in flight, if one of them is overdue; the rest waits for what they show. */
static void
queue_overdue(struct netfc_allreduce *comm, struct channel *channel, uint64_t now)
{
	struct slot *slots = channel->peer->slot;
	bool oldest = channel->backoff % OLDEST_EVERY == OLDEST_EVERY - 1;
	uint32_t left, at;

	channel->due = next_due(channel, 0);
	if (channel->due > now)
		return;
	left = is_rest_lost(channel) ? channel->flying : PROBES;
	for (at = oldest ? channel->oldest : channel->newest; at != ALLREDUCE_NO_SLOT && left > 0;
		at = oldest ? slots[at].newer : slots[at].older) {
		if (slot_due(channel, &slots[at]) > now)
			continue;
		channel_queue(channel, at);
		channel->probes = PROBES;
		slots[at].ack_ambiguous = oldest;
		left--;
	}
	channel->backoff++;
	channel->answered = 0;
	channel->due = least(
		next_due(channel, now), now + wait_of(channel, channel->backoff / QUIET_FIRES));
	comm->stats.timeouts++;
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

		if (has_in_flight(peer) && (quietest == NULL || peer->heard < quietest->heard))
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
		for (unsigned int s = 0; s < peer->channels; s++) {
			if (channel_due(&peer->channel[s]) <= now)
				queue_overdue(comm, &peer->channel[s], now);
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
