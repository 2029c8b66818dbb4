/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/parts.h"

#include <aggregate_wire.h>

#include "keys.h"
#include "net/packets.h"
#include "totals.h"
#include "window/piece.h"

/* A slot's sums, and how they are divided. */
struct division {
	struct aggregate_totals totals;
	uint16_t ends[AGGREGATE_MOST_PARTS];
	unsigned int parts;
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

	division.parts = aggregate_totals_divide(&division.totals, comm->bytes, division.ends);
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
		.session = peer->session,
		.part = {.parts = (uint8_t)division->parts},
	};
	size_t length = AGGREGATE_HEADER_BYTES;

	aggregate_build_request(payload, &message);
	length += aggregate_totals_write_part(&division->totals, first,
		(uint16_t)(division->ends[part] - first), (uint8_t)part, (uint8_t)division->parts,
		payload + length, comm->bytes);
	return keys_tag_chunk(comm, peer, payload, length, slot->chunk);
}

int
parts_send(struct netfc_allreduce *comm, struct channel *channel, struct slot *slot)
{
	const struct piece piece = piece_of(comm, channel->peer, slot);
	const struct division division = divide(comm, slot->handle, &piece);
	struct buffers *buffers = &comm->buffers;
	unsigned int count = 0;
	int sent;

	for (unsigned int part = slot->part; part < division.parts && count < PACKETS_BATCH;
		part++, count++) {
		uint8_t *place = packets_place(buffers, channel, count);

		if (place == NULL)
			break;
		packets_set_length(buffers, channel, count,
			build(comm, channel->peer, slot, &division, part, place));
	}
	sent = packets_send(buffers, channel, count);
	if (sent < 0)
		return -1;
	slot->part += (unsigned int)sent;
	return slot->part == division.parts;
}
