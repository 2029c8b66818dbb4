/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins and leaves as they are sent. */
#include <aggregate_wire.h>

#include "internal.h"
#include "keys.h"
#include "net/packets.h"
#include "net/transport.h"
#include "path.h"

#define PLACE_BYTES                            \
	(sizeof(struct aggregate_place_wire) + \
		AGGREGATE_MAX_LEVELS * sizeof(struct aggregate_level))
#define JOIN_BYTES                                                                         \
	(sizeof(struct aggregate_hdr) + sizeof(struct aggregate_join_wire) + PLACE_BYTES + \
		AGGREGATE_TAG_BYTES)
#define LONGEST 65536

static struct aggregate_message
request_of(struct netfc_allreduce *comm, const struct peer *peer, uint8_t op, uint64_t secret)
{
	const struct aggregate_message message = {
		.op = op,
		.worker = (uint8_t)comm->options.worker,
		.job = comm->options.job,
		.id = comm->next_id,
		.token = op == AGGREGATE_JOIN ? comm->options.token : secret,
		.reason = comm->failed_for,
		.join =
			{
				.workers = (uint8_t)comm->options.workers,
				.slots = (uint16_t)comm->options.slots,
				.bytes = (uint16_t)peer->asked_bytes,
				.least = comm->options.bytes == 0 ? PATH_MIN_BYTES : 0,
				.features = AGGREGATE_FEATURE_LABELS,
				.cookie = secret,
				.incarnation = comm->incarnation,
				.place = tree_place(&comm->options),
			},
	};

	comm->next_id += 2;
	return message;
}

/* Write a request. Returns its bytes. */
static size_t
build(const struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *message, uint8_t *payload)
{
	aggregate_build_request(payload, message);
	return keys_tag_control(comm, peer, payload, aggregate_message_bytes(message));
}

static int
send_two_segments(struct netfc_allreduce *comm, struct peer *peer, struct aggregate_message message)
{
	uint8_t payload[2 * JOIN_BYTES];
	size_t bytes = build(comm, peer, &message, payload);

	message.id++;
	build(comm, peer, &message, payload + bytes);
	return packets_send_segments(peer->channel[0].fd, payload, 2 * bytes, bytes) < 0 ? -1 : 0;
}

int
join_send(
	struct netfc_allreduce *comm, struct peer *peer, uint8_t op, uint64_t secret, bool segments)
{
	const struct aggregate_message message = request_of(comm, peer, op, secret);
	uint8_t payload[JOIN_BYTES];

	if (segments && send_two_segments(comm, peer, request_of(comm, peer, op, secret)) < 0)
		return -1;
	return transport_send(&peer->channel[0], payload, build(comm, peer, &message, payload)) < 0
		? -1
		: 0;
}

int
join_send_long(struct netfc_allreduce *comm, struct peer *peer, unsigned int values_bytes)
{
	uint8_t payload[LONGEST] = {0};
	const struct aggregate_message message = request_of(comm, peer, AGGREGATE_JOIN, 0);
	size_t bytes = AGGREGATE_HEADER_BYTES + values_bytes;

	aggregate_build_request(payload, &message);
	bytes = keys_tag_control(comm, peer, payload, bytes);
	return transport_send(&peer->channel[0], payload, bytes) < 0 ? -1 : 0;
}
