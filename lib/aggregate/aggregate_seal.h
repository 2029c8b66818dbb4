/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_SEAL_H
#define AGGREGATE_SEAL_H

/**
 * @file
 * Authentication in a switch that has a cluster key: the tag of each packet (aggregate_tag.h) is
 * checked before anything in it is trusted, and each reply gets a tag. Without a key, nothing
 * changes.
 */

#include "aggregate_table.h"
#include "aggregate_tag.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The key and number to tag replies to a packet with. */
struct aggregate_seal {
	const struct aggregate_tag_key *key; /**< NULL: there are no tags */
	uint32_t high;                       /**< upper half of the chunk's number */
};

/** Result of aggregate_shard_read(): the tag is wrong. The packet is counted: BAD_TAG. */
#define AGGREGATE_FORGED (-2)

/**
 * Read a request, as aggregate_parse_request(), and check its tag if tags are in use.
 *
 * @param length the tag's included
 * @param request filled in if 0 is returned
 * @param seal for the reply, valid until the shard's next packet
 * @return 0; AGGREGATE_NOT_OURS; AGGREGATE_FORGED; or, without a key only, the code to refuse with
 */
int aggregate_shard_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *request, struct aggregate_seal *seal);

/** Bytes of a tag; 0 without a key. */
static inline size_t
aggregate_seal_bytes(const struct aggregate_seal *seal)
{
	return seal->key == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/**
 * Tag a reply that is otherwise complete.
 *
 * @param length the request's: the last bytes of it are the tag's
 */
static inline void
aggregate_seal_reply(const struct aggregate_seal *seal, uint8_t *payload, size_t length)
{
	if (seal->key != NULL)
		aggregate_tag_make(seal->key, payload, length - AGGREGATE_TAG_BYTES, seal->high);
}

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_SEAL_H */
