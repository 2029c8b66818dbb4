/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/flight.h"

#include <stdlib.h>

#include <aggregate_wire.h>

#include "clock.h"

static uint32_t
power_of_two_from(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

static bool
init_channel(struct window *window, unsigned int number, const struct rtt *rtt)
{
	struct channel *channel = &window->channel[number];
	uint32_t slots = (window->slots + window->channels - 1) / window->channels;
	uint32_t size = power_of_two_from(slots);

	*channel = (struct channel){.window = window,
		.number = number,
		.slots = slots,
		.parts = 1,
		.queue = calloc(size, sizeof(*channel->queue)),
		.queue_mask = size - 1,
		.oldest = WINDOW_NO_SLOT,
		.newest = WINDOW_NO_SLOT,
		.due = NEVER,
		.rtt = *rtt};
	congestion_init(&channel->congestion, slots);
	return channel->queue != NULL;
}

bool
window_init(struct window *window, const struct rtt *rtt)
{
	bool done;

	window->slot = calloc(window->slots, sizeof(*window->slot));
	window->channel = calloc(window->channels, sizeof(*window->channel));
	done = window->slot != NULL && window->channel != NULL;
	for (uint32_t i = 0; i < window->slots && done; i++)
		window->slot[i].chunk = i;
	for (unsigned int s = 0; s < window->channels && done; s++)
		done = init_channel(window, s, rtt);
	return done;
}

void
window_free(struct window *window)
{
	for (unsigned int s = 0; s < window->channels && window->channel != NULL; s++)
		free(window->channel[s].queue);
	free(window->channel);
	free(window->slot);
}

struct channel *
channel_of(const struct window *window, uint32_t at)
{
	return &window->channel[aggregate_shard_of(at, window->slots, window->channels)];
}

/* How many of the first `end` chunks of all windows go to this one. */
static uint64_t
share(const struct window *window, uint64_t end)
{
	return end > window->index ? (end - window->index - 1) / window->of + 1 : 0;
}

static void
begin(struct window *window, uint32_t at)
{
	struct slot *slot = &window->slot[at];

	slot->call = calls_find(window->calls, window_number(window, slot));
	slot->times = 0;
	slot->ack_ambiguous = false;
	channel_queue(channel_of(window, at), at);
}

void
window_extend(struct window *window)
{
	uint64_t from = window->limit;
	uint64_t to = share(window, window->calls->next_chunk);

	window->limit = to;
	if (to > from + window->slots)
		to = from + window->slots;
	for (; from < to; from++) {
		uint32_t at = (uint32_t)from & (window->slots - 1);

		if (window->slot[at].call == NULL)
			begin(window, at);
	}
}

bool
window_is_busy(const struct window *window)
{
	for (unsigned int s = 0; s < window->channels; s++) {
		if (window->channel[s].flying > 0 || window->channel[s].queued > 0)
			return true;
	}
	return false;
}

void
window_skip(struct window *window, uint64_t chunks)
{
	window->limit += chunks;
	for (uint32_t i = 0; i < window->slots; i++)
		window->slot[i].chunk += chunks;
}

struct slot *
channel_find(const struct channel *channel, uint32_t chunk)
{
	const struct window *window = channel->window;
	const uint32_t at = chunk & (window->slots - 1);
	struct slot *slot = &window->slot[at];

	return slot->call != NULL && slot->times > 0 && (uint32_t)slot->chunk == chunk &&
			channel_of(window, at) == channel
		? slot
		: NULL;
}

/*
 * What a result says of time and of losses. A chunk that was sent more than once does not tell
 * which of its packets was answered (Karn and Partridge, 1987). If the result came sooner after the
 * last one than any ever did, it was an earlier one, and the time-out is too short. Else it was the
 * last one, most likely, as in RFC 8985, section 6.2: what was sent well before is lost. And if
 * even since the last one more time has passed than the time-out, that is too short in any case.
 */
static void
learn_of_time(struct channel *channel, const struct slot *slot, struct evidence *evidence)
{
	struct rtt *rtt = &channel->rtt;
	uint64_t since = evidence->now - slot->sent;

	if (slot->times > 1 && since < rtt->least) {
		rtt_sample(rtt, evidence->now - slot->first);
		return;
	}
	if (slot->times == 1 || since > rtt->timeout)
		rtt_sample(rtt, since);
	if (slot->order + 1 > evidence->answered && !slot->ack_ambiguous) {
		evidence->answered = slot->order + 1;
		evidence->sent = slot->sent;
	}
}

/* What it says of the queues on its way. */
static void
learn_of_queues(struct channel *channel, const struct slot *slot, const struct evidence *evidence)
{
	const struct congestion_sample sample = {
		.order = slot->order,
		.next = channel->orders,
		.trip = slot->times == 1 ? evidence->now - slot->sent : 0,
		.limited = channel->queued > 0,
	};
	uint64_t full = congestion_answered(&channel->congestion, &sample);

	if (full != 0)
		rtt_full_window(&channel->rtt, full);
	if (evidence->marked)
		congestion_marked(&channel->congestion, slot->order, channel->orders);
}

struct call *
channel_answered(struct channel *channel, struct slot *slot, struct evidence *evidence)
{
	struct window *window = channel->window;
	const uint32_t at = (uint32_t)(slot - window->slot);
	struct call *call = slot->call;

	learn_of_time(channel, slot, evidence);
	learn_of_queues(channel, slot, evidence);
	channel->backoff = 0;
	channel->answered++;
	channel->heard = evidence->now;
	channel_land(channel, at);
	slot->call = NULL;
	slot->times_before = slot->times;
	slot->lost_before = slot->lost;
	slot->lost = false;
	slot->chunk += window->slots;
	call->left--;
	if (slot->chunk < window->limit)
		begin(window, at);
	return call->left == 0 ? call : NULL;
}

/* The result of a slot's latest chunk comes twice, which was asked for twice. */
void
channel_answered_again(struct channel *channel, uint32_t chunk)
{
	const struct window *window = channel->window;
	struct slot *slot = &window->slot[chunk & (window->slots - 1)];

	if ((uint32_t)slot->chunk - window->slots != chunk || slot->times_before <= 1)
		return;
	rtt_too_short(&channel->rtt);
	if (slot->lost_before)
		congestion_found(&channel->congestion);
	slot->lost_before = false;
}
