/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORKER_KEYS_H
#define WORKER_KEYS_H

/** @file Keys of the tags of an aggregation's workers: of joins, and of their job's session. */

#include "dpdk/worker_packet.h"

/** Keys of both directions. */
struct worker_keys;

/**
 * Make those of joins.
 *
 * @param secret made of the cluster's key; lives longer
 * @return NULL: out of memory
 */
struct worker_keys *worker_keys_create(const struct aggregate_secret *secret);

/** Make those of a session that was granted. */
void worker_keys_set_session(struct worker_keys *keys, uint16_t job, uint64_t session);

/** The key of a request's tag; NULL if there are no keys. */
const struct aggregate_tag_key *worker_keys_of(const struct worker_keys *keys, uint8_t op);

/** Whether a reply has a good tag, or needs none. Chunk numbers have no more than 32 bits. */
bool worker_keys_verify(const struct worker_keys *keys, const struct worker_reply *reply);

/** Bytes of a tag: 0 where there are no keys. */
static inline uint32_t
worker_keys_bytes(const struct worker_keys *keys)
{
	return keys == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/** Clear and free them. NULL is allowed. */
void worker_keys_free(struct worker_keys *keys);

#endif /* WORKER_KEYS_H */
