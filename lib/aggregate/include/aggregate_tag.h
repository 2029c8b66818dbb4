/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_TAG_H
#define AGGREGATE_TAG_H

/**
 * @file
 * Tags: the last 8 bytes of a payload, which only a holder of the cluster key can compute.
 *
 * A tag is SipHash-2-4, with one half of a key, of the header, the upper half of the chunk's number
 * and a digest of what follows the header: AES-128-GMAC with the other half and a nonce of zeros
 * (NIST SP 800-38D), which is never sent. The digest is the universal hash (two messages of up to
 * 9,000 bytes collide with a probability of 2^-118), SipHash the pseudorandom function; so no nonce
 * is needed, and the same packet always has the same tag. See Wegman and Carter, "New hash
 * functions and their use in authentication and set equality", 1981.
 *
 * Keys are derived from the cluster key by HKDF-SHA256 (RFC 5869): one for joins and one for each
 * session, each for one direction.
 *
 * ## Memory and threads
 * aggregate_secret_read(), _create() and _free() allocate and free: at start and at the end.
 * Nothing else here allocates, locks or makes system calls. Keys are in the caller's memory and are
 * not changed by use: any number of threads may use one at once. Deriving one takes less than a
 * microsecond.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGGREGATE_TAG_BYTES 8            /**< at the end of a payload */
#define AGGREGATE_CLUSTER_KEY_BYTES 32   /**< in a key file, or twice as many hexadecimal digits */
#define AGGREGATE_DIGEST_BYTES 16        /**< of what follows the header */
#define AGGREGATE_SECRET_ERROR_BYTES 512 /**< enough for any message, if the path is short */

/** Which way a packet goes. */
enum aggregate_direction {
	AGGREGATE_TO_SWITCH,
	AGGREGATE_TO_WORKERS,
};

/** Implementations of digests, with identical results. */
enum aggregate_engine {
	AGGREGATE_ENGINE_NETTLE,
	AGGREGATE_ENGINE_IPSEC_MB, /**< x86-64 with AES-NI and PCLMULQDQ, if built with it */
	AGGREGATE_ENGINE_END,
};

/** What keys are derived from. */
struct aggregate_secret;

/** A key of joins or of a session, for one direction. Clear it after use. */
struct aggregate_tag_key {
	uint8_t opaque[4544];
} __attribute__((aligned(64)));

/** A digest of what follows the header, for results that differ only in the header. */
struct aggregate_digest {
	uint8_t bytes[AGGREGATE_DIGEST_BYTES];
};

/**
 * Read a cluster's key: 32 bytes, or 64 hexadecimal digits and at most one newline.
 *
 * A file is refused if it is not a regular file, has another length or other characters, or is
 * accessible to group or others; in $CREDENTIALS_DIRECTORY, whose files have access control lists,
 * to others. Only the returned secret keeps a copy of the key in memory.
 *
 * @param error what went wrong, as text with the path and without a final full stop
 * @param error_bytes room for it
 * @return NULL: see error
 */
struct aggregate_secret *aggregate_secret_read(const char *path, char *error, size_t error_bytes);

/**
 * The same from a key in memory, for the fastest engine here.
 *
 * @return NULL: out of memory
 */
struct aggregate_secret *aggregate_secret_create(const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES]);

/** The same for that engine. @return NULL: out of memory, or no such engine here */
struct aggregate_secret *aggregate_secret_create_for(
	const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES], enum aggregate_engine engine);

/** Clear and free; NULL is allowed. Keys derived from it must no longer be used. */
void aggregate_secret_free(struct aggregate_secret *secret);

/** The engine that a secret's keys are for. */
enum aggregate_engine aggregate_secret_engine(const struct aggregate_secret *secret);

/** Its name: "nettle", "ipsec-mb". */
const char *aggregate_engine_name(enum aggregate_engine engine);

/** Derive the key of joins and their replies. */
void aggregate_tag_join_key(const struct aggregate_secret *secret,
	enum aggregate_direction direction, struct aggregate_tag_key *key);

/** Derive the key of a session's chunks, results, leaves and all other replies. */
void aggregate_tag_session_key(const struct aggregate_secret *secret, uint16_t job,
	uint64_t session, enum aggregate_direction direction, struct aggregate_tag_key *key);

/** Overwrite a key with zeros. */
void aggregate_tag_key_clear(struct aggregate_tag_key *key);

/**
 * Write a tag after a payload.
 *
 * @param payload length + AGGREGATE_TAG_BYTES
 * @param length at least AGGREGATE_HEADER_BYTES
 * @param high the upper 32 bits of the chunk's number, which are not sent (as in RFC 4303, 2.2.1),
 *   see aggregate_chunk_high(): without them, a packet could be replayed after the numbers wrap; 0
 *   for joins and leaves
 */
void aggregate_tag_make(
	const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high);

/**
 * Whether the last 8 bytes of a payload are its tag; in constant time.
 *
 * @param length with the tag; false if it is less than AGGREGATE_HEADER_BYTES +
 *   AGGREGATE_TAG_BYTES
 * @param high as above
 */
bool aggregate_tag_is_good(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t high);

/** Upper halves that aggregate_tag_find_high() tries: those of the first 2^38 chunks. */
#define AGGREGATE_TAG_HIGHS 64

/**
 * The same where the upper half is not known: of a session that is not there any more.
 *
 * @param high set to the least one that the tag is of, if there is one less than
 *   AGGREGATE_TAG_HIGHS
 */
bool aggregate_tag_find_high(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t *high);

/**
 * The digest of what follows the header: most of a tag's cost. A result goes to all workers with
 * different headers and the same values: one digest, and a tag for each.
 *
 * @param values, length the payload without its first AGGREGATE_HEADER_BYTES and its tag
 */
void aggregate_tag_digest(const struct aggregate_tag_key *key, const uint8_t *values, size_t length,
	struct aggregate_digest *digest);

/**
 * Write a tag from a known digest: aggregate_tag_make() does both.
 *
 * @param header AGGREGATE_HEADER_BYTES, as they are sent
 * @param tag AGGREGATE_TAG_BYTES
 */
void aggregate_tag_finish(const struct aggregate_tag_key *key, const uint8_t *header, uint32_t high,
	const struct aggregate_digest *digest, uint8_t *tag);

/**
 * Recover the upper half of a chunk's number: the one with which the whole number is closest to
 * `near`.
 *
 * @param near the 64-bit number of a chunk of that job less than 2^31 away: that of the latest
 *   packet with a correct tag; 0 at first
 * @param id the lower half, as it was sent
 */
static inline uint32_t
aggregate_chunk_high(uint64_t near, uint32_t id)
{
	int32_t distance = (int32_t)(id - (uint32_t)near);

	/* A job begins with chunk 0: nothing is before it. */
	if (distance < 0 && near < (uint64_t)-(int64_t)distance)
		return 0;
	return (uint32_t)((near + (uint64_t)(int64_t)distance) >> 32);
}

#endif /* AGGREGATE_TAG_H */
