/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_TAG_H
#define AGGREGATE_TAG_H

/**
 * @file
 * Tags: the last 8 bytes of a payload, that only who has the cluster's key can make.
 *
 * A tag is SipHash-2-4, with one half of a key, of the header, the upper half of the chunk's number
 * and a digest of what is behind the header: AES-128-GMAC with the other half and a nonce of zeros
 * (NIST SP 800-38D), which is never sent. The digest takes the part of a universal hash (two
 * messages of up to 9,000 bytes have the same with a probability of 2^-118), SipHash that of the
 * pseudorandom function; so no nonce is needed, and the same packet always has the same tag. See
 * Wegman and Carter, "New hash functions and their use in authentication and set equality", 1981.
 *
 * Keys come from the cluster's by HKDF-SHA256 (RFC 5869): one for joins and one for each session,
 * each for one direction.
 *
 * ## Memory and threads
 * aggregate_secret_read(), _create() and _free() allocate and free: at start and at the end.
 * Nothing else here allocates, locks or calls the system. Keys lie in memory of the caller's and
 * are not changed by use: any number of threads may use one at once. Making one takes
 * less than a microsecond.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AGGREGATE_TAG_BYTES 8            /**< at the end of a payload */
#define AGGREGATE_CLUSTER_KEY_BYTES 32   /**< in a key file; or twice as many hexadecimal digits */
#define AGGREGATE_DIGEST_BYTES 16        /**< of what is behind the header */
#define AGGREGATE_SECRET_ERROR_BYTES 512 /**< enough for any message, if the path is short */

/** Which way a packet goes. */
enum aggregate_direction {
	AGGREGATE_TO_SWITCH,
	AGGREGATE_TO_WORKERS,
};

/** What computes digests; all give the same. */
enum aggregate_engine {
	AGGREGATE_ENGINE_NETTLE,
	AGGREGATE_ENGINE_IPSEC_MB, /**< x86-64 with AES-NI and PCLMULQDQ, if built with it */
	AGGREGATE_ENGINE_END,
};

/** What keys are derived from. */
struct aggregate_secret;

/** A key of joins or of a session, for one direction; to be cleared when it is not needed. */
struct aggregate_tag_key {
	uint8_t opaque[4544];
} __attribute__((aligned(64)));

/** A digest of what is behind the header, for results that differ in the header alone. */
struct aggregate_digest {
	uint8_t bytes[AGGREGATE_DIGEST_BYTES];
};

/**
 * Read a cluster's key: 32 bytes, or 64 hexadecimal digits and at most one newline.
 *
 * Refused is what is no regular file, has another length or other characters, or can be read or
 * written by group or others. Nothing that was read stays in memory but in what is returned.
 *
 * @param error what was wrong, for people, with the path and without a final full stop
 * @param error_bytes room for it
 * @return NULL: see error
 */
struct aggregate_secret *aggregate_secret_read(const char *path, char *error, size_t error_bytes);

/**
 * The same with a key that is in memory, for what computes best here.
 *
 * @return NULL: out of memory
 */
struct aggregate_secret *aggregate_secret_create(const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES]);

/** The same for that engine. @return NULL: out of memory, or there is no such engine here */
struct aggregate_secret *aggregate_secret_create_for(
	const uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES], enum aggregate_engine engine);

/** Clear and free; NULL is allowed. Keys derived from it are not to be used any more. */
void aggregate_secret_free(struct aggregate_secret *secret);

/** Which engine a secret's keys are for. */
enum aggregate_engine aggregate_secret_engine(const struct aggregate_secret *secret);

/** For people: "nettle", "ipsec-mb". */
const char *aggregate_engine_name(enum aggregate_engine engine);

/** Make the key of joins and their replies, complete or not. */
void aggregate_tag_join_key(const struct aggregate_secret *secret,
	enum aggregate_direction direction, struct aggregate_tag_key *key);

/** Make the key of a session's chunks, results, leaves and all other replies. */
void aggregate_tag_session_key(const struct aggregate_secret *secret, uint16_t job,
	uint64_t session, enum aggregate_direction direction, struct aggregate_tag_key *key);

/** Overwrite a key; afterwards it is as if it had never been made. */
void aggregate_tag_key_clear(struct aggregate_tag_key *key);

/**
 * Write a tag behind a payload.
 *
 * @param payload length + AGGREGATE_TAG_BYTES
 * @param length at least AGGREGATE_HEADER_BYTES
 * @param high the upper 32 bits of the chunk's number, which are not sent (as in RFC 4303, 2.2.1),
 *   see aggregate_chunk_high(): without them, a packet could be replayed when the numbers have
 *   gone round; 0 for joins and leaves
 */
void aggregate_tag_make(
	const struct aggregate_tag_key *key, uint8_t *payload, size_t length, uint32_t high);

/**
 * Whether the last 8 bytes of a payload are its tag; in a time that does not depend on them.
 *
 * @param length with the tag; false if it is less than AGGREGATE_HEADER_BYTES +
 *   AGGREGATE_TAG_BYTES
 * @param high as above
 */
bool aggregate_tag_is_good(
	const struct aggregate_tag_key *key, const uint8_t *payload, size_t length, uint32_t high);

/**
 * The digest of what is behind the header: the longer part of the work of a tag. A result goes to
 * all workers with headers of their own and the same values: one digest, and a tag for each.
 *
 * @param values, length the payload's but for its first AGGREGATE_HEADER_BYTES and its tag
 */
void aggregate_tag_digest(const struct aggregate_tag_key *key, const uint8_t *values, size_t length,
	struct aggregate_digest *digest);

/**
 * Write a tag, the digest being known: aggregate_tag_make() is both.
 *
 * @param header AGGREGATE_HEADER_BYTES, as they are sent
 * @param tag AGGREGATE_TAG_BYTES
 */
void aggregate_tag_finish(const struct aggregate_tag_key *key, const uint8_t *header, uint32_t high,
	const struct aggregate_digest *digest, uint8_t *tag);

/**
 * The upper half of a chunk's number: that which brings the whole number closest to one that is
 * known to be near.
 *
 * @param near the number of a chunk of that job that is less than 2^31 away, in 64 bits: that of
 *   the latest packet that had a good tag; 0 at first
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

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_TAG_H */
