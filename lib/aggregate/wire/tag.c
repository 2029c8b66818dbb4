/* SPDX-License-Identifier: BSD-3-Clause */
/* From a cluster's key to those of joins and sessions, HKDF-SHA256 (RFC 5869), and to tags. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/hkdf.h>
#include <nettle/hmac.h>

#include "aggregate_wire.h"
#include "wire/digest.h"

/* Another protocol with the same key would have other keys. */
#define SALT "netfc aggregation"

struct aggregate_secret {
	struct hmac_sha256_ctx extracted; /* HMAC with HKDF's pseudorandom key */
	const struct digest_engine *engine;
	void *shared;
};

static const struct digest_engine *const engines[AGGREGATE_ENGINE_END] = {
	[AGGREGATE_ENGINE_NETTLE] = &digest_nettle,
#ifdef HAVE_IPSEC_MB
	[AGGREGATE_ENGINE_IPSEC_MB] = &digest_ipsec_mb,
#endif
};

static void
update(void *hmac, size_t length, const uint8_t *bytes)
{
	hmac_sha256_update(hmac, length, bytes);
}

static void
finish(void *hmac, size_t length, uint8_t *digest)
{
	hmac_sha256_digest(hmac, length, digest);
}

static void
extract(struct hmac_sha256_ctx *extracted, const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES])
{
	uint8_t pseudorandom[SHA256_DIGEST_SIZE];

	hmac_sha256_set_key(extracted, strlen(SALT), (const uint8_t *)SALT);
	hkdf_extract(extracted, update, finish, sizeof(pseudorandom), AGGREGATE_CLUSTER_KEY_BYTES,
		key, pseudorandom);
	hmac_sha256_set_key(extracted, sizeof(pseudorandom), pseudorandom);
	explicit_bzero(pseudorandom, sizeof(pseudorandom));
}

struct aggregate_secret *
aggregate_secret_create_for(
	const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES], enum aggregate_engine engine)
{
	struct aggregate_secret *secret;

	if (engines[engine] == NULL)
		return NULL;
	secret = malloc(sizeof(*secret));
	if (secret == NULL)
		return NULL;
	secret->engine = engines[engine];
	secret->shared = secret->engine->open();
	if (secret->shared == NULL) {
		free(secret);
		return NULL;
	}
	extract(&secret->extracted, key);
	return secret;
}

struct aggregate_secret *
aggregate_secret_create(const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES])
{
	struct aggregate_secret *secret =
		aggregate_secret_create_for(key, AGGREGATE_ENGINE_IPSEC_MB);

	return secret != NULL ? secret : aggregate_secret_create_for(key, AGGREGATE_ENGINE_NETTLE);
}

void
aggregate_secret_free(struct aggregate_secret *secret)
{
	if (secret == NULL)
		return;
	secret->engine->close(secret->shared);
	explicit_bzero(secret, sizeof(*secret));
	free(secret);
}

enum aggregate_engine
aggregate_secret_engine(const struct aggregate_secret *secret)
{
	return secret->engine->number;
}

const char *
aggregate_engine_name(enum aggregate_engine engine)
{
	return engine == AGGREGATE_ENGINE_IPSEC_MB ? "ipsec-mb" : "nettle";
}

static void
derive(const struct aggregate_secret *secret, const void *info, size_t length,
	struct aggregate_tag_key *memory)
{
	struct tag_key *key = (struct tag_key *)memory;
	struct hmac_sha256_ctx hmac = secret->extracted;
	uint8_t derived[DIGEST_KEY_BYTES + SIPHASH_KEY_BYTES];

	hkdf_expand(
		&hmac, update, finish, SHA256_DIGEST_SIZE, length, info, sizeof(derived), derived);
	key->engine = secret->engine;
	key->shared = secret->shared;
	key->engine->set_key(key->shared, derived, key->state);
	memcpy(key->siphash, derived + DIGEST_KEY_BYTES, SIPHASH_KEY_BYTES);
	explicit_bzero(derived, sizeof(derived));
	explicit_bzero(&hmac, sizeof(hmac));
}

void
aggregate_tag_join_key(const struct aggregate_secret *secret, enum aggregate_direction direction,
	struct aggregate_tag_key *key)
{
	struct {
		char label[4];
		uint8_t direction;
	} __attribute__((packed)) info = {"join", (uint8_t)direction};

	derive(secret, &info, sizeof(info), key);
}

void
aggregate_tag_session_key(const struct aggregate_secret *secret, uint16_t job, uint64_t session,
	enum aggregate_direction direction, struct aggregate_tag_key *key)
{
	struct {
		char label[7];
		uint8_t direction;
		uint16_t job;
		uint64_t session;
	} __attribute__((packed)) info = {
		"session", (uint8_t)direction, htobe16(job), htobe64(session)};

	derive(secret, &info, sizeof(info), key);
}

void
aggregate_tag_key_clear(struct aggregate_tag_key *key)
{
	explicit_bzero(key, sizeof(*key));
}

void
aggregate_tag_digest(const struct aggregate_tag_key *key, const uint8_t *values, size_t length,
	struct aggregate_digest *digest)
{
	const struct tag_key *k = (const struct tag_key *)key;

	k->engine->digest(k->shared, k->state, values, length, digest->bytes);
}

void
aggregate_tag_finish(const struct aggregate_tag_key *key, const uint8_t *header, uint32_t high,
	const struct aggregate_digest *digest, uint8_t *tag)
{
	size_t length = AGGREGATE_HEADER_BYTES + AGGREGATE_DIGEST_BYTES + sizeof(high);
	struct siphash s;
	uint64_t word;

	siphash_start(&s, ((const struct tag_key *)key)->siphash);
	for (size_t at = 0; at < AGGREGATE_HEADER_BYTES; at += sizeof(word))
		siphash_take(&s, siphash_read(header + at));
	for (size_t at = 0; at < AGGREGATE_DIGEST_BYTES; at += sizeof(word))
		siphash_take(&s, siphash_read(digest->bytes + at));
	/* Big-endian, as all that is sent. */
	word = htole64(siphash_finish(&s, __builtin_bswap32(high), length));
	memcpy(tag, &word, AGGREGATE_TAG_BYTES);
}

static void
digest_of(const struct aggregate_tag_key *key, const uint8_t *payload, size_t length,
	struct aggregate_digest *digest)
{
	aggregate_tag_digest(
		key, payload + AGGREGATE_HEADER_BYTES, length - AGGREGATE_HEADER_BYTES, digest);
}

void
aggregate_tag_make(
	const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high)
{
	struct aggregate_digest digest;

	digest_of(key, payload, length, &digest);
	aggregate_tag_finish(key, payload, high, &digest, payload + length);
}

/* Whether the tag is of one of the upper halves from `*high` to `last`: the first of them then. */
static bool
is_of_one(const struct aggregate_tag_key *key, const uint8_t *payload, size_t length,
	uint32_t *high, uint32_t last)
{
	struct aggregate_digest digest;
	uint64_t mine, theirs;

	if (length < AGGREGATE_HEADER_BYTES + AGGREGATE_TAG_BYTES)
		return false;
	length -= AGGREGATE_TAG_BYTES;
	digest_of(key, payload, length, &digest);
	/* Words are compared in one step, whatever is in them. */
	memcpy(&theirs, payload + length, sizeof(theirs));
	for (;; (*high)++) {
		aggregate_tag_finish(key, payload, *high, &digest, (uint8_t *)&mine);
		if (mine == theirs || *high == last)
			return mine == theirs;
	}
}

bool
aggregate_tag_is_good(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t high)
{
	return is_of_one(key, payload, length, &high, high);
}

bool
aggregate_tag_find_high(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t *high)
{
	*high = 0;
	return is_of_one(key, payload, length, high, AGGREGATE_TAG_HIGHS - 1);
}
