/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DIGEST_H
#define DIGEST_H

/** @file What a tag's key is made of, and the engines that compute tags. */

#include "aggregate_tag.h"
#include "wire/siphash.h"

/* Engines: implementations of AES-128-GMAC with a nonce of zeros. */

#define DIGEST_KEY_BYTES 16
#define DIGEST_STATE_BYTES 4288 /* an engine's expanded key; the largest is nettle's */

/* An engine's functions. */
struct digest_engine {
	enum aggregate_engine number;
	/* State shared by all of its keys; NULL: no such engine, or out of memory. */
	void *(*open)(void);
	void (*close)(void *shared);
	/* Make a key, in memory aligned to 64. */
	void (*set_key)(const void *shared, const uint8_t key[DIGEST_KEY_BYTES], void *state);
	void (*digest)(const void *shared, const void *state, const uint8_t *bytes, size_t length,
		uint8_t digest[AGGREGATE_DIGEST_BYTES]);
};

extern const struct digest_engine digest_nettle;
#ifdef HAVE_IPSEC_MB
extern const struct digest_engine digest_ipsec_mb;
#endif

/* What struct aggregate_tag_key has inside. */
struct tag_key {
	uint8_t state[DIGEST_STATE_BYTES];
	const struct digest_engine *engine;
	const void *shared;
	uint8_t siphash[SIPHASH_KEY_BYTES];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct tag_key) <= sizeof(struct aggregate_tag_key), "a key has no room");

#endif /* DIGEST_H */
