/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_KEYS_H
#define ALLREDUCE_KEYS_H

/**
 * @file
 * Tags of packets, if the user has named the file of the cluster key; otherwise these do nothing.
 */

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "comm/comm.h"

/*
 * Read the key: of that file, or the one that NETFC_KEY_FILE names; NULL and none: packets have no
 * tags. Returns OK, or has said what went wrong.
 */
int keys_open(struct netfc_allreduce *comm, const char *file);

void keys_close(struct netfc_allreduce *comm);

/* A peer has granted a session: make its keys. */
void keys_of_session(struct netfc_allreduce *comm, struct peer *peer);

/* Bytes of a tag; 0: there are none. */
static inline size_t
keys_bytes(const struct netfc_allreduce *comm)
{
	return comm->keys == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/* Tag a join or a leave, if there are tags. Returns its bytes. */
size_t keys_tag_control(const struct netfc_allreduce *comm, const struct peer *peer,
	uint8_t *payload, size_t length);

/* Tag a chunk with that 64-bit number. Returns its bytes. */
size_t keys_tag_chunk(const struct netfc_allreduce *comm, const struct peer *peer, uint8_t *payload,
	size_t length, uint64_t chunk);

/* Read a reply. False: not a reply, or a wrong tag. */
bool keys_read_reply(const struct netfc_allreduce *comm, struct peer *peer, const uint8_t *payload,
	size_t length, struct aggregate_message *reply);

#endif /* ALLREDUCE_KEYS_H */
