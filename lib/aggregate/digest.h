/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DIGEST_H
#define DIGEST_H

/**
 * @file
 * Engines: what computes AES-128-GMAC with a nonce of zeros.
 */

#include "aggregate_tag.h"

#define DIGEST_KEY_BYTES 16
#define DIGEST_STATE_BYTES 4288 /* a key as an engine wants it; the largest is nettle's */

/* What one engine does. */
struct digest_engine {
	enum aggregate_engine number;
	/* What all of its keys share; NULL where there is no such engine or no memory. */
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

#endif /* DIGEST_H */
