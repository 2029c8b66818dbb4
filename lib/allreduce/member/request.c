/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins and leaves as they are sent. */
#include "member/talk.h"

#include <aggregate_wire.h>

#define PLACE_BYTES                            \
	(sizeof(struct aggregate_place_wire) + \
		AGGREGATE_MAX_LEVELS * sizeof(struct aggregate_level))
#define JOIN_BYTES                                                                         \
	(sizeof(struct aggregate_hdr) + sizeof(struct aggregate_join_wire) + PLACE_BYTES + \
		AGGREGATE_TAG_BYTES)
#define LONGEST 65536

/* A worker asks for what its options say. */
static struct aggregate_message
complete(const struct member *member, const struct aggregate_message *begun)
{
	const struct netfc_allreduce_options *options = member->worker->options;
	struct aggregate_message message = *begun;

	message.join.workers = (uint8_t)options->workers;
	message.join.slots = (uint16_t)options->slots;
	message.join.bytes = (uint16_t)member->asked_bytes;
	message.join.least = options->bytes == 0 ? PATH_MIN_BYTES : 0;
	message.join.features = AGGREGATE_FEATURES_OF_ALL;
	message.join.place = tree_place(options);
	return message;
}

/* Write a request. Returns its bytes. */
static size_t
build(const struct member *member, const struct aggregate_message *message, uint8_t *payload)
{
	aggregate_build_request(payload, message);
	return keys_tag_control(member, payload, aggregate_message_bytes(message));
}

static int
send_two_segments(struct member *member, struct aggregate_message message)
{
	uint8_t payload[2 * JOIN_BYTES];
	size_t bytes;

	message.id += 2;
	bytes = build(member, &message, payload);
	message.id++;
	build(member, &message, payload + bytes);
	return batch_send_segments(member->link, 0, payload, 2 * bytes, bytes) < 0 ? -1 : 0;
}

/* A switch that is silent may have moved. */
static int
send_one(struct member *member, const uint8_t *payload, size_t bytes)
{
	const bool moved =
		member->machine.state == AGGREGATE_MEMBER_JOINED && member->machine.unanswered > 0;

	return link_send(member->link, payload, bytes, moved) < 0 ? -1 : 0;
}

int
join_send(struct member *member, const struct aggregate_message *begun, bool segments)
{
	const struct aggregate_message message = complete(member, begun);
	uint8_t payload[JOIN_BYTES];

	if (segments && send_two_segments(member, message) < 0)
		return -1;
	return send_one(member, payload, build(member, &message, payload));
}

int
join_send_long(
	struct member *member, const struct aggregate_message *begun, unsigned int values_bytes)
{
	uint8_t payload[LONGEST] = {0};
	struct aggregate_message message = complete(member, begun);
	size_t bytes = AGGREGATE_HEADER_BYTES + values_bytes;

	message.join.cookie = 0;
	aggregate_build_request(payload, &message);
	bytes = keys_tag_control(member, payload, bytes);
	return send_one(member, payload, bytes);
}

enum aggregate_member_action
join_say(struct member *member, const struct aggregate_member_times *times, uint64_t since,
	uint64_t now)
{
	struct aggregate_message message;
	const enum aggregate_member_action action =
		aggregate_member_poll(&member->machine, times, since, now, &message);

	if (action == AGGREGATE_DO_SEND)
		join_send(member, &message, false);
	return action;
}
