/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SECRET_H
#define SECRET_H

/**
 * @file
 * What a tag's key is made of.
 */

#include "digest.h"
#include "siphash.h"

/* What struct aggregate_tag_key has inside. */
struct tag_key {
	uint8_t state[DIGEST_STATE_BYTES];
	const struct digest_engine *engine;
	const void *shared;
	uint8_t siphash[SIPHASH_KEY_BYTES];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct tag_key) <= sizeof(struct aggregate_tag_key), "a key has no room");

#endif /* SECRET_H */
