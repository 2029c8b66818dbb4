/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "aggregate_wire.h"
#include "secret.h"

static const struct tag_key *
inside(const struct aggregate_tag_key *key)
{
	return (const struct tag_key *)key;
}

void
aggregate_tag_digest(const struct aggregate_tag_key *key, const uint8_t *values, size_t length,
	struct aggregate_digest *digest)
{
	const struct tag_key *k = inside(key);

	k->engine->digest(k->shared, k->state, values, length, digest->bytes);
}

void
aggregate_tag_finish(const struct aggregate_tag_key *key, const uint8_t *header, uint32_t high,
	const struct aggregate_digest *digest, uint8_t *tag)
{
	size_t length = AGGREGATE_HEADER_BYTES + AGGREGATE_DIGEST_BYTES + sizeof(high);
	struct siphash s;
	uint64_t word;

	siphash_start(&s, inside(key)->siphash);
	for (size_t at = 0; at < AGGREGATE_HEADER_BYTES; at += sizeof(word))
		siphash_take(&s, siphash_read(header + at));
	for (size_t at = 0; at < AGGREGATE_DIGEST_BYTES; at += sizeof(word))
		siphash_take(&s, siphash_read(digest->bytes + at));
	/* Big-endian, as all that is sent. */
	word = htole64(siphash_finish(&s, __builtin_bswap32(high), length));
	memcpy(tag, &word, AGGREGATE_TAG_BYTES);
}

static void
make(const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t high,
	uint8_t *tag)
{
	struct aggregate_digest digest;

	aggregate_tag_digest(
		key, payload + AGGREGATE_HEADER_BYTES, length - AGGREGATE_HEADER_BYTES, &digest);
	aggregate_tag_finish(key, payload, high, &digest, tag);
}

void
aggregate_tag_make(
	const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high)
{
	make(key, payload, length, high, payload + length);
}

bool
aggregate_tag_is_good(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t high)
{
	uint64_t mine, theirs;

	if (length < AGGREGATE_HEADER_BYTES + AGGREGATE_TAG_BYTES)
		return false;
	length -= AGGREGATE_TAG_BYTES;
	make(key, payload, length, high, (uint8_t *)&mine);
	/* Words are compared in one step, whatever is in them. */
	memcpy(&theirs, payload + length, sizeof(theirs));
	return mine == theirs;
}
