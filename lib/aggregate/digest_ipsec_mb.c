/* SPDX-License-Identifier: BSD-3-Clause */
#include <intel-ipsec-mb.h>

#include "digest.h"

_Static_assert(sizeof(struct gcm_key_data) <= DIGEST_STATE_BYTES, "no room for ipsec-mb's keys");

#define NONCE_BYTES 12

static void
close_engine(void *manager)
{
	free_mb_mgr(manager);
}

/* The library has code for processors without these instructions, slower than others'. */
static bool
is_fast(const IMB_MGR *manager)
{
	const uint64_t needed = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;

	return (manager->features & needed) == needed;
}

static void *
open_engine(void)
{
	IMB_MGR *manager = alloc_mb_mgr(0);

	if (manager == NULL)
		return NULL;
	init_mb_mgr_auto(manager, NULL);
	if (!is_fast(manager)) {
		close_engine(manager);
		return NULL;
	}
	return manager;
}

static void
set_key(const void *shared, const uint8_t key[DIGEST_KEY_BYTES], void *state)
{
	const IMB_MGR *manager = shared;

	IMB_AES128_GCM_PRE(manager, key, (struct gcm_key_data *)state);
}

static void
digest(const void *shared, const void *memory, const uint8_t *bytes, size_t length,
	uint8_t out[AGGREGATE_DIGEST_BYTES])
{
	static const uint8_t nonce[NONCE_BYTES];
	const IMB_MGR *manager = shared;
	const struct gcm_key_data *state = memory;
	struct gcm_context_data gcm;

	IMB_AES128_GMAC_INIT(manager, state, &gcm, nonce, sizeof(nonce));
	IMB_AES128_GMAC_UPDATE(manager, state, &gcm, bytes, length);
	IMB_AES128_GMAC_FINALIZE(manager, state, &gcm, out, AGGREGATE_DIGEST_BYTES);
}

const struct digest_engine digest_ipsec_mb = {
	.number = AGGREGATE_ENGINE_IPSEC_MB,
	.open = open_engine,
	.close = close_engine,
	.set_key = set_key,
	.digest = digest,
};
