/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether what is in flight is lost, by what has been answered and by time. */
#include <aggregate_digits.h>

#include "clock.h"
#include "window/flight.h"

/*
 * A chunk is lost if that many sent after it have been answered: half of those that can be in
 * flight, and a few at least; or one that was sent later by the time-out. Answers come in
 * another order than requests did when any of the workers has lost something, and what is sent
 * again for nothing takes as much of the link as what is not.
 */
#define REORDERED_SHARE 2
#define REORDERED_LEAST 4

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

/* By such a share time-outs of what is sent again differ. */
#define SCATTERED_SHARE 4

/* How long a worker waits that knows whom it waits for. */
#define LATE_INTERVAL (250 * NS_PER_MS)

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How much a is more than b. */
static uint64_t
excess(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * While the switch says that a worker is late, all is well but that. It is asked often enough to
 * know that this one waits all the time, which it has to before it calls another one silent.
 */
static uint64_t
wait_of(const struct channel *channel, unsigned int backoff)
{
	uint64_t wait = rtt_timeout(&channel->rtt, backoff);

	return channel->window->late
		? least(wait, greater(rtt_timeout(&channel->rtt, 0), LATE_INTERVAL))
		: wait;
}

/*
 * Where queues are too short for all that is sent again at once, the same packets would be lost
 * each time: so hardly any two channels and workers have the same time-out.
 */
static uint64_t
scattered(const struct channel *channel, const struct slot *slot, uint64_t wait)
{
	const uint64_t chance = aggregate_scatter(slot->sent + channel->number) >> 16;

	return slot->times > 1 ? wait - wait / SCATTERED_SHARE * chance / UINT16_MAX : wait;
}

/*
 * When a chunk is sent again, if nothing else shows that it is lost. Results put that off once (RFC
 * 6298, section 5.3), but not that of a vector's last chunks: there they come one by one, as other
 * workers send again what they have lost. Each time for the same chunk is later than the one
 * before, up to MAX_STEPS: if the way has become longer than the time-out, a result will come
 * between two of them that shows it.
 */
static uint64_t
time_out(const struct channel *channel, const struct slot *slot)
{
	unsigned int steps = slot->times - 1 < MAX_STEPS ? slot->times - 1 : MAX_STEPS;
	uint64_t wait =
		scattered(channel, slot, wait_of(channel, steps + channel->backoff / QUIET_FIRES));
	uint64_t since = channel_is_ending(channel) ? 0 : channel->heard;

	return greater(slot->sent, least(since, slot->sent + wait)) + wait;
}

/* Of packets that may be lost. */
struct signs {
	uint64_t now;
	uint64_t order,
		sent; /* what has a lower one, or was sent before then, has been overtaken */
};

struct verdict {
	enum {
		IN_FLIGHT,
		HELD_UP,   /* as another worker has lost something, though it was overtaken */
		OVERTAKEN, /* lost */
		OVERDUE    /* lost, or late like all else */
	} is;
	uint64_t again; /* ns: when to look again, if nothing comes before */
};

/*
 * What has been sent again may wait for another worker, who has lost its own packet or the result
 * before: who needs as long to notice and as long to mend it.
 */
static bool
is_mended_elsewhere(const struct channel *channel, const struct slot *slot, uint64_t now)
{
	return slot->times > 1 && now - slot->sent < channel->rtt.timeout;
}

static struct verdict
judge(const struct channel *channel, const struct slot *slot, const struct signs *signs)
{
	struct verdict verdict = {.is = IN_FLIGHT, .again = time_out(channel, slot)};

	if (slot->order < signs->order || slot->sent < signs->sent)
		verdict.is = is_mended_elsewhere(channel, slot, signs->now) ? HELD_UP : OVERTAKEN;
	else if (verdict.again <= signs->now)
		verdict.is = OVERDUE;
	return verdict;
}

static uint64_t
reordering(const struct channel *channel)
{
	unsigned int share = channel_window(channel) / REORDERED_SHARE;

	return rtt_stretched(&channel->rtt, share > REORDERED_LEAST ? share : REORDERED_LEAST);
}

void
channel_learn(struct channel *channel, const struct evidence *evidence)
{
	struct slot *slots = channel->window->slot;
	const struct signs signs = {
		.now = evidence->now,
		.order = excess(evidence->answered, reordering(channel)),
		.sent = excess(evidence->sent, channel->rtt.timeout),
	};

	for (uint32_t at = channel->oldest; at != WINDOW_NO_SLOT; at = slots[at].newer) {
		const struct verdict verdict = judge(channel, &slots[at], &signs);

		if (verdict.is == HELD_UP ||
			(slots[at].queued && slots[at].lost)) /* or it counts twice */
			continue;
		if (verdict.is != OVERTAKEN)
			return;
		channel_queue(channel, at);
		slots[at].lost = true;
		congestion_lost(&channel->congestion, slots[at].order, channel->orders);
	}
}

void
channel_expect(struct channel *channel, const struct slot *slot)
{
	channel->due = least(channel->due, time_out(channel, slot));
}

uint64_t
channel_due(const struct channel *channel)
{
	return channel->oldest == WINDOW_NO_SLOT ? NEVER : channel->due;
}

/* The earliest time-out that is later than `after`. */
static uint64_t
next_due(const struct channel *channel, uint64_t after)
{
	const struct slot *slots = channel->window->slot;
	const struct signs signs = {.now = after};
	uint64_t next = NEVER;

	for (uint32_t at = channel->oldest; at != WINDOW_NO_SLOT; at = slots[at].newer) {
		const struct verdict verdict = judge(channel, &slots[at], &signs);

		if (verdict.is == IN_FLIGHT)
			next = least(next, verdict.again);
	}
	return next;
}

/* Whether all that is overdue is lost, as far as one can tell. */
static bool
is_rest_lost(const struct channel *channel)
{
	if (channel_is_ending(channel) &&
		channel->heard > channel->window->slot[channel->oldest].sent)
		return true;
	return channel->answered > 0 && channel->answered <= HARDLY_MORE;
}

/* Some of what is overdue is sent again; the rest waits for what they show. */
void
channel_look(struct channel *channel, uint64_t now)
{
	struct slot *slots = channel->window->slot;
	const struct signs signs = {.now = now};
	bool oldest = channel->backoff % OLDEST_EVERY == OLDEST_EVERY - 1;
	uint32_t left, at;

	channel->due = next_due(channel, 0);
	if (channel->due > now)
		return;
	left = is_rest_lost(channel) ? channel->flying : PROBES;
	for (at = oldest ? channel->oldest : channel->newest; at != WINDOW_NO_SLOT && left > 0;
		at = oldest ? slots[at].newer : slots[at].older) {
		if (judge(channel, &slots[at], &signs).is != OVERDUE)
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
	channel->window->stats->timeouts++;
}
