/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "destinations.h"
#include "connections.h"

/* Average connections per bucket of a full table. Buckets very rarely overflow. */
#define CONNECTIONS_PER_BUCKET 8

/* Records looked at for a new connection at most: its packet must not hold up an lcore. */
#define EVICTION_LOOKS 256

_Static_assert((1u << 24) + TABLE_SLACK < BUCKET_POSITION_MASK, "positions fit into slots");

static size_t
record_bytes(const struct connections *connections)
{
	return (size_t)table_records(connections->capacity) * sizeof(*connections->record);
}

static size_t
bucket_bytes(const struct connections *connections)
{
	return ((size_t)connections->bucket_mask + 1) * sizeof(*connections->bucket);
}

int
connections_create(struct connections *connections, const struct slowloris_config *config)
{
	const uint32_t capacity = config->connections;
	const uint32_t handshakes = rte_align32pow2(capacity + 1);

	connections->capacity = capacity;
	connections->secret = hash_secret_draw();
	connections->half_open_mask = handshakes - 1;
	connections->hash = table_create("connections", connections, capacity,
		sizeof(struct connection_key), config->socket_id, config->qsbr);
	connections->bucket_mask =
		rte_align32pow2(RTE_MAX(capacity / CONNECTIONS_PER_BUCKET, 1u)) - 1;
	connections->bucket = array_create("buckets", bucket_bytes(connections), config->socket_id);
	connections->record =
		array_create("connections", record_bytes(connections), config->socket_id);
	connections->own_bytes = array_own_bytes(bucket_bytes(connections)) +
		array_own_bytes(record_bytes(connections));
	connections->half_open = rte_zmalloc_socket("half_open",
		(size_t)handshakes * sizeof(*connections->half_open), 0, config->socket_id);
	if (connections->hash == NULL || connections->bucket == NULL ||
		connections->record == NULL || connections->half_open == NULL)
		return -ENOMEM;
	return 0;
}

void
connections_destroy(struct connections *connections)
{
	rte_hash_free(connections->hash);
	array_free(connections->bucket, bucket_bytes(connections));
	array_free(connections->record, record_bytes(connections));
	rte_free(connections->half_open);
}

uint32_t
connections_find(
	const struct connections *connections, const struct connection_key *key, uint32_t hash)
{
	const struct bucket *bucket = connections_bucket(connections, hash);
	uint32_t match = bucket_match(bucket, hash);
	int32_t position;

	for (; match != 0; match &= match - 1) {
		uint32_t index = bucket_position(bucket, (unsigned int)__builtin_ctz(match));

		if (connections_is(connections, index, key))
			return index;
	}
	if (bucket_elsewhere(bucket) == 0)
		return NONE;
	position = rte_hash_lookup_with_hash(connections->hash, key, hash);
	/* The key is visible before its record is filled in. */
	if (position < 0 || !connections_is(connections, (uint32_t)position, key))
		return NONE;
	return (uint32_t)position;
}

static bool
is_half_open(const struct connections *connections, const struct half_open *handshake)
{
	const struct connection *connection = &connections->record[handshake->connection];
	enum connection_state state = connection_state(connection);

	return connection->opened == handshake->opened &&
		(state == CONNECTION_SYN || state == CONNECTION_ANSWERED);
}

uint32_t
connections_add(struct connections *connections, const struct connection_key *key, uint32_t now)
{
	const uint32_t hash = hash_connection(&connections->secret, key);
	int32_t position;

	if (connections->count == connections->capacity)
		return NONE;
	position = rte_hash_add_key_with_hash(connections->hash, key, hash);
	if (position < 0)
		return NONE;
	bucket_add(connections_bucket(connections, hash), hash, (uint32_t)position);
	connections->count++;
	connections->high = RTE_MAX(connections->high, (uint32_t)position + 1);
	connections->half_open[connections->half_open_last++ & connections->half_open_mask] =
		(struct half_open){.connection = (uint32_t)position, .opened = now};
	return (uint32_t)position;
}

void
connections_remove(
	struct connections *connections, const struct connection_key *key, uint32_t index)
{
	const uint32_t hash = hash_connection(&connections->secret, key);

	bucket_remove(connections_bucket(connections, hash), hash, index);
	rte_hash_del_key_with_hash(connections->hash, key, hash);
	connections->count--;
}

/* Take the oldest handshake out of the queue; NONE if it is complete, or has ended. */
static uint32_t
take_oldest(struct connections *connections)
{
	const struct half_open *oldest =
		&connections
			 ->half_open[connections->half_open_first++ & connections->half_open_mask];

	return is_half_open(connections, oldest) ? oldest->connection : NONE;
}

static uint32_t
queue_length(const struct connections *connections)
{
	return connections->half_open_last - connections->half_open_first;
}

uint32_t
connections_evict(struct connections *connections)
{
	uint32_t index = NONE;

	/* Completed handshakes are in the queue, too: it may be full before the table is. */
	for (unsigned int looks = 0;
		looks < EVICTION_LOOKS && index == NONE && queue_length(connections) > 0 &&
		(connections->count == connections->capacity ||
			queue_length(connections) > connections->half_open_mask);
		looks++)
		index = take_oldest(connections);
	return index;
}

uint32_t
connections_expire(struct connections *connections, uint32_t now, uint32_t age, unsigned int *looks)
{
	uint32_t index = NONE;

	while (index == NONE && queue_length(connections) > 0 && *looks > 0) {
		uint32_t first = connections->half_open_first & connections->half_open_mask;

		if (ticks_since(connections->half_open[first].opened, now) <= age)
			break;
		(*looks)--;
		index = take_oldest(connections);
	}
	return index;
}
