/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks as they are sent. */
#include "comm/comm.h"

#include <errno.h>
#include <string.h>

#include <aggregate_wire.h>

static size_t
label_bytes(const struct piece *piece)
{
	return piece->label != 0 ? AGGREGATE_LABEL_BYTES : 0;
}

/* What a slot's packet has: values that are all +0 stay here, if the switch knows what that means.
 */
static struct piece
piece_to_send(const struct peer *peer, const struct slot *slot)
{
	struct piece piece = window_piece(&peer->window, slot);

	piece.zeros = peer->member.knows_zeros && piece.from != NULL &&
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
	size_t values = (size_t)piece->count * slot->call->value_bytes;

	if (piece->from == NULL)
		return AGGREGATE_HEADER_BYTES + label_bytes(piece) + keys_bytes(&comm->worker);
	return AGGREGATE_HEADER_BYTES +
		(values > peer->member.least ? values : peer->member.least) +
		keys_bytes(&comm->worker);
}

/* Write a slot's packet. Returns its bytes. */
static size_t
build(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot,
	const struct piece *piece, uint8_t *payload)
{
	const unsigned int word_bytes = slot->call->word_bytes;
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
		.session = peer->member.machine.session,
	};

	size_t length = request_bytes(comm, peer, slot, piece) - keys_bytes(&comm->worker);
	size_t used =
		AGGREGATE_HEADER_BYTES + (piece->from != NULL ? piece->bytes : label_bytes(piece));

	aggregate_build_request(payload, &message);
	if (piece->from != NULL)
		aggregate_swap_values(payload + AGGREGATE_HEADER_BYTES, piece->from,
			piece->bytes / word_bytes, word_bytes);
	memset(payload + used, 0, length - used);
	return keys_tag_chunk(&peer->member, payload, length, slot->chunk);
}

/* Send packets one by one. Returns how many of the queue are dealt with, or -1 and errno. */
static int
send_each(struct netfc_allreduce *comm, struct peer *peer, const struct channel *channel)
{
	struct batch *batch = &comm->batch;
	uint32_t most = channel_may_send(channel, BATCH_SENT);
	unsigned int count;

	for (count = 0; count < most; count++) {
		const struct slot *slot = channel_head(channel, count);
		uint8_t *place = batch_place(batch, &peer->link, count);
		struct piece piece;

		if (place == NULL || window_has_totals(&peer->window, slot))
			break;
		piece = piece_to_send(peer, slot);
		batch_set_length(batch, &peer->link, channel->number, count,
			build(comm, peer, slot, &piece, place));
	}
	return batch_send(batch, &peer->link, channel->number, count);
}

/* Send packets of one size, and one smaller as the last, as segments of one datagram. */
static int
send_segments(struct netfc_allreduce *comm, struct peer *peer, const struct channel *channel)
{
	struct batch *batch = &comm->batch;
	uint32_t most = channel_may_send(channel, BATCH_SEGMENTS);
	size_t length = 0, segment = 0;
	uint32_t count = 0;

	while (count < most && length + batch->stride <= BATCH_SEGMENTS_BYTES) {
		const struct slot *slot = channel_head(channel, count);
		struct piece piece;
		size_t bytes;

		if (window_has_totals(&peer->window, slot))
			break;
		piece = piece_to_send(peer, slot);
		bytes = request_bytes(comm, peer, slot, &piece);
		if (count > 0 && bytes > segment)
			break;
		length += build(comm, peer, slot, &piece, batch->send + length);
		count++;
		if (count > 1 && bytes < segment)
			break;
		segment = bytes;
	}
	return batch_send_segments(&peer->link, channel->number, batch->send, length, segment) < 0
		? -1
		: (int)count;
}

/* ---- exact sums, a chunk of which is several packets ---- */

/* A slot's sums, and how they are divided. */
struct division {
	struct aggregate_totals totals;
	uint16_t ends[AGGREGATE_MAX_PARTS];
	unsigned int parts;
	uint32_t divisor;
};

/* Always the same for the same sums, as what is sent again has to be. */
static struct division
divide(const struct call *call, const struct piece *piece, unsigned int bytes)
{
	struct division division = {
		.totals = totals_view(call->totals,
			(uint64_t)(piece->from - call->from) / call->value_bytes, piece->count)};

	division.divisor = totals_divisor(call->totals, call->op);
	division.parts = aggregate_totals_divide(
		&division.totals, bytes - aggregate_divisor_bytes(division.divisor), division.ends);
	return division;
}

/* Write a packet. Returns its bytes. */
static size_t
build_part(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot,
	const struct division *division, unsigned int part, uint8_t *payload)
{
	const uint16_t first = part > 0 ? division->ends[part - 1] : 0;
	const struct aggregate_message message = {
		.op = slot->call->op,
		.format = slot->call->format,
		.worker = (uint8_t)comm->options.worker,
		.count = (uint16_t)division->totals.count,
		.job = comm->options.job,
		.id = (uint32_t)slot->chunk,
		.session = peer->member.machine.session,
		.part = {.parts = (uint8_t)division->parts},
	};
	uint8_t *into = payload + AGGREGATE_HEADER_BYTES;
	size_t bytes;

	aggregate_build_request(payload, &message);
	bytes = aggregate_totals_write_part(&division->totals, first,
		(uint16_t)(division->ends[part] - first), (uint8_t)part, (uint8_t)division->parts,
		into, comm->bytes);
	bytes = aggregate_part_put_divisor(into, bytes, division->divisor);
	return keys_tag_chunk(&peer->member, payload, AGGREGATE_HEADER_BYTES + bytes, slot->chunk);
}

/* Send parts whose turn it is. Returns whether all of them have been sent, or -1 and errno. */
static int
send_parts(struct netfc_allreduce *comm, struct peer *peer, const struct channel *channel)
{
	struct slot *slot = channel_head(channel, 0);
	const struct piece piece = window_piece(&peer->window, slot);
	const struct division division = divide(slot->call, &piece, comm->bytes);
	const unsigned int parts = parts_to_send(division.parts, slot->times);
	struct batch *batch = &comm->batch;
	unsigned int count = 0;
	int sent;

	for (unsigned int i = slot->part; i < parts && count < BATCH_SENT; i++, count++) {
		uint8_t *place = batch_place(batch, &peer->link, count);

		if (place == NULL)
			break;
		batch_set_length(batch, &peer->link, channel->number, count,
			build_part(comm, peer, slot, &division,
				aggregate_part_in_turn(division.parts, slot->times, i), place));
	}
	sent = batch_send(batch, &peer->link, channel->number, count);
	if (sent < 0)
		return -1;
	slot->part += (unsigned int)sent;
	return slot->part == parts;
}

/* ---- all of them ---- */

static int
send_some(struct netfc_allreduce *comm, struct peer *peer, const struct channel *channel)
{
	if (window_has_totals(&peer->window, channel_head(channel, 0)))
		return send_parts(comm, peer, channel);
	if (peer->link.gso && 2 * comm->batch.stride <= BATCH_SEGMENTS_BYTES &&
		channel_may_send(channel, 2) > 1)
		return send_segments(comm, peer, channel);
	return send_each(comm, peer, channel);
}

static void
note_sent(struct peer *peer, struct channel *channel, uint32_t count, uint64_t now)
{
	channel_sent(channel, count, now);
	peer->member.said = now;
}

/*
 * The device can't compute checksums; or its MTU is not what it was, as Linux before 6.14 says it:
 * packets by themselves are a soft error then.
 */
static bool
cannot_cut(int error)
{
	return error == EIO || error == EINVAL;
}

int
send_chunks(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, uint64_t now)
{
	int count;

	while (channel_may_send(channel, 1) > 0) {
		count = send_some(comm, peer, channel);
		if (count >= 0)
			note_sent(peer, channel, (uint32_t)count, now);
		else if (errno == EAGAIN)
			return NETFC_ALLREDUCE_OK;
		else if (cannot_cut(errno) && peer->link.gso)
			peer->link.gso = false;
		else if (link_softens(&peer->link, errno))
			note_sent(peer, channel, 1, now);
		else if (errno != EINTR)
			return error_of_call(comm, peer, "send to", errno);
	}
	return NETFC_ALLREDUCE_OK;
}
