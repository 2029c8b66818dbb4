/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags of what goes to the switch above and comes from it, where there is a cluster's key. */
#include "aggregate_leaf.h"
#include "job.h"
#include "leaf.h"

static const struct aggregate_tag_key *
session_key(const struct aggregate_table *table, uint16_t index, enum aggregate_direction direction)
{
	return &table->uplink_keys[(size_t)index * SEAL_DIRECTIONS + direction];
}

void
leaf_make_keys(struct aggregate_table *table, const struct job *job)
{
	const struct uplink *uplink = uplink_of(table, job);
	struct aggregate_tag_key *keys = table->uplink_keys;

	if (table->limits.secret == NULL)
		return;
	keys += (size_t)index_of_job(table, job) * SEAL_DIRECTIONS;
	for (enum aggregate_direction d = 0; d < SEAL_DIRECTIONS; d++)
		aggregate_tag_session_key(
			table->limits.secret, uplink->number, uplink->session, d, &keys[d]);
}

/* The upper half of a chunk's number, as the job's members count. */
static uint32_t
high_of(const struct aggregate_shard *shard, uint16_t index, uint32_t chunk)
{
	return aggregate_chunk_high(shard->jobs[index].near, chunk);
}

size_t
leaf_seal_chunk(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	uint8_t *payload, size_t length)
{
	if (shard->table->limits.secret == NULL)
		return length;
	aggregate_tag_make(session_key(shard->table, outcome->index, AGGREGATE_TO_SWITCH), payload,
		length, high_of(shard, outcome->index, outcome->entry->chunk));
	return length + AGGREGATE_TAG_BYTES;
}

/* Of a join, or of a session that may be a cookie still. */
static const struct aggregate_tag_key *
key_of_message(struct aggregate_shard *shard, const struct aggregate_message *message,
	enum aggregate_direction direction)
{
	struct aggregate_tag_key *spare = &shard->spare_keys[direction];

	if (message->op == AGGREGATE_JOIN)
		return &shard->table->join_keys[direction];
	aggregate_tag_session_key(
		shard->table->limits.secret, message->job, message->session, direction, spare);
	return spare;
}

size_t
aggregate_leaf_build(
	struct aggregate_shard *shard, const struct aggregate_message *message, uint8_t *payload)
{
	const size_t length = aggregate_message_bytes(message);

	aggregate_build_request(payload, message);
	if (shard->table->limits.secret == NULL)
		return length;
	aggregate_tag_make(key_of_message(shard, message, AGGREGATE_TO_SWITCH), payload, length, 0);
	return length + AGGREGATE_TAG_BYTES;
}

/*
 * The key of a reply to a chunk, and the upper half of the chunk's number. A job that is over here
 * has none any more: late replies get keys made for them, so that they do not count as forged.
 */
static const struct aggregate_tag_key *
key_of_chunk(struct aggregate_shard *shard, const struct aggregate_message *reply, uint32_t *high)
{
	const struct job *job = find_open_job(shard->table, reply->job);
	uint16_t index;

	if (job == NULL || job->place.levels == 0 ||
		uplink_of(shard->table, job)->session != reply->session) {
		*high = 0;
		return key_of_message(shard, reply, AGGREGATE_TO_WORKERS);
	}
	index = index_of_job(shard->table, job);
	*high = high_of(shard, index, reply->id);
	return session_key(shard->table, index, AGGREGATE_TO_WORKERS);
}

/* A parent that does not know the job does not know the upper half, either. */
static bool
is_good_chunk(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct aggregate_message *reply)
{
	uint32_t high;
	const struct aggregate_tag_key *key = key_of_chunk(shard, reply, &high);

	return aggregate_tag_is_good(key, payload, length, high) ||
		(high != 0 && reply->code != NETFC_STATUS_OK &&
			aggregate_tag_is_good(key, payload, length, 0));
}

static bool
is_good(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct aggregate_message *reply)
{
	if (shard->table->uplinks == NULL)
		return false;
	return reply->op == AGGREGATE_JOIN || reply->op == AGGREGATE_LEAVE
		? aggregate_tag_is_good(
			  key_of_message(shard, reply, AGGREGATE_TO_WORKERS), payload, length, 0)
		: is_good_chunk(shard, payload, length, reply);
}

int
aggregate_leaf_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *reply)
{
	const size_t bytes = length < AGGREGATE_TAG_BYTES ? 0 : length - AGGREGATE_TAG_BYTES;

	if (shard->table->limits.secret == NULL)
		return aggregate_parse_reply(payload, length, reply);
	if (aggregate_parse_reply(payload, bytes, reply) != 0)
		return AGGREGATE_NOT_OURS;
	if (is_good(shard, payload, length, reply))
		return 0;
	COUNT(shard->counters.actions[AGGREGATE_BAD_TAG], 1);
	return AGGREGATE_FORGED;
}

void
aggregate_leaf_seal(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	struct aggregate_seal *seal)
{
	const struct aggregate_table *table = shard->table;

	*seal = (struct aggregate_seal){NULL, 0};
	if (table->limits.secret == NULL)
		return;
	seal->key = &table->session_keys[(size_t)outcome->index * SEAL_DIRECTIONS +
		AGGREGATE_TO_WORKERS];
	seal->high = high_of(shard, outcome->index, outcome->entry->chunk);
}
