/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include <aggregate_wire.h>

#include "member/keys.h"
#include "link/link.h"
#include "comm/comm.h"

/* Of nothing: any would do. */
#define LABEL_FORMAT AGGREGATE_FP32

/* How many of the first `end` chunks of all switches go to switch `index` of `peers`. */
static uint64_t
share(uint64_t end, unsigned int index, unsigned int peers)
{
	return end > index ? (end - index - 1) / peers + 1 : 0;
}

/* It is in the queue. */
struct netfc_allreduce_handle *
window_handle(const struct netfc_allreduce *comm, uint64_t number)
{
	struct netfc_allreduce_handle *handle = TAILQ_FIRST(&comm->queue);

	while (number - handle->first >= handle->chunks)
		handle = TAILQ_NEXT(handle, in_queue);
	return handle;
}

static void
begin(struct netfc_allreduce *comm, struct peer *peer, uint32_t at)
{
	struct slot *slot = &peer->slot[at];

	slot->handle = window_handle(comm, piece_number(comm, peer, slot->chunk));
	slot->times = 0;
	slot->ack_ambiguous = false;
	channel_queue(channel_of(peer, at), at);
}

static void
extend_peer(struct netfc_allreduce *comm, struct peer *peer)
{
	uint64_t from = peer->limit;
	uint64_t to = share(comm->next_chunk, peer->index, comm->peers);

	peer->limit = to;
	if (to > from + peer->slots)
		to = from + peer->slots;
	for (; from < to; from++) {
		uint32_t at = (uint32_t)from & (peer->slots - 1);

		if (peer->slot[at].handle == NULL)
			begin(comm, peer, at);
	}
}

void
window_extend(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle)
{
	handle->first = comm->next_chunk;
	comm->next_chunk += handle->chunks;
	for (unsigned int k = 0; k < comm->peers; k++)
		extend_peer(comm, &comm->peer[k]);
}

static void
finish(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle, uint64_t now)
{
	if (handle == TAILQ_FIRST(&comm->queue))
		comm->head_since = now;
	TAILQ_REMOVE(&comm->queue, handle, in_queue);
	comm->eager -= !handle->lazy;
	comm->stats.allreduces++;
	comm->stats.values += handle->values;
	handle->status = NETFC_ALLREDUCE_OK;
	lock_wake(comm);
}

void
window_count(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle, uint64_t now)
{
	if (--handle->left == 0)
		finish(comm, handle, now);
}

void
window_complete(struct netfc_allreduce *comm, struct peer *peer, uint32_t at, uint64_t now)
{
	struct slot *slot = &peer->slot[at];
	struct netfc_allreduce_handle *handle = slot->handle;

	channel_land(channel_of(peer, at), at);
	slot->handle = NULL;
	slot->times_before = slot->times;
	slot->lost_before = slot->lost;
	slot->lost = false;
	slot->chunk += peer->slots;
	window_count(comm, handle, now);
	if (slot->chunk < peer->limit)
		begin(comm, peer, at);
}

void
window_skip(struct netfc_allreduce *comm, uint64_t chunks)
{
	comm->next_chunk += chunks * comm->peers;
	for (unsigned int k = 0; k < comm->peers; k++) {
		struct peer *peer = &comm->peer[k];

		peer->limit += chunks;
		for (uint32_t i = 0; i < peer->slots; i++)
			peer->slot[i].chunk += chunks;
	}
}

/* Of results, where there are so many of values. */
static uint64_t
result_bytes(const struct netfc_allreduce_handle *handle, uint64_t bytes)
{
	return bytes / handle->word_bytes * handle->result_word_bytes;
}

static struct piece
piece_of_values(const struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle,
	uint64_t number)
{
	uint64_t block = number % handle->blocks;
	uint64_t first = number / handle->blocks * handle->in_chunk;
	uint64_t left = handle->bytes - first;
	uint32_t bytes = left < handle->in_chunk ? (uint32_t)left : handle->in_chunk;
	uint8_t owner = handle->owner != 0 ? (uint8_t)(handle->owner + block) : 0;
	unsigned int worker = comm->options.worker;
	bool sends = bytes > 0 && aggregate_sends_values(handle->op, owner, worker);
	bool receives = bytes > 0 && aggregate_receives_values(handle->op, owner, worker);

	return (struct piece){
		.from = sends ? handle->from + block * handle->from_step + first : NULL,
		.to = receives ? handle->to + block * handle->to_step + result_bytes(handle, first)
			       : NULL,
		.bytes = bytes,
		.result_bytes = (uint32_t)result_bytes(handle, bytes),
		.count = (uint16_t)((bytes + handle->value_bytes - 1) / handle->value_bytes),
		.op = handle->op,
		.format = handle->format,
		.owner = owner,
	};
}

struct piece
piece_numbered(const struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle,
	uint64_t chunk)
{
	uint64_t number = chunk - handle->first;

	if (handle->label != 0 && number == 0)
		return (struct piece){
			.label = handle->label, .op = AGGREGATE_COPY, .format = LABEL_FORMAT};
	return piece_of_values(comm, handle, number - (handle->label != 0));
}

struct piece
piece_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	return piece_numbered(comm, slot->handle, piece_number(comm, peer, slot->chunk));
}

bool
parts_are_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	return slot->handle != NULL && slot->handle->totals != NULL &&
		piece_of(comm, peer, slot).label == 0;
}

/* A slot's sums, and how they are divided. */
struct division {
	struct aggregate_totals totals;
	uint16_t ends[AGGREGATE_MAX_PARTS];
	unsigned int parts;
	uint32_t divisor;
};

/* Always the same for the same sums, as what is sent again has to be. */
static struct division
divide(const struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle,
	const struct piece *piece)
{
	struct division division = {
		.totals = totals_view(handle->totals,
			(uint64_t)(piece->from - handle->from) / handle->value_bytes,
			piece->count)};

	division.divisor = totals_divisor(handle->totals, handle->op);
	division.parts = aggregate_totals_divide(&division.totals,
		comm->bytes - aggregate_divisor_bytes(division.divisor), division.ends);
	return division;
}

/* Write a packet. Returns its bytes. */
static size_t
build(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot,
	const struct division *division, unsigned int part, uint8_t *payload)
{
	const uint16_t first = part > 0 ? division->ends[part - 1] : 0;
	const struct netfc_allreduce_handle *handle = slot->handle;
	const struct aggregate_message message = {
		.op = handle->op,
		.format = handle->format,
		.worker = (uint8_t)comm->options.worker,
		.count = (uint16_t)division->totals.count,
		.job = comm->options.job,
		.id = (uint32_t)slot->chunk,
		.session = peer->member.session,
		.part = {.parts = (uint8_t)division->parts},
	};
	uint8_t *into = payload + AGGREGATE_HEADER_BYTES;
	size_t bytes;

	aggregate_build_request(payload, &message);
	bytes = aggregate_totals_write_part(&division->totals, first,
		(uint16_t)(division->ends[part] - first), (uint8_t)part, (uint8_t)division->parts,
		into, comm->bytes);
	bytes = aggregate_part_put_divisor(into, bytes, division->divisor);
	return keys_tag_chunk(comm, peer, payload, AGGREGATE_HEADER_BYTES + bytes, slot->chunk);
}

int
parts_send(struct netfc_allreduce *comm, struct channel *channel, struct slot *slot)
{
	const struct piece piece = piece_of(comm, channel->peer, slot);
	const struct division division = divide(comm, slot->handle, &piece);
	struct batch *batch = &comm->batch;
	unsigned int count = 0;
	int sent;

	for (unsigned int part = slot->part; part < division.parts && count < BATCH_SENT;
		part++, count++) {
		uint8_t *place = batch_place(batch, &channel->peer->link, count);

		if (place == NULL)
			break;
		batch_set_length(batch, &channel->peer->link, channel_number(channel), count,
			build(comm, channel->peer, slot, &division, part, place));
	}
	sent = batch_send(batch, &channel->peer->link, channel_number(channel), count);
	if (sent < 0)
		return -1;
	slot->part += (unsigned int)sent;
	return slot->part == division.parts;
}
