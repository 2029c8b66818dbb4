/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dpdk/worker_keys.h"

#define DIRECTIONS 2

struct worker_keys {
	struct aggregate_tag_key joins[DIRECTIONS], session[DIRECTIONS];
	const struct aggregate_secret *secret;
};

struct worker_keys *
worker_keys_create(const struct aggregate_secret *secret)
{
	struct worker_keys *keys = aligned_alloc(_Alignof(struct worker_keys), sizeof(*keys));

	if (keys == NULL)
		return NULL;
	keys->secret = secret;
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_join_key(secret, d, &keys->joins[d]);
	worker_keys_set_session(keys, 0, 0);
	return keys;
}

void
worker_keys_set_session(struct worker_keys *keys, uint16_t job, uint64_t session)
{
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_session_key(keys->secret, job, session, d, &keys->session[d]);
}

static const struct aggregate_tag_key *
key_of(const struct worker_keys *keys, uint8_t op, enum aggregate_direction direction)
{
	return op == AGGREGATE_JOIN ? &keys->joins[direction] : &keys->session[direction];
}

const struct aggregate_tag_key *
worker_keys_of(const struct worker_keys *keys, uint8_t op)
{
	return keys == NULL ? NULL : key_of(keys, op, AGGREGATE_TO_SWITCH);
}

bool
worker_keys_verify(const struct worker_keys *keys, const struct worker_reply *reply)
{
	return keys == NULL ||
		aggregate_tag_is_good(key_of(keys, reply->message.op, AGGREGATE_TO_WORKERS),
			reply->payload, reply->length, 0);
}

void
worker_keys_free(struct worker_keys *keys)
{
	if (keys != NULL)
		explicit_bzero(keys, sizeof(*keys));
	free(keys);
}
