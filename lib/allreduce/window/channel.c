/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/flight.h"

/* A vector ends where that share of the window at most is in flight. */
#define ENDING_SHARE 4

/* The window counts as so many chunks at least, however many packets they have. */
#define LEAST_CHUNKS 4

void
channel_queue(struct channel *channel, uint32_t at)
{
	struct slot *slots = channel->window->slot;
	uint32_t end = channel->queue_first + channel->queued;

	if (slots[at].queued)
		return;
	slots[at].queued = true;
	slots[at].part = 0;
	if (slots[at].times > 0)
		channel->packets -= slots[at].packets;
	for (; end != channel->queue_first; end--) {
		uint32_t before = channel->queue[(end - 1) & channel->queue_mask];

		if (slots[before].chunk < slots[at].chunk)
			break;
		channel->queue[end & channel->queue_mask] = before;
	}
	channel->queue[end & channel->queue_mask] = at;
	channel->queued++;
}

/* What is to be sent again is among the first. */
static void
unqueue(struct channel *channel, uint32_t at)
{
	uint32_t i = channel->queue_first;

	while (channel->queue[i & channel->queue_mask] != at)
		i++;
	for (; i != channel->queue_first; i--)
		channel->queue[i & channel->queue_mask] =
			channel->queue[(i - 1) & channel->queue_mask];
	channel->queue_first++;
	channel->queued--;
	channel->packets += channel->window->slot[at].packets;
	channel->window->slot[at].queued = false;
}

void
channel_land(struct channel *channel, uint32_t at)
{
	struct slot *slots = channel->window->slot;
	struct slot *slot = &slots[at];

	if (slot->times == 0)
		return;
	if (slot->queued)
		unqueue(channel, at);
	if (slot->older == WINDOW_NO_SLOT)
		channel->oldest = slot->newer;
	else
		slots[slot->older].newer = slot->newer;
	if (slot->newer == WINDOW_NO_SLOT)
		channel->newest = slot->older;
	else
		slots[slot->newer].older = slot->older;
	channel->flying--;
	channel->packets -= slot->packets;
	if (channel_is_ending(channel))
		channel->due = 0; /* to be computed anew */
}

bool
channel_is_ending(const struct channel *channel)
{
	return channel->flying <= channel_window(channel) / ENDING_SHARE;
}

uint32_t
channel_window(const struct channel *channel)
{
	const uint32_t chunks = channel->congestion.window / channel->parts;
	const uint32_t least = channel->slots < LEAST_CHUNKS ? channel->slots : LEAST_CHUNKS;

	return chunks > least ? chunks : least;
}

/* How many packets a chunk has, and thus all that there are slots for. */
static void
learn_parts(struct channel *channel, uint32_t parts)
{
	if (channel->parts == parts)
		return;
	channel->parts = parts;
	congestion_limit(&channel->congestion, channel->slots * parts);
}

/* It has been sent: it is the newest in flight. */
static void
fly(struct channel *channel, uint32_t at, uint64_t now)
{
	struct slot *slots = channel->window->slot;
	struct slot *slot = &slots[at];

	if (slot->times > 0)
		channel->packets += slot->packets;
	channel->probes -= channel->probes > 0;
	slot->queued = false;
	channel_land(channel, at);
	slot->older = channel->newest;
	slot->newer = WINDOW_NO_SLOT;
	if (channel->newest == WINDOW_NO_SLOT)
		channel->oldest = at;
	else
		slots[channel->newest].newer = at;
	channel->newest = at;
	channel->flying++;
	slot->packets = slot->part > 0 ? slot->part : 1;
	channel->packets += slot->packets;
	slot->sent = now;
	slot->order = channel->orders++;
	if (slot->times++ == 0) {
		slot->first = now;
		learn_parts(channel, slot->packets);
		channel->window->stats->sent++;
	} else {
		channel->window->stats->retransmitted++;
	}
	channel_expect(channel, slot);
}

static uint32_t
at_queue(const struct channel *channel, uint32_t i)
{
	return channel->queue[(channel->queue_first + i) & channel->queue_mask];
}

struct slot *
channel_head(const struct channel *channel, uint32_t i)
{
	return &channel->window->slot[at_queue(channel, i)];
}

/*
 * How many from the queue's head the window allows. One that is before all in flight always goes:
 * the others may have no place in their windows but for what this worker sends next.
 */
static uint32_t
allowed(const struct channel *channel)
{
	const uint32_t packets = channel->packets;
	const uint32_t window = channel->congestion.window;

	if (packets + channel->probes < window)
		return window - packets;
	if (channel->probes > 0)
		return channel->probes;
	return channel_head(channel, 0)->chunk < channel->window->slot[channel->oldest].chunk;
}

uint32_t
channel_may_send(const struct channel *channel, uint32_t most)
{
	uint32_t some = channel->queued > 0 ? allowed(channel) : 0;

	if (some > most)
		some = most;
	return channel->queued < some ? channel->queued : some;
}

void
channel_sent(struct channel *channel, uint32_t count, uint64_t now)
{
	for (uint32_t i = 0; i < count; i++)
		fly(channel, at_queue(channel, i), now);
	channel->queue_first += count;
	channel->queued -= count;
}
