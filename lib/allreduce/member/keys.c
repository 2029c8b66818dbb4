/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/talk.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTIONS 2

struct keys {
	struct aggregate_tag_key joins[DIRECTIONS];
	struct aggregate_tag_key sessions[NETFC_ALLREDUCE_MAX_SWITCHES][DIRECTIONS];
	struct aggregate_secret *secret;
};

bool
keys_make(struct worker *worker, struct aggregate_secret *secret)
{
	worker->keys = aligned_alloc(_Alignof(struct keys), sizeof(*worker->keys));
	if (worker->keys == NULL) {
		aggregate_secret_free(secret);
		return false;
	}
	memset(worker->keys, 0, sizeof(*worker->keys));
	worker->keys->secret = secret;
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_join_key(secret, d, &worker->keys->joins[d]);
	return true;
}

void
keys_free(struct worker *worker)
{
	if (worker->keys == NULL)
		return;
	aggregate_secret_free(worker->keys->secret);
	explicit_bzero(worker->keys, sizeof(*worker->keys));
	free(worker->keys);
	worker->keys = NULL;
}

void
keys_of_session(struct member *member)
{
	if (member->worker->keys == NULL)
		return;
	member->keys = member->worker->keys->sessions[member->index];
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_session_key(member->worker->keys->secret,
			member->worker->options->job, member->machine.session, d, &member->keys[d]);
}

static size_t
tag(const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high)
{
	aggregate_tag_make(key, payload, length, high);
	return length + AGGREGATE_TAG_BYTES;
}

/* Before there is a session, a leave carries a cookie instead. */
static size_t
tag_withdrawal(const struct member *member, uint8_t *payload, size_t length)
{
	struct aggregate_tag_key key;

	aggregate_tag_session_key(member->worker->keys->secret, member->worker->options->job,
		member->machine.cookie, AGGREGATE_TO_SWITCH, &key);
	length = tag(&key, payload, length, 0);
	aggregate_tag_key_clear(&key);
	return length;
}

size_t
keys_tag_control(const struct member *member, uint8_t *payload, size_t length)
{
	if (member->worker->keys == NULL)
		return length;
	if (payload[offsetof(struct aggregate_hdr, op)] == AGGREGATE_JOIN)
		return tag(&member->worker->keys->joins[AGGREGATE_TO_SWITCH], payload, length, 0);
	if (member->keys == NULL)
		return tag_withdrawal(member, payload, length);
	return tag(&member->keys[AGGREGATE_TO_SWITCH], payload, length, 0);
}

size_t
keys_tag_chunk(const struct member *member, uint8_t *payload, size_t length, uint64_t chunk)
{
	if (member->worker->keys == NULL)
		return length;
	return tag(&member->keys[AGGREGATE_TO_SWITCH], payload, length, (uint32_t)(chunk >> 32));
}

/* The upper half of a result's chunk number, if that chunk is in flight. */
static uint32_t
high_of(const struct member *member, const struct aggregate_message *reply)
{
	if (!aggregate_is_chunk(reply->op) || member->window->slot == NULL)
		return 0;
	return aggregate_chunk_high(
		member->window->slot[reply->id & (member->slots - 1)].chunk, reply->id);
}

bool
keys_read_reply(struct member *member, const uint8_t *payload, size_t length,
	struct aggregate_message *reply)
{
	const struct aggregate_tag_key *keys = member->keys;

	if (member->worker->keys == NULL)
		return aggregate_parse_reply(payload, length, reply) == 0;
	if (length < AGGREGATE_TAG_BYTES ||
		aggregate_parse_reply(payload, length - AGGREGATE_TAG_BYTES, reply) != 0)
		return false;
	if (reply->op == AGGREGATE_JOIN)
		keys = member->worker->keys->joins;
	if (keys != NULL &&
		aggregate_tag_is_good(
			&keys[AGGREGATE_TO_WORKERS], payload, length, high_of(member, reply)))
		return true;
	member->forged++;
	return false;
}
