/* SPDX-License-Identifier: BSD-3-Clause */
#include <nettle/aes.h>
#include <nettle/gcm.h>

#include "wire/digest.h"

struct state {
	struct aes128_ctx cipher;
	struct gcm_key hash;
};

_Static_assert(sizeof(struct state) <= DIGEST_STATE_BYTES, "no room for nettle's keys");

/* Nothing is shared: any address but NULL. */
static void *
open_engine(void)
{
	static char nothing;

	return &nothing;
}

static void
close_engine(void *shared)
{
	(void)shared;
}

static void
encrypt(const void *cipher, size_t length, uint8_t *to, const uint8_t *from)
{
	aes128_encrypt(cipher, length, to, from);
}

static void
set_key(const void *shared, const uint8_t key[DIGEST_KEY_BYTES], void *memory)
{
	struct state *state = memory;

	(void)shared;
	aes128_set_encrypt_key(&state->cipher, key);
	gcm_set_key(&state->hash, &state->cipher, encrypt);
}

static void
digest(const void *shared, const void *memory, const uint8_t *bytes, size_t length,
	uint8_t out[AGGREGATE_DIGEST_BYTES])
{
	static const uint8_t nonce[GCM_IV_SIZE];
	const struct state *state = memory;
	struct gcm_ctx gcm;

	(void)shared;
	gcm_set_iv(&gcm, &state->hash, sizeof(nonce), nonce);
	gcm_update(&gcm, &state->hash, length, bytes);
	gcm_digest(&gcm, &state->hash, &state->cipher, encrypt, AGGREGATE_DIGEST_BYTES, out);
}

const struct digest_engine digest_nettle = {
	.number = AGGREGATE_ENGINE_NETTLE,
	.open = open_engine,
	.close = close_engine,
	.set_key = set_key,
	.digest = digest,
};
