/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/keys.h"

#include <stdlib.h>
#include <string.h>

#include "comm/error.h"

#define DIRECTIONS 2
#define FILE_VARIABLE "NETFC_KEY_FILE"

struct keys {
	struct aggregate_tag_key joins[DIRECTIONS];
	struct aggregate_tag_key sessions[NETFC_ALLREDUCE_MAX_SWITCHES][DIRECTIONS];
	struct aggregate_secret *secret;
};

int
keys_open(struct netfc_allreduce *comm, const char *file)
{
	char error[AGGREGATE_SECRET_ERROR_BYTES];
	const char *named_by = file != NULL ? "option key_file" : FILE_VARIABLE;
	struct aggregate_secret *secret;

	if (file == NULL)
		file = secure_getenv(FILE_VARIABLE);
	if (file == NULL)
		return NETFC_ALLREDUCE_OK;
	if (file[0] == '\0')
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The cluster's key: %s is empty: name its file, or leave it out for packets "
			"without tags.",
			named_by);
	secret = aggregate_secret_read(file, error, sizeof(error));
	if (secret == NULL)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "The cluster's key: %s.", error);
	comm->keys = aligned_alloc(_Alignof(struct keys), sizeof(*comm->keys));
	if (comm->keys == NULL) {
		aggregate_secret_free(secret);
		return error_set(
			comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory for keys.");
	}
	memset(comm->keys, 0, sizeof(*comm->keys));
	comm->keys->secret = secret;
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_join_key(secret, d, &comm->keys->joins[d]);
	return NETFC_ALLREDUCE_OK;
}

void
keys_close(struct netfc_allreduce *comm)
{
	if (comm->keys == NULL)
		return;
	aggregate_secret_free(comm->keys->secret);
	explicit_bzero(comm->keys, sizeof(*comm->keys));
	free(comm->keys);
	comm->keys = NULL;
}

void
keys_of_session(struct netfc_allreduce *comm, struct peer *peer)
{
	if (comm->keys == NULL)
		return;
	peer->keys = comm->keys->sessions[peer->index];
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_session_key(comm->keys->secret, comm->options.job,
			peer->member.session, d, &peer->keys[d]);
}

static size_t
tag(const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high)
{
	aggregate_tag_make(key, payload, length, high);
	return length + AGGREGATE_TAG_BYTES;
}

/* Before there is a session, a leave carries a cookie instead. */
static size_t
tag_withdrawal(const struct netfc_allreduce *comm, const struct peer *peer, uint8_t *payload,
	size_t length)
{
	struct aggregate_tag_key key;

	aggregate_tag_session_key(comm->keys->secret, comm->options.job, peer->member.cookie,
		AGGREGATE_TO_SWITCH, &key);
	length = tag(&key, payload, length, 0);
	aggregate_tag_key_clear(&key);
	return length;
}

size_t
keys_tag_control(const struct netfc_allreduce *comm, const struct peer *peer, uint8_t *payload,
	size_t length)
{
	if (comm->keys == NULL)
		return length;
	if (payload[offsetof(struct aggregate_hdr, op)] == AGGREGATE_JOIN)
		return tag(&comm->keys->joins[AGGREGATE_TO_SWITCH], payload, length, 0);
	if (peer->keys == NULL)
		return tag_withdrawal(comm, peer, payload, length);
	return tag(&peer->keys[AGGREGATE_TO_SWITCH], payload, length, 0);
}

size_t
keys_tag_chunk(const struct netfc_allreduce *comm, const struct peer *peer, uint8_t *payload,
	size_t length, uint64_t chunk)
{
	if (comm->keys == NULL)
		return length;
	return tag(&peer->keys[AGGREGATE_TO_SWITCH], payload, length, (uint32_t)(chunk >> 32));
}

/* The upper half of a result's chunk number, if that chunk is in flight. */
static uint32_t
high_of(const struct peer *peer, const struct aggregate_message *reply)
{
	if (!aggregate_is_chunk(reply->op) || peer->window.slot == NULL)
		return 0;
	return aggregate_chunk_high(
		peer->window.slot[reply->id & (peer->slots - 1)].chunk, reply->id);
}

bool
keys_read_reply(const struct netfc_allreduce *comm, struct peer *peer, const uint8_t *payload,
	size_t length, struct aggregate_message *reply)
{
	const struct aggregate_tag_key *keys = peer->keys;

	if (comm->keys == NULL)
		return aggregate_parse_reply(payload, length, reply) == 0;
	if (length < AGGREGATE_TAG_BYTES ||
		aggregate_parse_reply(payload, length - AGGREGATE_TAG_BYTES, reply) != 0)
		return false;
	if (reply->op == AGGREGATE_JOIN)
		keys = comm->keys->joins;
	if (keys != NULL &&
		aggregate_tag_is_good(
			&keys[AGGREGATE_TO_WORKERS], payload, length, high_of(peer, reply)))
		return true;
	peer->forged++;
	return false;
}
