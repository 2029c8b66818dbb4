/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include <errno.h>
#include <string.h>

#include <aggregate_wire.h>

#include "comm/error.h"
#include "member/keys.h"
#include "link/link.h"

/* A vector ends where that share of the window at most is in flight. */
#define ENDING_SHARE 4

struct channel *
channel_of(struct peer *peer, uint32_t slot)
{
	return &peer->channel[aggregate_shard_of(slot, peer->slots, peer->shards)];
}

void
channel_queue(struct channel *channel, uint32_t at)
{
	struct slot *slots = channel->peer->slot;
	uint32_t end = channel->queue_first + channel->queued;

	if (slots[at].queued)
		return;
	slots[at].queued = true;
	slots[at].part = 0;
	channel->lost += slots[at].times > 0;
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
	channel->lost--;
	channel->peer->slot[at].queued = false;
}

void
channel_land(struct channel *channel, uint32_t at)
{
	struct slot *slots = channel->peer->slot;
	struct slot *slot = &slots[at];

	if (slot->times == 0)
		return;
	if (slot->queued)
		unqueue(channel, at);
	if (slot->older == ALLREDUCE_NO_SLOT)
		channel->oldest = slot->newer;
	else
		slots[slot->older].newer = slot->newer;
	if (slot->newer == ALLREDUCE_NO_SLOT)
		channel->newest = slot->older;
	else
		slots[slot->newer].older = slot->older;
	channel->flying--;
	if (channel_is_ending(channel))
		channel->due = 0; /* to be computed anew */
}

bool
channel_is_ending(const struct channel *channel)
{
	return channel->flying <= channel->congestion.window / ENDING_SHARE;
}

/* It has been sent: it is the newest in flight. */
static void
fly(struct netfc_allreduce *comm, struct channel *channel, uint32_t at, uint64_t now)
{
	struct slot *slots = channel->peer->slot;
	struct slot *slot = &slots[at];

	channel->lost -= slot->times > 0;
	channel->probes -= channel->probes > 0;
	slot->queued = false;
	channel_land(channel, at);
	slot->older = channel->newest;
	slot->newer = ALLREDUCE_NO_SLOT;
	if (channel->newest == ALLREDUCE_NO_SLOT)
		channel->oldest = at;
	else
		slots[channel->newest].newer = at;
	channel->newest = at;
	channel->flying++;
	slot->sent = now;
	slot->order = channel->orders++;
	if (slot->times++ == 0) {
		slot->first = now;
		comm->stats.sent++;
	} else {
		comm->stats.retransmitted++;
	}
	timers_note(channel, slot);
}

static size_t
label_bytes(const struct piece *piece)
{
	return piece->label != 0 ? AGGREGATE_LABEL_BYTES : 0;
}

/* What a slot's packet has: values that are all +0 stay here, if the switch knows what that means.
 */
static struct piece
piece_to_send(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	struct piece piece = piece_of(comm, peer, slot);

	piece.zeros = peer->knows_zeros && piece.from != NULL &&
		aggregate_is_zero(piece.from, piece.bytes);
	if (piece.zeros)
		piece.from = NULL;
	return piece;
}

/* Bytes of a slot's packet. */
static size_t
request_bytes(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot,
	const struct piece *piece)
{
	size_t values = (size_t)piece->count * slot->handle->value_bytes;

	if (piece->from == NULL)
		return AGGREGATE_HEADER_BYTES + label_bytes(piece) + keys_bytes(comm);
	return AGGREGATE_HEADER_BYTES + (values > peer->least ? values : peer->least) +
		keys_bytes(comm);
}

/* Write a slot's packet. Returns its bytes. */
static size_t
build(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot,
	const struct piece *piece, uint8_t *payload)
{
	const struct netfc_allreduce_handle *handle = slot->handle;
	const struct aggregate_message message = {
		.op = piece->op,
		.label = piece->label,
		.zeros = piece->zeros,
		.format = piece->format,
		.owner = piece->owner,
		.worker = (uint8_t)comm->options.worker,
		.count = piece->count,
		.job = comm->options.job,
		.id = (uint32_t)slot->chunk,
		.session = peer->member.session,
	};

	size_t length = request_bytes(comm, peer, slot, piece) - keys_bytes(comm);
	size_t used =
		AGGREGATE_HEADER_BYTES + (piece->from != NULL ? piece->bytes : label_bytes(piece));

	aggregate_build_request(payload, &message);
	if (piece->from != NULL)
		aggregate_swap_values(payload + AGGREGATE_HEADER_BYTES, piece->from,
			piece->bytes / handle->word_bytes, handle->word_bytes);
	memset(payload + used, 0, length - used);
	return keys_tag_chunk(comm, peer, payload, length, slot->chunk);
}

/* Whether it is sent in one packet. */
static bool
is_one_packet(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	return !parts_are_of(comm, peer, slot);
}

static uint32_t
at_queue(const struct channel *channel, uint32_t i)
{
	return channel->queue[(channel->queue_first + i) & channel->queue_mask];
}

/*
 * How many from the queue's head the window allows. One that is before all in flight always goes:
 * the others may have no place in their windows but for what this worker sends next.
 */
static uint32_t
allowed(const struct channel *channel)
{
	const struct slot *slots = channel->peer->slot;
	const uint32_t flying = channel->flying - channel->lost;
	const uint32_t window = channel->congestion.window;

	if (flying + channel->probes < window)
		return window - flying;
	if (channel->probes > 0)
		return channel->probes;
	return slots[at_queue(channel, 0)].chunk < slots[channel->oldest].chunk;
}

bool
channel_may_send(const struct channel *channel)
{
	return channel->queued > 0 && allowed(channel) > 0;
}

/* How many from the queue's head can go in one call. */
static uint32_t
batch_size(const struct channel *channel, uint32_t most)
{
	uint32_t some = allowed(channel);

	if (some > most)
		some = most;
	return channel->queued < some ? channel->queued : some;
}

/* The first `count` of the queue have been sent. */
static void
sent(struct netfc_allreduce *comm, struct channel *channel, uint32_t count, uint64_t now)
{
	for (uint32_t i = 0; i < count; i++)
		fly(comm, channel, at_queue(channel, i), now);
	channel->queue_first += count;
	channel->queued -= count;
	channel->peer->said = now;
}

/* Send packets one by one. Returns how many of the queue are dealt with, or -1 and errno. */
static int
send_each(struct netfc_allreduce *comm, struct channel *channel)
{
	struct batch *batch = &comm->batch;
	uint32_t most = batch_size(channel, BATCH_SENT);
	unsigned int count = 0;
	uint8_t *place;

	for (uint32_t i = 0; i < most; i++) {
		const struct slot *slot = &channel->peer->slot[at_queue(channel, i)];
		struct piece piece;

		place = batch_place(batch, &channel->peer->link, count);
		if (!is_one_packet(comm, channel->peer, slot) || place == NULL)
			break;
		piece = piece_to_send(comm, channel->peer, slot);
		batch_set_length(batch, &channel->peer->link, channel_number(channel), count,
			build(comm, channel->peer, slot, &piece, place));
		count++;
	}
	return batch_send(batch, &channel->peer->link, channel_number(channel), count);
}

/* Send packets of one size, and one smaller as the last, as segments of one datagram. */
static int
send_segments(struct netfc_allreduce *comm, struct channel *channel)
{
	struct batch *batch = &comm->batch;
	uint32_t most = batch_size(channel, BATCH_SEGMENTS);
	size_t length = 0, segment = 0;
	uint32_t count = 0;

	while (count < most && length + batch->stride <= BATCH_SEGMENTS_BYTES) {
		const struct slot *slot = &channel->peer->slot[at_queue(channel, count)];
		struct piece piece;
		size_t bytes;

		if (!is_one_packet(comm, channel->peer, slot))
			break;
		piece = piece_to_send(comm, channel->peer, slot);
		bytes = request_bytes(comm, channel->peer, slot, &piece);
		if (count > 0 && bytes > segment)
			break;
		length += build(comm, channel->peer, slot, &piece, batch->send + length);
		count++;
		if (count > 1 && bytes < segment)
			break;
		segment = bytes;
	}
	return batch_send_segments(&channel->peer->link, channel_number(channel), batch->send,
		       length, segment) < 0
		? -1
		: (int)count;
}

int
channel_send(struct netfc_allreduce *comm, struct channel *channel, uint64_t now)
{
	struct peer *peer = channel->peer;
	int count;

	for (;;) {
		if (!channel_may_send(channel))
			return NETFC_ALLREDUCE_OK;
		if (parts_are_of(comm, peer, &peer->slot[at_queue(channel, 0)]))
			count = parts_send(comm, channel, &peer->slot[at_queue(channel, 0)]);
		else if (peer->link.gso && batch_size(channel, 2) > 1 &&
			2 * comm->batch.stride <= BATCH_SEGMENTS_BYTES)
			count = send_segments(comm, channel);
		else
			count = send_each(comm, channel);
		if (count >= 0)
			sent(comm, channel, (uint32_t)count, now);
		else if (errno == EAGAIN)
			return NETFC_ALLREDUCE_OK;
		else if (errno == EIO && peer->link.gso)
			peer->link.gso = false; /* the device can't compute checksums */
		else if (link_softens(&peer->link, errno))
			sent(comm, channel, 1, now);
		else if (errno != EINTR)
			return error_of_call(comm, peer, "send to", errno);
	}
}
